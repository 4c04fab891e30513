"""Beam: records read in parts and written to shards, with the DirectRunner; Beam's own reader and writer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from tests.support.damage import flip_bit
from tests.support.interop import interop, run_page
from tests.support.places import ROOT

beam = interop("apache_beam")
pa = interop("pyarrow")
from apache_beam.io import tfrecordio  # noqa: E402 - only where Beam is
from apache_beam.options.value_provider import StaticValueProvider  # noqa: E402

import purerecord.beam as prb  # noqa: E402 - only where Beam is

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning"
)
COUNT = 3000
SMALL = 4000  # bytes of a part


def examples(count: int = COUNT) -> pr.Records:
    text = [b"%d" % number for number in range(count)]
    return pr.encode_examples({"id": np.arange(count), "text": text, "xs": np.ones((count, 3), np.float32)})


def write(path: Path, records: Any, options: Any = None) -> str:
    with pr.TFRecordWriter(path, options) as writer:
        writer.write_many(records)
    return str(path)


def gathered(folder: Path, *transforms: Any) -> list[Any]:
    """The elements of a pipeline, in any order; a file takes them out of Beam's workers."""
    out = folder / "gathered"

    def save(element: Any) -> None:
        with open(out, "ab") as file:
            file.write(repr(element).encode() + b"\n")

    out.unlink(missing_ok=True)
    with beam.Pipeline() as pipeline:
        elements = pipeline
        for transform in transforms:
            elements = elements | transform
        elements | beam.Map(save)
    return [eval(line) for line in out.read_bytes().splitlines()] if out.exists() else []


# Reading


@pytest.mark.parametrize(
    "options",
    [None, "GZIP", "ZLIB", pr.TFRecordOptions("GZIP", block_size=1000)],
    ids=["plain", "gzip", "zlib", "blocked"],
)
def test_parts_of_a_file_give_every_record_once(options, tmp_path):
    path = write(tmp_path / "a.tfrecord", examples(), options)
    found = gathered(tmp_path, prb.ReadFromTFRecord(path, split_size=SMALL))
    assert sorted(found) == sorted(examples())


def test_large_plain_file_is_read_in_many_parts(tmp_path):
    path = write(tmp_path / "a.tfrecord", examples())
    batches = gathered(
        tmp_path, prb.ReadFromTFRecord(path, elements="records", split_size=SMALL), beam.Map(len)
    )
    assert sum(batches) == COUNT
    assert len(batches) >= os.path.getsize(path) // SMALL


def test_patterns_lists_and_value_providers_name_files(tmp_path):
    one, two = (write(tmp_path / f"{name}.tfrecord", [name.encode()]) for name in ("one", "two"))
    for pattern in (f"{tmp_path}/*.tfrecord", [one, two], StaticValueProvider(str, f"{tmp_path}/*.tfrecord")):
        assert sorted(gathered(tmp_path, prb.ReadFromTFRecord(pattern))) == [b"one", b"two"]


