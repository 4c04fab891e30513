"""``convert``: directions, options, reports; what any format does is in the tests of that format."""

from __future__ import annotations

import gc
import io
import os
from pathlib import Path

import numpy as np
import pytest

import purerecord as pr
from purerecord.tools import convert
from tests.support.interop import interop

LINES = '{"id": 1, "name": "cat"}\n{"id": 2, "name": "dog"}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(LINES)
    return tmp_path


def keyed(path):
    with pr.TFRecordWriter(path) as writer:
        writer.write_many([pr.encode_example({"__key__": name, "cls": 5, "txt": "x"}) for name in "ab"])


def rows(paths):
    return [pr.decode_example(record) for record in pr.read_records(paths)]


def test_names_tell_the_direction():
    report = convert("a.jsonl", "a.tfrecord")
    assert (report.from_format, report.to_format, report.records) == ("jsonl", "tfrecord", 2)
    assert report.outputs == ["a.tfrecord"]
    assert report.size == Path("a.tfrecord").stat().st_size
    assert [row["id"].tolist() for row in rows("a.tfrecord")] == [[1], [2]]
    report = convert("a.tfrecord", "b.jsonl")
    assert (report.from_format, report.to_format, report.records) == ("tfrecord", "jsonl", 2)
    assert Path("b.jsonl").read_text() == LINES


@pytest.mark.parametrize("out", ["train@2.tfrecord", "train@2", "train.tfrecord@2"])
def test_out_may_be_shards(out):
    report = convert("a.jsonl", out)
    assert len(report.outputs) == 2
    assert sorted(row["id"].tolist() for row in rows(out)) == [[1], [2]]
    convert(out, "back.jsonl")
    assert sorted(Path("back.jsonl").read_text().splitlines()) == sorted(LINES.splitlines())


