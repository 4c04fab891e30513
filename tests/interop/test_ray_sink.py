"""``purerecord.ray.write_tfrecords`` on a real cluster: all rows once, and all shards at the end or none."""

from __future__ import annotations

import inspect
import os
import signal

import numpy as np
import pytest

import purerecord as pr
from tests.support.interop import interop
from tests.support.ray_cluster import QUIET, cluster

pa = interop("pyarrow")
ray = interop("ray")
from ray.data import SaveMode  # noqa: E402 - only where ray is

import purerecord.ray as prr  # noqa: E402 - only where ray is
from purerecord import arrow  # noqa: E402

pytestmark = QUIET


@pytest.fixture(autouse=True, scope="module")
def _cluster():
    cluster()


def numbers(count=1000, blocks=7):
    return ray.data.range(count, override_num_blocks=blocks)


def ids(paths) -> list[int]:
    return pr.decode_examples(pr.read_records(paths))["id"].tolist() if paths else []


TABLE = pa.table(
    {
        "é int": pa.array([1, None, -3], pa.int16()),
        "bool": pa.array([True, False, None]),
        "float": pa.array([0.5, 1.5, None], pa.float32()),
        "string": pa.array(["a", "", "é"]),
        "large_string": pa.array(["a", None, "c"], pa.large_string()),
        "large_binary": pa.array([b"\0", b"", None], pa.large_binary()),
        "fixed": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int64(), 2)),
        "lists": pa.array([["x"], [], None], pa.list_(pa.string())),
        "null": pa.nulls(3),
    }
)


def test_every_type_is_written_as_in_one_process(tmp_path):
    for name, table in {
        "Example": TABLE,
        "SequenceExample": pa.table({"s": [[[1], [2, 3]], [], [[]]]}),
    }.items():
        arrow.write_table(table, tmp_path / "expected")
        paths = prr.write_tfrecords(ray.data.from_arrow(table), tmp_path / name)
        assert list(pr.read_records(paths)) == list(pr.read_records(tmp_path / "expected"))
        again = prr.write_tfrecords(prr.read_tfrecords(str(tmp_path / name)), tmp_path / f"{name}-2")
        assert list(pr.read_records(again)) == list(pr.read_records(paths))


def test_tensors_and_frames_are_written_too(tmp_path):
    paths = prr.write_tfrecords(ray.data.from_numpy(np.arange(12).reshape(3, 4)), tmp_path / "tensors")
    assert pr.decode_examples(pr.read_records(paths))["data"].tolist() == np.arange(12).reshape(3, 4).tolist()
    frame = TABLE.select(["string", "fixed"]).to_pandas()
    paths = prr.write_tfrecords(ray.data.from_pandas(frame), tmp_path / "frames")
    assert len(list(pr.read_records(paths))) == 3


@pytest.mark.parametrize("options", [None, "GZIP", pr.TFRecordOptions("GZIP", block_size=500)])
def test_shards_have_the_rows_in_the_order_of_the_blocks(tmp_path, options):
    paths = prr.write_tfrecords(numbers(), tmp_path / "train@*.tfrecord", options, manifest=True)
    assert ids(paths) == list(range(1000))
    assert [os.path.basename(path) for path in paths[:1]] == [f"train-00000-of-0000{len(paths)}.tfrecord"]
    assert sorted(os.listdir(tmp_path)) == [*map(os.path.basename, paths), "train.tfrecord.manifest.json"]
    manifest = pr.load_manifest(tmp_path / "train.tfrecord.manifest.json")
    assert (manifest.paths(), manifest.records) == (paths, 1000)
    assert pr.validate(paths).ok
    assert [entry.size for entry in manifest.files] == [os.path.getsize(path) for path in paths]


def test_the_number_of_shards_follows_from_the_name_or_the_limits(tmp_path):
    assert len(paths := prr.write_tfrecords(numbers(), tmp_path / "a@3")) == 3
    assert ids(paths) == list(range(1000))
    assert len(paths := prr.write_tfrecords(numbers(2, 1), tmp_path / "b@4")) == 4
    assert sorted(ids(paths)) == [0, 1]
    paths = prr.write_tfrecords(numbers(), tmp_path / "c@*", max_records=40)
    assert ids(paths) == list(range(1000))
    assert max(len(ids(path)) for path in paths) == 40
    assert len(paths := prr.write_tfrecords(numbers(), tmp_path / "d@*", min_rows_per_file=500)) <= 2
    assert ids(paths) == list(range(1000))
    for none in (
        numbers().map_batches(lambda batch: {"id": batch["id"][:0]}),
        ray.data.from_arrow(pa.table({"id": pa.array([], pa.int64())})),
    ):
        (path,) = prr.write_tfrecords(none, tmp_path / "e", mode="overwrite")
        assert list(pr.read_records(path)) == []


