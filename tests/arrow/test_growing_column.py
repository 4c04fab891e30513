"""A column that is read batch by batch: its type, its nulls, and batches that do not fit together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from tests.support.arrow_tables import stored_values
from tests.support.arrow_tables import tables as arrow_tables
from tests.support.interop import interop

pa = interop("pyarrow")
from purerecord import arrow  # noqa: E402 - needs pyarrow
from purerecord.arrow import tables  # noqa: E402


@given(arrow_tables(), st.sampled_from(["", "GZIP"]))
def test_a_table_comes_back_from_a_file(tmp_path_factory, table, compression):
    path = tmp_path_factory.mktemp("arrow") / "file"
    arrow.write_table(table, path, compression)
    again = arrow.read_table(path)
    again.validate(full=True)
    assert stored_values(again) == stored_values(table)
    for name in again.column_names:
        assert again.schema.field(name).type == expected_type(again[name])
        lengths = {len(row) for row in stored_values(again)[name] if row is not None}
        if lengths == {1}:
            assert not pa.types.is_nested(again[name].type)


def expected_type(column: object) -> object:
    """The documented type of a column that was read: values, lists of one length, or lists."""
    dtype, rows = column.type, [row for row in column.to_pylist() if row is not None]
    leaf = dtype.value_type if pa.types.is_nested(dtype) else dtype
    assert leaf in (pa.int64(), pa.float32(), pa.large_binary())
    if not pa.types.is_nested(dtype):
        return leaf
    lengths = {len(row) for row in rows}
    return pa.list_(leaf, lengths.pop()) if len(lengths) == 1 and min(lengths) > 1 else pa.large_list(leaf)


@given(arrow_tables(), st.integers(1, 4), st.integers(1, 3))
def test_a_table_does_not_depend_on_files_and_batches(tmp_path_factory, table, step, files):
    folder = tmp_path_factory.mktemp("arrow")
    arrow.write_table(table, folder / "whole")
    whole = arrow.read_table(folder / "whole")
    arrow.write_table(table, folder / "part", max_records=-(-max(1, table.num_rows) // files))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_CHUNK_RECORDS", step)
        patch.setattr(tables, "_ENCODED_ROWS", step)
        arrow.write_table(table, folder / "again")
        parts = arrow.read_table(f"{folder}/part@*")
        parts.validate(full=True)
    assert (folder / "again").read_bytes() == (folder / "whole").read_bytes()
    assert parts.schema == whole.schema
    assert stored_values(parts) == stored_values(whole)


def test_a_feature_that_comes_late_or_not_always_is_null_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_CHUNK_RECORDS", 2)
    rows = [{}, {"x": 1}, {"y": [1, 2]}, {"x": 2, "y": [3, 4]}, {"x": []}, {"z": pr.Feature()}]
    with pr.TFRecordWriter(tmp_path / "file") as writer:
        for row in rows[:4]:
            writer.write(pr.encode_example(row))
    table = arrow.read_table(tmp_path / "file")
    assert table.to_pydict() == {"x": [None, 1, None, 2], "y": [None, None, [1, 2], [3, 4]]}
    assert table.schema.field("y").type == pa.list_(pa.int64(), 2)


def test_a_feature_of_two_kinds_is_a_schema_error_that_says_where(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_CHUNK_RECORDS", 2)
    for number, rows in enumerate([[{"x": 1}, {}, {"x": 2}], [{}, {"x": "a"}]]):
        with pr.TFRecordWriter(tmp_path / f"file-{number}") as writer:
            for row in rows:
                writer.write(pr.encode_example(row))
    with pytest.raises(pr.SchemaError, match=r"file-1: feature 'x': record 1: .*bytes.*int64"):
        arrow.read_table(f"{tmp_path}/file-*")


def test_records_without_any_feature_are_rows_too(tmp_path):
    arrow.write_table(pa.table({"x": pa.nulls(3)}), tmp_path / "file")
    table = arrow.read_table(tmp_path / "file")
    assert (table.num_rows, table.num_columns) == (3, 0)
