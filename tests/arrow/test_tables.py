"""``read_table``, ``write_table``, ``to_arrow`` and ``from_arrow``: specs, targets, errors and memory."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import purerecord as pr
from purerecord.container.index import index_path
from tests.support.arrow_tables import stored_values
from tests.support.arrow_tables import tables as arrow_tables
from tests.support.interop import interop

pa = interop("pyarrow")
from purerecord import arrow  # noqa: E402 - needs pyarrow
from purerecord.arrow import tables  # noqa: E402


def test_columns_must_have_equally_many_rows():
    with pytest.raises(pr.EncodeError, match="'b': has 2 rows, where 'a' has 3"):
        arrow.to_arrow({"a": np.arange(3), "b": np.arange(2)})
    with pytest.raises(TypeError, match="mapping"):
        arrow.to_arrow([np.arange(3)])
    assert arrow.to_arrow({}).num_columns == 0


@given(arrow_tables())
def test_specs_give_what_they_give_to_parse_example(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("arrow") / "file"
    arrow.write_table(table, path)
    records = list(pr.read_records(path))
    schema = pr.infer_schema(records)
    if not schema:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_CHUNK_RECORDS", 2)
        found = arrow.read_table(path, schema)
    found.validate(full=True)
    assert stored_values(found) == stored_values(arrow.to_arrow(pr.parse_example(records, schema)))
    assert found.schema == arrow.to_arrow(pr.decode_examples(records)).select(found.column_names).schema


def test_all_that_differs_in_length_is_a_list(tmp_path):
    path = tmp_path / "file"
    rows = [[1, 2], [], [3, 4, 5, 6]]
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(pr.encode_examples({"x": rows, "i": [[0], [], [1]], "v": [[7.0], [], [8.0]]}))
    specs = {
        "variable": pr.RaggedFeature(np.int64, value_key="x"),
        "x": pr.VarLenFeature(np.int64),
        "sparse": pr.SparseFeature("i", "v", np.float32, 4),
        "missing": pr.FixedLenFeature((2,), bytes, default_value=["a", "b"]),
    }
    table = arrow.read_table(path, specs)
    assert table["x"].to_pylist() == table["variable"].to_pylist() == rows
    assert table["sparse"].to_pylist()[2] == [{"index": 1, "value": 8.0}]
    assert table["missing"].to_pylist() == [[b"a", b"b"]] * 3
    pairs = pr.FixedLenSequenceFeature((2,), np.int64, allow_missing=True)
    assert arrow.read_table(path, {"x": pairs})["x"].to_pylist() == [[[1, 2]], [], [[3, 4], [5, 6]]]
    assert arrow.from_arrow(table)["sparse"] == pr.parse_example(list(pr.read_records(path)), specs)["sparse"]
    empty = tmp_path / "empty"
    pr.TFRecordWriter(empty).close()
    assert arrow.read_table(empty, specs).schema == table.schema
    assert arrow.read_table(empty).num_rows == 0


def test_damage_is_found_or_passed_over(tmp_path):
    path = tmp_path / "file"
    arrow.write_table(pa.table({"x": range(100)}), path)
    data = bytearray(path.read_bytes())
    data[-10] ^= 1
    path.write_bytes(data)
    with pytest.raises(pr.CorruptionError):
        arrow.read_table(path)
    assert arrow.read_table(path, on_error="skip").num_rows == 99


def test_reading_needs_little_more_memory_than_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_CHUNK_BYTES", 1 << 17)
    table = pa.table({"image": pa.array([bytes(5000)] * 6000)})
    arrow.write_table(table, tmp_path / "file", shards=4)
    tracemalloc.start()
    try:
        read = arrow.read_table(f"{tmp_path}/file@4")
        _, peak = tracemalloc.get_traced_memory()  # of all but what Arrow holds
    finally:
        tracemalloc.stop()
    assert read.num_rows == 6000
    assert read["image"].num_chunks > 12
    assert peak < read.nbytes / 3


def test_an_exact_type_comes_back_with_a_cast(tmp_path):
    table = pa.table(
        {
            "b": pa.array([True, None, False]),
            "d": pa.array([0.5, 1, None]),
            "i": pa.array([1, None, -3], pa.int8()),
            "l": pa.array([["a"], [], None], pa.list_(pa.string())),
            "s": pa.array(["a", None, "é"]),
        }
    )
    arrow.write_table(table, tmp_path / "file")
    assert arrow.read_table(tmp_path / "file").cast(table.schema).equals(table)


def test_the_record_of_an_error_counts_from_the_first_row_of_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_ENCODED_ROWS", 10)
    with pytest.raises(pr.EncodeError) as caught:
        arrow.write_table(pa.table({"x": pa.array([0] * 37 + [2**63], pa.uint64())}), tmp_path / "file")
    assert caught.value.record == 37


def test_names_must_be_different(tmp_path):
    table = pa.table([[1], [2]], ["a", "a"])
    for use in (arrow.from_arrow, lambda table: arrow.write_table(table, tmp_path / "file")):
        with pytest.raises(pr.EncodeError, match="several"):
            use(table)


def test_where_a_table_is_written_to(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pa.table({"x": range(10)})
    arrow.write_table(table, "a", mode="a")
    arrow.write_table(table, "a", mode="a")
    assert arrow.read_table("a").num_rows == 20
    arrow.write_table(table, "b", atomic=False, index=True)
    assert len(pr.RecordFile("b")) == 10
    assert Path(index_path("b")).exists()
    arrow.write_table(table, "c@3.tfrecord", "GZIP")
    assert sorted(path.name for path in Path().glob("c*"))[0] == "c-00000-of-00003.tfrecord"
    arrow.write_table(table, "d", max_records=4)
    assert len(list(Path().glob("d-*"))) == 3
    assert sorted(arrow.read_table("c@3.tfrecord")["x"].to_pylist()) == list(range(10))
    stream = io.BytesIO()
    arrow.write_table(table, stream)
    assert arrow.read_table(io.BytesIO(stream.getvalue())).equals(table)
    with pytest.raises(ValueError, match="shards"):
        arrow.write_table(table, "e@3", mode="a")
    with pytest.raises(TypeError, match="table"):
        arrow.write_table({"x": [1]}, "f")


def test_a_stream_of_batches_is_written_without_being_a_table(tmp_path):
    schema = pa.schema([("x", pa.int64())])
    batches = (pa.record_batch([pa.array([n, n + 1])], schema=schema) for n in range(0, 100, 2))
    arrow.write_table(pa.RecordBatchReader.from_batches(schema, batches), tmp_path / "file")
    assert arrow.read_table(tmp_path / "file")["x"].to_pylist() == list(range(100))
    arrow.write_table(pa.record_batch({"x": [1, None]}), tmp_path / "file")
    assert arrow.read_table(tmp_path / "file")["x"].to_pylist() == [1, None]