def test_whole_records_are_copied_byte_for_byte(tmp_path):
    records = [os.urandom(i % 50) for i in range(300)]
    with pr.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_many(records)
    dataset = prr.read_tfrecords(str(tmp_path / "a"), raw=True)
    assert list(pr.read_records(prr.write_tfrecords(dataset, tmp_path / "b", raw=True))) == records
    for table, reason in (
        (pa.table({"bytes": [b"", None]}), "string in every row"),
        (pa.table({"other": [b""]}), "no such column"),
    ):
        with pytest.raises(pr.EncodeError, match=reason):
            prr.write_tfrecords(ray.data.from_arrow(table), tmp_path / "c", raw=True)


def test_a_write_that_fails_leaves_nothing(tmp_path):
    def fails(batch):
        if 500 in batch["id"]:
            raise RuntimeError("no such row")
        return batch

    with pytest.raises(ray.exceptions.RayTaskError, match="no such row"):
        prr.write_tfrecords(numbers().map_batches(fails), tmp_path / "a")
    bad = [pa.table({"id": [1]}), pa.table({"id": [pa.scalar({"a": 1})]})]
    with pytest.raises(pr.EncodeError, match="flatten the table"):
        prr.write_tfrecords(ray.data.from_arrow(bad[1]), tmp_path / "a")
    assert not (tmp_path / "a").exists() or os.listdir(tmp_path / "a") == []


def test_blocks_of_examples_and_of_sequence_examples_are_not_mixed(tmp_path):
    def lists(batch):
        return pa.table({"x": [[[1]]] if batch["id"][0].as_py() else pa.nulls(1)})

    mixed = numbers(2, 2).map_batches(lists, batch_format="pyarrow", batch_size=1)
    with pytest.raises(pr.EncodeError, match="cast the columns of all blocks"):
        prr.write_tfrecords(mixed, tmp_path / "a")
    assert os.listdir(tmp_path / "a") == []


def test_old_shards_are_kept_or_replaced_as_mode_says(tmp_path):
    old = prr.write_tfrecords(numbers(10, 2), tmp_path)
    with pytest.raises(FileExistsError):
        prr.write_tfrecords(numbers(20, 1), tmp_path)
    assert prr.write_tfrecords(numbers(20, 1), tmp_path, mode="ignore") == []
    assert sorted(ids(old)) == list(range(10))
    (new,) = prr.write_tfrecords(numbers(20, 1), tmp_path / "part@1.tfrecord", mode="overwrite")
    assert os.listdir(tmp_path) == [os.path.basename(new)]
    prr.write_tfrecords(numbers(5, 1), tmp_path, mode="append")
    assert prr.read_tfrecords(str(tmp_path)).count() == 25


def test_a_sink_keeps_old_shards_too_without_the_function(tmp_path):
    old = prr.write_tfrecords(numbers(10, 1), tmp_path)
    with pytest.raises(FileExistsError):
        numbers(20, 2).write_datasink(prr.TFRecordDatasink(tmp_path))
    numbers(20, 2).write_datasink(sink := prr.TFRecordDatasink(tmp_path, mode="ignore"))
    assert sink.paths == []
    assert os.listdir(tmp_path) == [os.path.basename(path) for path in old]
    assert ids(old) == list(range(10))


class DiesOnce(prr.TFRecordDatasink):
    """A sink of which a task kills its process in the middle, and one when it is done; each once."""

    def __init__(self, path, flag, **how) -> None:
        super().__init__(path, **how)
        self._flag = flag

    def write(self, blocks, ctx):
        written = super().write(blocks, ctx)
        if not self._flag.exists():
            self._flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return written

    def _records(self, blocks, kinds):
        for number, records in enumerate(super()._records(blocks, kinds)):
            yield records
            half = self._flag.with_suffix(".half")
            if number == 0 and not half.exists():
                half.touch()
                os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_while_it_writes_leaves_no_record_twice(tmp_path):
    sink = DiesOnce(tmp_path / "out", tmp_path / "flag", max_records=100)
    numbers().write_datasink(sink)
    assert (tmp_path / "flag").exists()
    assert (tmp_path / "flag.half").exists()
    assert ids(sink.paths) == list(range(1000))
    assert sorted(os.listdir(tmp_path / "out")) == [os.path.basename(path) for path in sink.paths]