def test_missing_file_is_an_error_when_the_pipeline_is_built(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing-"):
        prb.ReadFromTFRecord(str(tmp_path / "nothing-*"))


def test_all_files_that_a_collection_names_are_read_with_their_names(tmp_path):
    paths = [write(tmp_path / f"{n}.tfrecord", [b"%d" % n]) for n in range(3)]
    found = gathered(tmp_path, beam.Create(paths), prb.ReadAllFromTFRecord(with_filename=True))
    assert sorted(found) == [(path, b"%d" % n) for n, path in enumerate(paths)]


def test_coder_decodes_each_record(tmp_path):
    path = write(tmp_path / "a.tfrecord", ["kötü", "iyi"])
    coder = beam.coders.StrUtf8Coder()
    assert sorted(gathered(tmp_path, prb.ReadFromTFRecord(path, coder))) == ["iyi", "kötü"]


def test_arrow_batches_have_the_columns_of_read_table(tmp_path):
    path = write(tmp_path / "a.tfrecord", examples(10))
    features = {"id": pr.FixedLenFeature([], np.int64), "text": pr.FixedLenFeature([], bytes)}
    transform = prb.ReadFromTFRecord(path, elements="arrow", features=features)
    (found,) = gathered(tmp_path, transform, beam.Map(lambda batch: batch.to_pydict()))
    assert found == {"id": list(range(10)), "text": [b"%d" % n for n in range(10)]}
    transform = prb.ReadFromTFRecord(path, elements="arrow", columns=["id"])
    assert gathered(tmp_path, transform, beam.Map(lambda batch: batch.schema.names)) == [["id"]]


def test_remote_file_is_read(tmp_path):
    interop("fsspec")
    path = write(tmp_path / "a.tfrecord", examples(10))
    found = gathered(tmp_path, prb.ReadFromTFRecord(f"local://{path}", storage_options={"auto_mkdir": False}))
    assert sorted(found) == sorted(examples(10))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"elements": "rows"}, "elements must be"),
        ({"features": {}}, "for elements"),
        ({"batch_size": 3}, "batch_size is for"),
        ({"on_error": "stop"}, "on_error must be"),
        ({"split_size": 0}, "split_size must be"),
    ],
)
def test_wrong_arguments_are_refused(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        prb.ReadFromTFRecord("a", validate=False, **arguments)


# Damage


@pytest.fixture
def damaged(tmp_path) -> str:
    path = Path(write(tmp_path / "bad.tfrecord", examples()))
    data = path.read_bytes()
    path.write_bytes(flip_bit(flip_bit(data, 8 * 5000), 8 * (len(data) - 3000)))
    return str(path)


def test_damage_is_an_error_that_names_the_file_and_the_byte(damaged):
    with (
        pytest.raises(pr.CorruptionError, match=r"bad\.tfrecord: at byte \d+: "),
        beam.Pipeline() as pipeline,
    ):
        pipeline | prb.ReadFromTFRecord(damaged)


def test_damage_that_is_skipped_is_counted_and_told_apart(damaged, tmp_path):
    expected = [record for records in pr.read_batches(damaged, on_error="skip") for record in records]
    out = tmp_path / "found"
    pipeline = beam.Pipeline()
    records, damage = pipeline | prb.ReadFromTFRecord(damaged, split_size=SMALL).with_damage()
    records | prb.WriteToTFRecord(str(out))
    (
        damage
        | beam.Map(lambda one: f"{one.offset} {one.message}".encode())
        | "d" >> prb.WriteToTFRecord(f"{out}-damage")
    )
    done = pipeline.run()
    done.wait_until_finish()
    counters = {item.key.metric.name: item.committed for item in done.metrics().query()["counters"]}
    assert sorted(pr.read_records(f"{out}@*")) == sorted(expected)
    assert counters["records"] == len(expected) == COUNT - 2
    assert counters["damage"] == 2
    places = [record.decode() for record in pr.read_records(f"{out}-damage@*")]
    assert len(places) == 2
    assert all("bad.tfrecord" in place and "checksum" in place for place in places)


# Writing


@pytest.mark.parametrize(
    ("arguments", "suffix", "begins"),
    [
        ({}, ".tfrecord", b""),
        ({}, ".tfrecord.gz", b"\x1f\x8b"),
        ({"compression_type": "gzip"}, ".tfrecord", b"\x1f\x8b"),
        ({"compression_type": "deflate"}, ".tfrecord", b"\x78"),
        ({"options": pr.TFRecordOptions("GZIP", block_size=500)}, ".tfrecord", b"\x1f\x8b"),
    ],
)
def test_shards_have_beams_names_and_every_record_once(arguments, suffix, begins, tmp_path):
    records = list(examples(500))
    with beam.Pipeline() as pipeline:
        (
            pipeline
            | beam.Create(records)
            | prb.WriteToTFRecord(str(tmp_path / "out"), file_name_suffix=suffix, num_shards=3, **arguments)
        )
    assert sorted(os.listdir(tmp_path)) == [f"out-0000{n}-of-00003{suffix}" for n in range(3)]
    assert sorted(pr.read_records(f"{tmp_path}/out@3{suffix}")) == sorted(records)
    assert (tmp_path / f"out-00000-of-00003{suffix}").read_bytes().startswith(begins)


def test_template_without_a_number_gives_one_file(tmp_path):
    with beam.Pipeline() as pipeline:
        (
            pipeline
            | beam.Create([b"one", b"two"])
            | prb.WriteToTFRecord(str(tmp_path / "all.tfrecord"), shard_name_template="")
        )
    assert sorted(pr.read_records(tmp_path / "all.tfrecord")) == [b"one", b"two"]


@pytest.mark.parametrize("limit", [{"max_records_per_shard": 40}, {"max_bytes_per_shard": 3000}])
def test_shards_are_no_larger_than_asked(limit, tmp_path):
    with beam.Pipeline() as pipeline:
        pipeline | beam.Create(list(examples(400))) | prb.WriteToTFRecord(str(tmp_path / "out"), **limit)
    counts = [sum(1 for _ in pr.read_records(tmp_path / name)) for name in os.listdir(tmp_path)]
    assert sum(counts) == 400
    assert len(counts) > 3


@pytest.mark.parametrize("elements", ["records", "arrow"])
@pytest.mark.parametrize("limit", [{"max_records_per_shard": 40}, {"max_bytes_per_shard": 3000}])
def test_limits_of_a_shard_count_the_records_of_batches(limit, elements, tmp_path):
    path = write(tmp_path / "a.tfrecord", examples(400))
    with beam.Pipeline() as pipeline:
        read = prb.ReadFromTFRecord(path, elements=elements)
        pipeline | read | prb.WriteToTFRecord(str(tmp_path / "out"), **limit)
    shards = [list(pr.read_records(shard)) for shard in tmp_path.glob("out*")]
    assert sorted(record for shard in shards for record in shard) == sorted(examples(400))
    size = max(sum(map(len, shard)) for shard in shards)
    assert max(map(len, shards)) <= 40 if "max_records_per_shard" in limit else size < 3200


def test_batches_of_records_and_of_arrow_are_written(tmp_path):
    path = write(tmp_path / "a.tfrecord", examples())
    for elements in ("records", "arrow"):
        with beam.Pipeline() as pipeline:
            read = prb.ReadFromTFRecord(path, elements=elements, split_size=SMALL)
            pipeline | read | beam.Reshuffle() | prb.WriteToTFRecord(f"{tmp_path}/{elements}", num_shards=2)
        assert sorted(pr.read_records(f"{tmp_path}/{elements}@2")) == sorted(examples())


def test_no_shard_appears_if_an_element_cannot_be_written(tmp_path):
    table = pa.table({"when": pa.array([1], pa.timestamp("s"))})
    with pytest.raises(pr.EncodeError, match="when"), beam.Pipeline() as pipeline:
        pipeline | beam.Create([table]) | prb.WriteToTFRecord(str(tmp_path / "out"))
    assert [name for name in os.listdir(tmp_path) if name.startswith("out")] == []


def test_compression_that_nobody_writes_is_refused():
    with pytest.raises(ValueError, match="BZ2"):
        prb.WriteToTFRecord("out", compression_type="bzip2")


# Beside Beam's own


def test_beams_own_reader_reads_what_we_write(tmp_path):
    with beam.Pipeline() as pipeline:
        (
            pipeline
            | beam.Create(list(examples(50)))
            | prb.WriteToTFRecord(str(tmp_path / "out"), file_name_suffix=".tfrecord.gz")
        )
    found = gathered(tmp_path, tfrecordio.ReadFromTFRecord(f"{tmp_path}/out*"))
    assert sorted(found) == sorted(examples(50))


def test_we_read_what_beams_own_writer_writes(tmp_path):
    with beam.Pipeline() as pipeline:
        (
            pipeline
            | beam.Create(list(examples(50)))
            | tfrecordio.WriteToTFRecord(str(tmp_path / "out"), file_name_suffix=".tfrecord.gz")
        )
    assert sorted(gathered(tmp_path, prb.ReadFromTFRecord(f"{tmp_path}/out*"))) == sorted(examples(50))


# A worker that is killed

KILLED = """
import os, signal, sys
import apache_beam as beam
from purerecord.beam import ReadFromTFRecord, WriteToTFRecord

source, out, flag = sys.argv[1:]

def kill_once(record):
    if not os.path.exists(flag):
        open(flag, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return record

with beam.Pipeline(options=beam.options.pipeline_options.PipelineOptions(
    ["--direct_num_workers=2", "--direct_running_mode=multi_processing"])) as pipeline:
    read = pipeline | ReadFromTFRecord(source, split_size=20000)
    read | beam.Map(kill_once) | WriteToTFRecord(out, num_shards=2)
"""


def test_worker_that_is_killed_leaves_no_shard_and_the_next_run_has_every_record_once(tmp_path):
    source = write(tmp_path / "a.tfrecord", examples())
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLED, source, str(out / "x"), str(tmp_path / "flag")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as first:
        try:
            code = first.wait(30)
        except subprocess.TimeoutExpired:  # the runner waits for the worker for ever
            os.killpg(first.pid, 9)
            code = -9
    assert code != 0
    assert (tmp_path / "flag").exists()
    assert list(out.glob("x*")) == []
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)
    assert sorted(pr.read_records(f"{out}/x@2")) == sorted(examples())


def test_code_for_beam_in_the_docs_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_page("clusters.md", "beam") >= 1
