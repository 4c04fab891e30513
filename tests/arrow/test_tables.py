"""``read_table``, ``write_table``, ``to_arrow`` and ``from_arrow``: specs, targets, errors and memory."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purerecord as pr
from purerecord.container.index import index_path
from tests.support.arrow_tables import stored_values
from tests.support.arrow_tables import tables as arrow_tables
from tests.support.damage import flip_byte
from tests.support.interop import interop
from tests.support.legal_examples import example_batches, features_of, kinds_of, lists_of, sequence_batches
from tests.support.places import CORPUS
from tests.support.settings import tries

pa = interop("pyarrow")
from purerecord import arrow  # noqa: E402 - needs pyarrow
from purerecord.arrow import tables  # noqa: E402
from purerecord.payload.columns import gather  # noqa: E402


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
    # The second row has no type, which counts as missing.
    assert table["x"].to_pylist() == table["variable"].to_pylist() == [rows[0], None, rows[2]]
    assert table["sparse"].to_pylist()[2] == [{"index": 1, "value": 8.0}]
    assert table["missing"].to_pylist() == [[b"a", b"b"]] * 3
    pairs = pr.FixedLenSequenceFeature((2,), np.int64, allow_missing=True)
    assert arrow.read_table(path, {"x": pairs})["x"].to_pylist() == [[[1, 2]], None, [[3, 4], [5, 6]]]
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


@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("features", [None, {"x": pr.FixedLenFeature([], "int64")}])
def test_tail_leaves_out_a_cut_last_record_and_raises_at_other_damage(tmp_path, compression, features):
    path = tmp_path / "file"
    arrow.write_table(pa.table({"x": range(100)}), path)
    data = path.read_bytes()
    compressed = gzip.compress if compression else bytes
    path.write_bytes(compressed(data[:-10]))
    table = arrow.read_table([path, path], features, on_error="tail")
    assert table["x"].to_pylist() == [*range(99)] * 2
    with pytest.raises(pr.TruncatedError):
        arrow.read_table(path, features)
    path.write_bytes(compressed(flip_byte(data, len(data) // 2)))
    with pytest.raises(pr.CorruptionError):
        arrow.read_table(path, features, on_error="tail")


def test_reading_needs_little_more_memory_than_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_CHUNK_BYTES", 1 << 17)
    table = pa.table({"image": pa.array([bytes(5000)] * 6000)})
    arrow.write_table(table, tmp_path / "file", shards=4)
    tracemalloc.start()
    try:
        read = arrow.read_table(f"{tmp_path}/file@4")
        _, peak = tracemalloc.get_traced_memory()  # with the table, whose strings lie in numpy's memory
    finally:
        tracemalloc.stop()
    assert read.num_rows == 6000
    assert read["image"].num_chunks > 12
    assert peak < read.nbytes * 4 / 3


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


def messages(payloads):
    """What tables keep of records: all but features without a type, which are null as missing ones are."""
    return [(features_of(payload, untyped=False), lists_of(payload)) for payload in payloads]


def write(path, payloads):
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(payloads)


@given(example_batches() | sequence_batches(), st.integers(1, 9))
@settings(max_examples=tries(200))
def test_records_come_back_from_a_table_as_the_messages_that_they_were(tmp_path_factory, payloads, step):
    folder = tmp_path_factory.mktemp("arrow")
    write(folder / "file", payloads)
    context, lists = kinds_of(payloads)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_CHUNK_RECORDS", step)
        patch.setattr(tables, "_ENCODED_ROWS", step)
        if any(len(kinds) > 1 for part in (context, lists) for kinds in part.values()):
            with pytest.raises(pr.SchemaError, match=r"cannot be one column|one column of that name"):
                arrow.read_table(folder / "file")
            return
        if context.keys() & lists.keys():
            with pytest.raises(pr.SchemaError, match="a table has one column of that name"):
                arrow.read_table(folder / "file")
            return
        table = arrow.read_table(folder / "file")
        table.validate(full=True)
        assert table.column_names == sorted(context.keys() | lists.keys())
        if table.column_names:
            arrow.write_table(table, folder / "again")
            assert messages(pr.read_records(folder / "again")) == messages(payloads)
        if not lists and context:
            through = arrow.from_arrow(arrow.to_arrow(pr.decode_examples(payloads)))
            assert messages(pr.encode_examples(through)) == messages(payloads)


@pytest.mark.parametrize("name", ["missing", "missing-steps"])
def test_tables_of_files_that_tensorflow_wrote_are_written_as_the_same_messages(name, tmp_path):
    table = arrow.read_table(CORPUS / f"{name}.tfrecord")
    arrow.write_table(table, tmp_path / "again")
    payloads = list(pr.read_records(CORPUS / f"{name}.tfrecord"))
    assert messages(pr.read_records(tmp_path / "again")) == messages(payloads)
    assert any(column.null_count for column in table.columns)


def test_feature_lists_are_lists_of_lists(tmp_path):
    rows = [
        ({"id": 7}, {"words": [["a", "b"], ["c"]], "marks": [[1], [], np.empty(0, np.int64)]}),
        ({"id": 8}, {"words": []}),
        ({}, {"marks": []}),
    ]
    write(tmp_path / "file", [pr.encode_sequence_example(*row) for row in rows])
    table = arrow.read_table(tmp_path / "file", text=["words"])
    assert table.to_pydict() == {
        "id": [7, 8, None],
        "marks": [[[1], None, []], None, []],
        "words": [[["a", "b"], ["c"]], [], None],
    }
    assert table.schema.field("words").type == pa.large_list(pa.large_list(pa.large_string()))
    arrow.write_table(table, tmp_path / "again")
    assert list(pr.read_records(tmp_path / "again")) == list(pr.read_records(tmp_path / "file"))
    assert arrow.read_table(tmp_path / "file", columns=["marks"]).equals(table.select(["marks"]))
    specs = (
        {"id": pr.FixedLenFeature((), int, default_value=0)},
        {
            "words": pr.VarLenFeature(bytes),
            "marks": pr.RaggedFeature(int),
        },
    )
    parsed = arrow.read_table(tmp_path / "file", specs, text=["words"])
    assert parsed["id"].to_pylist() == [7, 8, 0]
    assert parsed["words"].to_pylist() == [[["a", "b"], ["c"]], [], None]
    steps = {"marks": pr.FixedLenSequenceFeature((), int, allow_missing=True)}
    write(tmp_path / "flat", [pr.encode_sequence_example({}, {"marks": m}) for m in ([[1], [2]], [], [[3]])])
    assert arrow.read_table(tmp_path / "flat", ({}, steps))["marks"].to_pylist() == [[1, 2], [], [3]]


def test_text_is_what_the_caller_says(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_CHUNK_RECORDS", 2)
    rows = {"name": ["é", "b", "c"], "raw": [b"1", b"\xff", b"2"], "id": [1, 2, 3]}
    rows["tags"] = [["x", "y"], None, ["z"]]
    write(tmp_path / "file", pr.encode_examples(rows))
    table = arrow.read_table(tmp_path / "file", text=["name", "tags"])
    assert table["name"].to_pylist() == rows["name"]
    assert table["tags"].to_pylist() == rows["tags"]
    assert table["raw"].to_pylist() == rows["raw"]
    chosen = arrow.read_table(tmp_path / "file", columns=["tags", "id", "name"], text=True)
    assert chosen.equals(table.select(["tags", "id", "name"]))
    features = {"name": pr.FixedLenFeature((), bytes), "tags": pr.VarLenFeature(bytes)}
    assert arrow.read_table(tmp_path / "file", features, text=True).equals(table.select(["name", "tags"]))
    for options in ({"text": True}, {"text": ["raw"]}, {"features": {"raw": pr.VarLenFeature(bytes)}}):
        with pytest.raises(pr.SchemaError, match=r"file: feature 'raw': record 1: .*not UTF-8"):
            arrow.read_table(tmp_path / "file", **{"text": True, **options})
    with pytest.raises(pr.SchemaError, match="'id': holds int64 values, which are no text"):
        arrow.read_table(tmp_path / "file", text=["id"])
    with pytest.raises(pr.SchemaError, match="'nope': no record has it"):
        arrow.read_table(tmp_path / "file", text=["nope"])
    with pytest.raises(TypeError, match="list of names"):
        arrow.read_table(tmp_path / "file", text="name")


def test_columns_that_are_not_asked_for_are_not_looked_at(tmp_path):
    write(tmp_path / "file", [pr.encode_example({"a": 1, "b": 1}), pr.encode_example({"a": 2, "b": "x"})])
    assert arrow.read_table(tmp_path / "file", columns=["a"]).to_pydict() == {"a": [1, 2]}
    with pytest.raises(pr.SchemaError, match="'nope': no record has it"):
        arrow.read_table(tmp_path / "file", columns=["a", "nope"])
    for wrong, error in (({"columns": "a"}, "list of names"), ({"features": ["a"]}, "columns=")):
        with pytest.raises(TypeError, match=error):
            arrow.read_table(tmp_path / "file", **wrong)
    with pytest.raises(ValueError, match="those of features"):
        arrow.read_table(tmp_path / "file", {"a": pr.VarLenFeature(int)}, columns=["a"])


def test_a_table_far_larger_than_the_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_CHUNK_RECORDS", 1)
    write(tmp_path / "file", [pr.encode_example({f"{i}.{j}": j for j in range(9)}) for i in range(9)])
    assert arrow.read_table(tmp_path / "file").num_columns == 81
    monkeypatch.setattr(gather, "_MOST_CELLS", 100)
    monkeypatch.setattr(gather, "_MOST_CELLS_PER_BYTE", 0)
    with pytest.raises(pr.SchemaError, match="4 records have 36 different features"):
        arrow.read_table(tmp_path / "file")
    assert arrow.read_table(tmp_path / "file", columns=["3.1"]).num_rows == 9