def test_limits_and_compression_are_those_of_the_writer():
    report = convert("a.jsonl", "t@*.tfrecord", max_records=1, options="GZIP")
    assert report.outputs == ["t-00000-of-00002.tfrecord", "t-00001-of-00002.tfrecord"]
    assert Path(report.outputs[0]).read_bytes()[:2] == b"\x1f\x8b"
    convert("a.jsonl", "a.tfrecord.gz")
    assert Path("a.tfrecord.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_several_sources_follow_one_another():
    Path("b.jsonl").write_text('{"id": 3, "name": "ant"}\n')
    convert(["a.jsonl", "b.jsonl"], "all.tfrecord")
    convert("?.jsonl", "glob.tfrecord")
    assert [row["id"].tolist() for row in rows("all.tfrecord")] == [[1], [2], [3]]
    assert Path("all.tfrecord").read_bytes() == Path("glob.tfrecord").read_bytes()


def test_formats_can_be_named():
    Path("plain").write_text(LINES)
    convert("plain", "x", from_format="jsonl")
    convert("x", "y", from_format="tfrecord", to_format="jsonl")
    assert Path("y").read_text() == LINES


@pytest.mark.parametrize(
    ("source", "out", "more", "error", "words"),
    [
        ("a.tfrecord", "b.tfrecord", {}, ValueError, "both are TFRecords"),
        ("a.tfrecord", "b", {}, ValueError, "does not tell which format to write"),
        ("a.what", "b.tfrecord", {}, ValueError, "does not tell the format"),
        ("none.jsonl", "b.tfrecord", {}, FileNotFoundError, "none.jsonl"),
        ("none.what", "b.tfrecord", {}, FileNotFoundError, "none.what"),
        ("a.jsonl", "b.tfrecord", {"from_format": "xml"}, ValueError, "'xml' is not known"),
        ("a.jsonl", "b.tfrecord", {"lists": True}, ValueError, "no option of reading jsonl"),
        ("a.jsonl", "b.tfrecord", {"nonsense": 1}, TypeError, "no option of reading jsonl"),
        ("a.jsonl", "b.tfrecord", {"style": "tfds"}, ValueError, "none of jsonl"),
        ("a.jsonl", "b.tfrecord", {"floats": "some"}, ValueError, "floats must be"),
        ("a.tfrecord", "b@2.jsonl", {}, ValueError, "only TFRecords are written in shards"),
        ("a.tfrecord", "b.jsonl", {"shards": 2}, ValueError, "for TFRecords that are written"),
        ([], "b.tfrecord", {"from_format": "jsonl"}, ValueError, "nothing to convert"),
        ("a.jsonl", "a.jsonl", {"to_format": "tfrecord"}, ValueError, "a.jsonl is read, so it"),
        (["a.jsonl"], "link", {"to_format": "tfrecord"}, ValueError, "link is read, so it"),
        ("a.tfrecord", "a.tfrecord", {"to_format": "csv"}, ValueError, "a.tfrecord is read, so it"),
        ("a.jsonl", "b", {"from_format": "jsonl", "to_format": "csv"}, ValueError, "one of both must be"),
        ("a.jsonl", "b.csv", {}, ValueError, "jsonl to csv: one of both must be TFRecords"),
        ("a.jsonl", "b", {"to_format": "csv"}, ValueError, "one of both must be TFRecords"),
    ],
)
def test_wrong_arguments_are_one_clear_error_and_write_nothing(source, out, more, error, words):
    convert("a.jsonl", "a.tfrecord")
    Path("a.what").write_text("?")
    os.link("a.jsonl", "link")
    before = sorted(Path().iterdir())
    with pytest.raises(error, match=words):
        convert(source, out, **more)
    assert sorted(Path().iterdir()) == before


def test_dry_run_writes_nothing_and_shows_the_types():
    report = convert("a.jsonl", "a.tfrecord", dry_run=True)
    assert report.types == {"id": "int64", "name": "bytes"}
    assert "would write 2 records" in report.text()
    assert not Path("a.tfrecord").exists()


def test_a_failure_leaves_the_old_file():
    Path("a.tfrecord").write_bytes(b"old")
    Path("bad.jsonl").write_text(LINES + '{"id": "x"}\n')
    with pytest.raises(pr.EncodeError, match=r"bad\.jsonl: line 3: feature 'id': bytes"):
        convert("bad.jsonl", "a.tfrecord")
    assert Path("a.tfrecord").read_bytes() == b"old"
    assert len(list(Path().iterdir())) == 3


def test_schema_is_a_mapping_or_a_file():
    schema = {"id": pr.FixedLenFeature([], np.float32)}
    Path("schema.json").write_text(pr.schema_to_json(schema))
    convert("a.jsonl", "a.tfrecord", schema=schema)
    convert("a.jsonl", "b.tfrecord", schema="schema.json")
    assert Path("a.tfrecord").read_bytes() == Path("b.tfrecord").read_bytes()
    assert rows("a.tfrecord")[0].keys() == {"id"}
    assert rows("a.tfrecord")[0]["id"].dtype == np.float32
    with pytest.raises(ValueError, match=r"a\.jsonl: "):
        convert("a.jsonl", "a.tfrecord", schema="a.jsonl")


def test_damage_is_an_error_or_counted():
    convert("a.jsonl", "a.tfrecord")
    data = bytearray(Path("a.tfrecord").read_bytes())
    data[20] ^= 1
    Path("a.tfrecord").write_bytes(data)
    with pytest.raises(pr.CorruptionError):
        convert("a.tfrecord", "b.jsonl")
    report = convert("a.tfrecord", "b.jsonl", on_error="skip", lists=True)
    assert report.lost
    assert report.records == 1


def test_records_without_features_are_an_error_that_names_the_file():
    with pr.TFRecordWriter("none.tfrecord"):
        pass
    for out in ("b.csv", "b.npz"):
        with pytest.raises(pr.SchemaError, match=r"none\.tfrecord: no record has a feature"):
            convert("none.tfrecord", out)


TABLES = ["csv", "csv.gz", "jsonl", "npz", "tar", "tar.gz", "parquet", "arrow", "arrows"]


@pytest.mark.parametrize("suffix", TABLES)
def test_every_table_goes_to_a_store_and_comes_back(suffix):
    interop("fsspec")
    if suffix in ("parquet", "arrow", "arrows"):
        interop("pyarrow")
    keyed("a.tfrecord")
    there = f"memory://converted/a.{suffix}"
    assert convert("a.tfrecord", there).records == 2
    assert convert(there, "memory://converted/b.tfrecord").records == 2
    assert list(pr.read_records("memory://converted/b.tfrecord")) == list(pr.read_records("a.tfrecord"))
    Path("bad.jsonl").write_text("?")
    with pytest.raises(pr.EncodeError):
        convert("bad.jsonl", "memory://converted/b.tfrecord")
    assert len(pr.RecordFile("memory://converted/b.tfrecord")) == 2


@pytest.mark.parametrize("name", ["csv", "jsonl", "webdataset", "arrow", "parquet"])
def test_records_of_a_stream_are_counted(name):
    if name in ("arrow", "parquet"):
        interop("pyarrow")
    keyed("a.tfrecord")
    data = Path("a.tfrecord").read_bytes()
    assert convert(io.BytesIO(data), "out", from_format="tfrecord", to_format=name).records == 2
    report = convert(io.BytesIO(data), "new", from_format="tfrecord", to_format=name, dry_run=True)
    assert report.records == 0  # nobody knows
    assert not Path("new").exists()


def test_sources_may_come_from_an_iterator():
    convert((name for name in ["a.jsonl", "a.jsonl"]), "a.tfrecord")
    assert len(rows("a.tfrecord")) == 4


def test_progress_counts_bytes_and_records():
    done = []
    convert("a.jsonl", "a.tfrecord", progress=lambda size, records: done.append(size))
    assert sum(done) == len(LINES)
    counts = []
    convert("a.tfrecord", "b.jsonl", progress=lambda size, records: counts.append(records))
    assert sum(counts) == 2


FORMATS = [
    ("csv", {}, None),
    ("csv.gz", {}, None),
    ("jsonl", {}, None),
    ("npz", {}, None),
    ("tar", {"members": {"id": "id", "txt": "name"}}, None),
    ("parquet", {}, "pyarrow"),
    ("arrow", {}, "pyarrow"),
]


@pytest.mark.parametrize(("ending", "options", "library"), FORMATS)
def test_files_in_a_store_are_written_and_read(ending, options, library):
    memory = interop("fsspec").filesystem("memory")
    if library:
        interop(library)
    convert("a.jsonl", "memory://convert/a.tfrecord")
    convert("memory://convert/a.tfrecord", f"memory://convert/b.{ending}", **options)
    report = convert(f"memory://convert/b.{ending}", "memory://convert/c@2.tfrecord", **options)
    assert report.records == 2
    assert [row["id"].tolist() for row in rows("memory://convert/c@2.tfrecord")] == [[1], [2]]
    memory.rm("/convert", recursive=True)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "npz"])
def test_a_file_in_a_store_does_not_appear_if_it_is_not_whole(ending):
    memory = interop("fsspec").filesystem("memory")
    whole = pr.encode_example({"id": 1, "name": "cat"})
    with pr.TFRecordWriter("memory://convert/a.tfrecord") as writer:
        writer.write_many([whole] * 999)
    data = memory.cat("/convert/a.tfrecord")
    memory.pipe("/convert/a.tfrecord", data[:-1])
    with pytest.raises(pr.CorruptionError):
        convert("memory://convert/a.tfrecord", f"memory://convert/b.{ending}")
    gc.collect()
    assert memory.ls("/convert", detail=False) == ["/convert/a.tfrecord"]
    memory.rm("/convert", recursive=True)
