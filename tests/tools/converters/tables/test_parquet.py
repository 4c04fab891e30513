"""Parquet: there and back, row groups, columns, and files that are none."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

import purerecord as pr
from purerecord.tools import convert
from tests.support.arrow_tables import stored_values
from tests.support.arrow_tables import tables as arrow_tables
from tests.support.interop import interop

pa = interop("pyarrow")
pq = interop("pyarrow.parquet")
from purerecord.tools.converters.tables import parquet  # noqa: E402 - needs pyarrow


@given(arrow_tables())
def test_there_and_back(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("parquet")
    assume(stored_values(table))
    with pa.ipc.new_stream(folder / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    convert(folder / "a.arrow", folder / "a.tfrecord")
    report = convert(folder / "a.tfrecord", folder / "a.parquet")
    assert report.records == table.num_rows
    pq.read_table(folder / "a.parquet").validate(full=True)
    convert(folder / "a.parquet", folder / "b.tfrecord")
    assert (folder / "b.tfrecord").read_bytes() == (folder / "a.tfrecord").read_bytes()


def test_row_groups_hold_many_batches_and_are_read_in_parts(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": range(100)}), tmp_path / "a.parquet", row_group_size=30)
    monkeypatch.setattr(parquet, "_READ_ROWS", 7)
    report = convert(tmp_path / "a.parquet", tmp_path / "a.tfrecord")
    assert (report.records, report.from_format) == (100, "parquet")
    assert [pr.decode_example(r)["a"].item() for r in pr.read_records(tmp_path / "a.tfrecord")] == list(
        range(100)
    )
    monkeypatch.setattr("purerecord.tools.converters.job._BATCH_RECORDS", 10)
    monkeypatch.setattr(parquet, "_GROUP_ROWS", 40)
    convert(tmp_path / "a.tfrecord", tmp_path / "b.parquet")
    meta = pq.read_metadata(tmp_path / "b.parquet")
    assert [meta.row_group(i).num_rows for i in range(meta.num_row_groups)] == [40, 40, 20]


def test_dry_run_and_progress_tell_the_size(tmp_path):
    pq.write_table(pa.table({"a": range(100)}), tmp_path / "a.parquet")
    report = convert(tmp_path / "a.parquet", tmp_path / "a.tfrecord", dry_run=True)
    assert (report.records, report.types) == (100, {"a": "int64"})
    done = []
    convert(tmp_path / "a.parquet", tmp_path / "a.tfrecord", progress=lambda size, records: done.append(size))
    assert sum(done) == (tmp_path / "a.parquet").stat().st_size


def test_open_files_and_columns(tmp_path):
    pq.write_table(pa.table({"a": [1], "b.c": [2], "s": [{"x": 3, "y": 4}]}), tmp_path / "a.pq")
    with open(tmp_path / "a.pq", "rb") as file:
        convert(file, tmp_path / "a.tfrecord", from_format="parquet", columns=["b.c", "s/y"])
    (record,) = pr.read_records(tmp_path / "a.tfrecord")
    assert {name: values.tolist() for name, values in pr.decode_example(record).items()} == {
        "b.c": [2],
        "s/y": [4],
    }


@pytest.mark.parametrize("data", [b"", b"id,name\n1,2\n", b"PAR1" + b"\0" * 50 + b"PAR1"])
def test_what_is_no_parquet_file_is_one_clear_error(tmp_path, data):
    (tmp_path / "a.parquet").write_bytes(data)
    with pytest.raises(pr.EncodeError, match=r"a\.parquet: pyarrow cannot read it"):
        convert(tmp_path / "a.parquet", tmp_path / "a.tfrecord")
    assert not (tmp_path / "a.tfrecord").exists()


def test_a_failure_leaves_no_file(tmp_path):
    with pr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_many([pr.encode_example({"a": 1}), pr.encode_example({"a": b"x"})])
    with pytest.raises(pr.SchemaError, match="feature 'a'"):
        convert(tmp_path / "a.tfrecord", tmp_path / "a.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tfrecord"]