def test_shards_in_a_store_appear_under_their_names_at_the_end(tmp_path):
    store = interop("fsspec").filesystem("file")
    (tmp_path / "out").mkdir()
    for mode in ("error", "overwrite"):
        paths = prr.write_tfrecords(
            numbers(), f"{tmp_path}/out", filesystem=store, mode=mode, max_records=200, manifest=True
        )
        assert ids([str(path) for path in paths]) == list(range(1000))
        assert len(os.listdir(tmp_path / "out")) == len(paths) + 1


def test_ray_arguments_have_the_names_that_they_have_in_ray():
    theirs = inspect.signature(ray.data.Dataset.write_tfrecords).parameters.keys() - {"self"}
    ours = inspect.signature(prr.TFRecordDatasink).parameters.keys()
    ours |= inspect.signature(prr.write_tfrecords).parameters.keys()
    assert theirs - ours == {"filename_provider"}


def test_ray_arguments_do_what_they_do_in_ray(tmp_path):
    (path,) = prr.write_tfrecords(
        numbers(10, 3), tmp_path / "a", arrow_open_stream_args={"compression": "gzip"}, num_rows_per_file=10
    )
    with open(path, "rb") as file:
        assert file.read(2) == b"\x1f\x8b"
    assert sorted(ids([path])) == list(range(10))
    with pytest.raises(FileNotFoundError, match="no such folder"):
        prr.write_tfrecords(numbers(1, 1), tmp_path / "b", try_create_dir=False)
    prr.write_tfrecords(numbers(1, 1), tmp_path / "a", try_create_dir=False, mode=SaveMode.APPEND)
    for wrong in (
        {"arrow_open_stream_args": {"compression": "lz4"}},
        {"arrow_open_stream_args": {"compression": "gzip"}, "options": "GZIP"},
        {"min_rows_per_file": 1, "num_rows_per_file": 1},
        {"raw": True, "tf_schema": object()},
    ):
        with pytest.raises(ValueError, match=r"compression|older name|whole records"):
            prr.TFRecordDatasink(tmp_path / "a", **wrong)


def test_columns_are_those_of_a_schema_of_tensorflow_metadata(tmp_path):
    schema_pb2 = interop("tensorflow_metadata.proto.v0.schema_pb2")
    schema = schema_pb2.Schema()
    ints, floats = ("é int", "bool", "fixed", "null"), ("float",)
    for name in TABLE.schema.names:
        kind = schema_pb2.INT if name in ints else schema_pb2.FLOAT if name in floats else schema_pb2.BYTES
        schema.feature.add(name=name, type=kind)
    paths = prr.write_tfrecords(ray.data.from_arrow(TABLE), tmp_path / "a", tf_schema=schema)
    assert len(list(pr.read_records(paths))) == 3
    schema.feature[0].type = schema_pb2.FLOAT
    with pytest.raises(pr.EncodeError, match=r"é int.*holds int, where tf_schema says float"):
        prr.write_tfrecords(ray.data.from_arrow(TABLE), tmp_path / "b", tf_schema=schema)
    del schema.feature[0]
    with pytest.raises(pr.EncodeError, match=r"é int.*no such feature"):
        prr.write_tfrecords(ray.data.from_arrow(TABLE), tmp_path / "b", tf_schema=schema)


def test_wrong_arguments_are_told_at_once(tmp_path):
    for wrong, reason in (
        ({"mode": "upsert"}, "mode must be"),
        ({"floats": "double"}, "floats"),
        ({"max_records": 0}, "max_records must be positive"),
    ):
        with pytest.raises(ValueError, match=reason):
            prr.TFRecordDatasink(tmp_path, **wrong)
    with pytest.raises(ValueError, match="give no limits"):
        prr.TFRecordDatasink(tmp_path / "a@3", max_records=3)
    assert prr.TFRecordDatasink(f"local://{tmp_path}").supports_distributed_writes is False
