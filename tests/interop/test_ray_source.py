"""``purerecord.ray.read_tfrecords`` on a real cluster: the same rows as in one process, whatever happens."""

from __future__ import annotations

import inspect
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import purerecord as pr
from tests.support import damage
from tests.support.interop import interop, run_page
from tests.support.ray_cluster import QUIET, cluster

pa = interop("pyarrow")
ray = interop("ray")
import purerecord.ray as prr  # noqa: E402 - only where ray is
from purerecord import arrow  # noqa: E402

pytestmark = QUIET
ROWS = [
    {
        "id": i,
        "é name": f"n{i}",
        "three": [0.5, i, -1.0],
        "tags": ["x"] * (i % 3),
        **({"odd": [i]} if i % 2 else {}),
    }
    for i in range(600)
]
SPECS = {
    "id": pr.FixedLenFeature([], np.int64),
    "three": pr.FixedLenFeature([3], np.float32),
    "tags": pr.RaggedFeature(np.bytes_),
}


@pytest.fixture(autouse=True, scope="module")
def _cluster():
    cluster()


def write(path, records, **options) -> str:
    with pr.TFRecordWriter(path, pr.TFRecordOptions(**options) if options else None) as writer:
        writer.write_many(records)
    return str(path)


@pytest.fixture
def folder(tmp_path) -> Path:
    for number in range(3):
        rows = ROWS[number * 200 : number * 200 + 200]
        write(tmp_path / f"a-0000{number}-of-00003", map(pr.encode_example, rows))
    return tmp_path


def whole(dataset):
    """All blocks as one table; they must have one schema."""
    tables = ray.get(dataset.to_arrow_refs())
    return pa.concat_tables(tables)


def same(dataset, expected) -> None:
    found = whole(dataset)
    assert found.schema.equals(expected.schema)
    assert found.to_pydict() == expected.to_pydict()


@pytest.mark.parametrize("how", [{}, {"columns": ["tags", "id"]}, {"features": SPECS}, {"text": True}])
def test_rows_and_types_are_those_of_one_process(folder, how):
    same(prr.read_tfrecords(str(folder), **how), arrow.read_table(str(folder / "a@3"), **how))


def test_sequence_examples_become_lists_of_lists(tmp_path):
    records = [
        pr.encode_sequence_example({"id": i}, {"steps": [[j] * j for j in range(i % 4)]}) for i in range(50)
    ]
    paths = [write(tmp_path / str(i), records[i::2]) for i in range(2)]
    same(prr.read_tfrecords(paths), arrow.read_table(paths))


@pytest.mark.parametrize(
    "options", [{}, {"compression_type": "GZIP", "block_size": 1000}, {"compression_type": "ZLIB"}]
)
def test_a_large_file_is_read_in_ranges_and_every_record_once(tmp_path, options):
    path = write(tmp_path / "a", (pr.encode_example({"id": i}) for i in range(5000)), **options)
    dataset = prr.read_tfrecords(path, split_size=5000, override_num_blocks=200).materialize()
    assert whole(dataset)["id"].to_pylist() == list(range(5000))
    if options.get("compression_type") != "ZLIB":
        assert len(prr.TFRecordDatasource(path, split_size=5000).get_read_tasks(200)) > 5


def test_an_index_tells_the_number_of_rows_before_anything_is_read(folder):
    datasource = prr.TFRecordDatasource(str(folder))
    assert {task.metadata.num_rows for task in datasource.get_read_tasks(3)} == {None}
    for path in sorted(folder.iterdir()):
        pr.build_index(path).save(f"{path}.index")
    datasource = prr.TFRecordDatasource(str(folder))
    assert [task.metadata.num_rows for task in datasource.get_read_tasks(3)] == [200, 200, 200]
    assert datasource.estimate_inmemory_data_size() == sum(p.stat().st_size for p in folder.glob("*-00003"))
    dataset = prr.read_tfrecords(str(folder))
    assert dataset.count() == len(whole(dataset)) == 600


def test_only_columns_that_are_asked_for_are_decoded(folder):
    # A record whose feature `odd` has another kind is an error only if somebody wants that feature.
    write(folder / "b", [pr.encode_example({**ROWS[0], "odd": "text"})])
    dataset = prr.read_tfrecords(str(folder))
    with pytest.raises(pr.SchemaError, match="odd"):
        dataset.materialize()
    same(
        dataset.select_columns(["three", "id"]), arrow.read_table(str(folder / "*"), columns=["three", "id"])
    )
    assert dataset.count() == 601  # no column at all
    assert prr.read_tfrecords(str(folder), SPECS).select_columns(["id"]).sum("id") == sum(range(600))


def test_a_table_without_columns_keeps_its_rows(folder):
    path = write(folder / "empty", [pr.encode_example({})] * 7)
    assert prr.read_tfrecords(path).count() == 7
    assert prr.read_tfrecords(path, raw=True).count() == 7


def test_paths_are_a_column_on_request(folder):
    dataset = prr.read_tfrecords(str(folder), columns=["id"], include_paths=True)
    assert dataset.schema().names == ["id", "path"]
    paths = [str(folder / f"a-0000{i // 200}-of-00003") for i in range(600)]
    assert whole(dataset)["path"].to_pylist() == paths
    assert whole(dataset.select_columns(["path"]))["path"].to_pylist() == paths
    assert whole(dataset.select_columns(["id"])).column_names == ["id"]
    path = write(folder / "b", [pr.encode_example({"path": "x"})])
    with pytest.raises(ValueError, match="feature path"):
        prr.read_tfrecords(path, include_paths=True)


def test_whole_records_come_as_bytes(folder):
    records = list(pr.read_records(str(folder / "a@3")))
    assert whole(prr.read_tfrecords(str(folder), raw=True))["bytes"].to_pylist() == records


def test_files_without_records_have_the_schema_of_the_others(tmp_path):
    paths = [write(tmp_path / "a", []), write(tmp_path / "b", [pr.encode_example({"id": 1})])]
    same(prr.read_tfrecords(paths), arrow.read_table(paths))
    assert prr.read_tfrecords(paths[0]).count() == 0
    assert prr.read_tfrecords(paths[0], SPECS).schema().names == list(SPECS)


def test_a_shard_of_another_form_is_an_error_and_never_a_clash_of_blocks(tmp_path):
    paths = [write(tmp_path / str(i), [pr.encode_example({"x": [1] * (i + 1)})]) for i in range(2)]
    with pytest.raises(pr.SchemaError, match="a stream keeps their form; give features"):
        prr.read_tfrecords(paths).materialize()
    found = whole(prr.read_tfrecords(paths, {"x": pr.RaggedFeature(np.int64)}))
    assert found["x"].to_pylist() == [[1], [1, 1]]


# Damage


def broken(folder) -> str:
    path = folder / "a-00001-of-00003"
    path.write_bytes(damage.flip_byte(path.read_bytes(), 200))
    return str(path)


def test_damage_is_an_error_that_names_file_and_byte(folder):
    path = broken(folder)
    with pytest.raises(pr.CorruptionError) as caught:
        prr.read_tfrecords(str(folder)).materialize()
    with pytest.raises(pr.CorruptionError) as alone:
        list(pr.read_records(path))
    assert str(alone.value) in str(caught.value)
    assert path in str(alone.value)
    assert "at byte" in str(alone.value)


@pytest.mark.parametrize("split_size", ["128MB", 5000])
def test_damage_is_skipped_on_request_and_the_count_comes_back(folder, split_size):
    path = broken(folder)
    skipped = prr.Skipped()
    dataset = prr.read_tfrecords(
        str(folder), on_error="skip", skipped=skipped, split_size=split_size, override_num_blocks=20
    )
    assert skipped.places == 0
    for _ in range(2):  # what is read twice counts once
        assert (
            whole(dataset)["id"].to_pylist()
            == whole(prr.read_tfrecords(str(folder), columns=["id"], on_error="skip"))["id"].to_pylist()
        )
        assert dataset.count() == 599
        assert (skipped.places, skipped.files) == (1, {path: 1})
    assert path in skipped.errors[0]
    assert repr(skipped) == "<Skipped: 1 places in 1 files>"


class DiesOnce(prr.TFRecordDatasource):
    """A source of which one task kills its process after some tables, if there is no file ``flag`` yet."""

    def __init__(self, path, flag) -> None:
        super().__init__(path, split_size=50_000)
        self._flag = flag

    def get_read_tasks(self, *args, **kwargs):
        (task,) = super().get_read_tasks(*args, **kwargs)
        flag, read = self._flag, task.read_fn

        def run():
            for number, table in enumerate(read()):
                if number == 30 and not flag.exists():
                    flag.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                yield table

        return [ray.data.ReadTask(run, task.metadata, schema=task.schema)]


def test_a_worker_that_is_killed_in_the_middle_loses_and_repeats_nothing(tmp_path, monkeypatch):
    path = write(tmp_path / "a", (pr.encode_example({"id": i, "data": bytes(100)}) for i in range(20000)))
    # Several blocks of the task are out before its process dies.
    monkeypatch.setattr(ray.data.DataContext.get_current(), "target_max_block_size", 200_000)
    dataset = ray.data.read_datasource(
        DiesOnce(path, tmp_path / "killed"), override_num_blocks=1
    ).materialize()
    assert (tmp_path / "killed").exists()
    assert dataset.num_blocks() > 5
    assert whole(dataset)["id"].to_pylist() == list(range(20000))


# Ray's own arguments


def test_ray_arguments_have_the_names_that_they_have_in_ray():
    theirs = inspect.signature(ray.data.read_tfrecords).parameters.keys()
    ours = inspect.signature(prr.TFRecordDatasource).parameters.keys()
    passed_on = inspect.signature(ray.data.read_datasource).parameters.keys()
    assert theirs <= ours | passed_on


def test_ray_arguments_do_what_they_do_in_ray(folder):
    (folder / "b.txt").write_bytes(b"no record")
    only = {"partition_filter": lambda paths: [path for path in paths if not path.endswith(".txt")]}
    assert prr.read_tfrecords(str(folder), **only, concurrency=1, num_cpus=1).count() == 600
    with pytest.raises(FileNotFoundError):
        prr.read_tfrecords(str(folder), file_extensions=["tfrecords"])
    missing = [str(folder / "a-00000-of-00003"), str(folder / "no")]
    assert prr.read_tfrecords(missing, ignore_missing_paths=True).count() == 200
    assert prr.read_tfrecords(f"local://{folder}/a-00000-of-00003").count() == 200
    assert not prr.TFRecordDatasource(f"local://{folder}/a-00000-of-00003").supports_distributed_reads
    shuffled = prr.read_tfrecords(str(folder), **only, shuffle=ray.data.FileShuffleConfig(seed=3))
    ids = whole(shuffled.select_columns(["id"]))["id"].to_pylist()
    assert sorted(ids) == list(range(600))
    zipped = write(folder / "z.gz", [pr.encode_example({"id": 1})], compression_type="GZIP")
    assert prr.read_tfrecords(zipped, arrow_open_stream_args={"compression": "gzip"}).count() == 1
    for wrong in ({"compression": "lz4"}, {"buffer_size": 1}):
        with pytest.raises(ValueError, match="arrow_open_stream_args"):
            prr.read_tfrecords(zipped, arrow_open_stream_args=wrong)


def test_a_schema_of_tensorflow_metadata_says_what_the_features_are(folder):
    schema_pb2 = interop("tensorflow_metadata.proto.v0.schema_pb2")
    schema = schema_pb2.Schema()
    for name, kind, shape in (
        ("id", schema_pb2.INT, []),
        ("three", schema_pb2.FLOAT, [3]),
        ("tags", schema_pb2.BYTES, None),
    ):
        feature = schema.feature.add(name=name, type=kind)
        if shape is not None:
            feature.shape.dim.extend(schema_pb2.FixedShape.Dim(size=size) for size in shape)
    same(prr.read_tfrecords(str(folder), tf_schema=schema), arrow.read_table(str(folder / "a@3"), SPECS))
    schema.feature[0].type = schema_pb2.STRUCT
    with pytest.raises(ValueError, match="neither of bytes, int nor float"):
        prr.read_tfrecords(str(folder), tf_schema=schema)


def test_wrong_arguments_are_told_at_once(folder):
    path = str(folder / "a-00000-of-00003")
    for wrong, reason in (
        ({"on_error": "stop"}, "on_error"),
        ({"raw": True, "columns": ["id"]}, "whole records"),
        ({"features": SPECS, "tf_schema": object()}, "one of the two"),
        ({"split_size": "large"}, "a size like"),
        ({"features": SPECS, "columns": ["id"]}, "columns="),
    ):
        with pytest.raises(ValueError, match=reason):
            prr.read_tfrecords(path, **wrong)
    with pytest.raises(ValueError, match="all paths are local"):
        prr.read_tfrecords([path, f"local://{path}"])


def test_files_in_a_store_are_read_too(folder):
    pyarrow_fs = interop("pyarrow.fs")
    path = str(folder / "a-00000-of-00003")
    expected = arrow.read_table(path)
    same(prr.read_tfrecords(path, filesystem=pyarrow_fs.LocalFileSystem(), split_size=5000), expected)


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page("clusters.md", "ray")
