"""Columns and files to and from real Arrow tables, and from there to pandas and polars."""

from __future__ import annotations

import contextlib
import io
import math
import re
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.container.index import index_path
from tests.repository.test_docs import same
from tests.support.interop import interop
from tests.support.places import ROOT
from tests.support.strategies import float32s, int64s

pa = interop("pyarrow")
from purerecord import arrow  # noqa: E402 - needs pyarrow


def objects(*items: bytes) -> np.ndarray:
    array = np.empty(len(items), object)
    array[:] = items
    return array


def same_column(left: object, right: object) -> bool:
    if isinstance(left, np.ndarray):
        assert isinstance(right, np.ndarray)
        return left.dtype == right.dtype and left.shape == right.shape and left.tolist() == right.tolist()
    return type(left) is type(right) and bool(left == right)


# Columns to tables and back

COLUMNS = {
    **{
        name: np.array([0, 1, 100], name)
        for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    },
    **{name: np.array([0, 0.5, np.inf], name) for name in ("float16", "float32", "float64")},
    "bool": np.array([True, False, True]),
    "bytes": objects(b"", b"\0", b"ab\0"),
    "matrix": np.arange(6, dtype=np.float32).reshape(3, 2),
    "cube": np.arange(24).reshape(3, 2, 4),
    "without columns": np.zeros((3, 0), np.float32),
    "strings in rows": objects(*[b"%d" % i for i in range(6)]).reshape(3, 2),
    "strided": np.arange(12, dtype=np.int32)[::4],
    "transposed": np.arange(6).reshape(2, 3).T,
    "ragged": pr.Ragged([1, 2, 3], [0, 2, 2, 3]),
    "ragged with int32 splits": pr.Ragged(np.array([1.5, 2, 3]), np.array([0, 0, 0, 3], np.int32)),
    "ragged bytes": pr.Ragged(objects(b"a", b""), [0, 1, 1, 2]),
    "ragged items": pr.Ragged(np.arange(8, dtype=np.float32).reshape(4, 2), [0, 3, 3, 4]),
    "nested": pr.Ragged(pr.Ragged([1, 2, 3], [0, 2, 2, 3]), [0, 1, 3, 3]),
    "sparse": pr.Sparse([[0, 3], [0, 1], [2, 9]], np.array([1, 2, 3], np.float32), (3, 10)),
    "sparse cube": pr.Sparse([[1, 0, 2], [2, 1, 0]], objects(b"x", b"y"), (3, 2, 3)),
    "sparse, empty": pr.Sparse(np.zeros((0, 2)), np.zeros(0, np.int64), (3, 4)),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_column_comes_back_from_a_table_as_it_was(name):
    column = COLUMNS[name]
    table = arrow.to_arrow({name: column})
    table.validate(full=True)
    assert table.num_rows == 3
    assert same_column(arrow.from_arrow(table)[name], column)
    several = pa.concat_tables([table, table, table.slice(0, 0)])
    again = arrow.from_arrow(several.slice(3))[name]
    assert same_column(again, column)
    middle = arrow.from_arrow(several.slice(2, 2))[name]
    assert len(middle) == 2
    if not isinstance(column, pr.Sparse):
        rows = column.to_list() if isinstance(column, pr.Ragged) else column.tolist()
        found = middle.to_list() if isinstance(middle, pr.Ragged) else middle.tolist()
        assert found == [rows[2], rows[0]]


TYPES = {
    "int64": pa.int64(),
    "float32": pa.float32(),
    "bytes": pa.large_binary(),
    "matrix": pa.list_(pa.float32(), 2),
    "cube": pa.list_(pa.list_(pa.int64(), 4), 2),
    "ragged": pa.large_list(pa.int64()),
    "ragged with int32 splits": pa.list_(pa.float64()),
    "ragged bytes": pa.large_list(pa.large_binary()),
    "nested": pa.large_list(pa.large_list(pa.int64())),
    "sparse": pa.large_list(pa.struct([("index", pa.int64()), ("value", pa.float32())])),
    "sparse cube": pa.large_list(
        pa.struct([("index", pa.list_(pa.int64(), 2)), ("value", pa.large_binary())])
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_column_has_the_documented_type(name):
    assert arrow.to_arrow({name: COLUMNS[name]}).schema.field(name).type == TYPES[name]


@pytest.mark.parametrize("name", ["int8", "uint64", "float16", "float32", "float64", "matrix", "cube"])
def test_numbers_stay_in_the_memory_that_they_are_in(name):
    column = COLUMNS[name]
    assert np.shares_memory(arrow.from_arrow(arrow.to_arrow({name: column}))[name], column)


def test_ragged_values_and_splits_stay_in_the_memory_that_they_are_in():
    column = COLUMNS["ragged"]
    array = arrow.to_arrow({"x": column})["x"].chunk(0)
    assert array.buffers()[1].address == column.row_splits.ctypes.data
    assert array.values.buffers()[1].address == column.values.ctypes.data
    assert np.shares_memory(arrow.from_arrow(pa.table({"x": array}))["x"].values, column.values)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (np.ma.masked_array([1, 2, 3], [False, True, False]), [1, None, 3]),
        (np.ma.masked_array(objects(b"a", b"b", b"c"), [True, False, False]), [None, b"b", b"c"]),
        (np.ma.masked_array([1, 2, 3]), [1, 2, 3]),
        (np.array([b"a", None, "é"], object), [b"a", None, "é".encode()]),
        (np.array(["a", "é", ""]), ["a", "é", ""]),
        (np.array([b"a", b"bc", b""]), [b"a", b"bc", b""]),
        ([1, None, 3], [1, None, 3]),
        (["a", None, "b"], ["a", None, "b"]),
        ([[1], [], None], [[1], [], None]),
        (np.array([1, 2, 3], ">i4"), [1, 2, 3]),
        (np.array([np.nan, 1, 2]), [math.nan, 1.0, 2.0]),
        (np.array([1, None, 2], object), [1, None, 2]),
        (pa.array([1, None, 2]), [1, None, 2]),
    ],
)
def test_nulls_and_other_forms_of_columns(column, values):
    table = arrow.to_arrow({"x": column})
    table.validate(full=True)
    assert repr(table["x"].to_pylist()) == repr(values)


def test_a_column_with_nulls_becomes_a_ragged_with_empty_rows():
    columns = arrow.from_arrow(pa.table({"x": [1, None, 3], "y": ["a", None, None], "z": pa.nulls(3)}))
    assert columns["x"].to_list() == [[1], [], [3]]
    assert columns["y"].to_list() == [[b"a"], [], []]
    assert columns["z"].to_list() == [[], [], []]


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (np.float32(1), "scalar"),
        (np.array(1), "scalar"),
        (b"bytes", "bytes"),
        (np.array([1j]), "complex|Unsupported"),
        (pr.Sparse([[0]], [1], (1,)), "one dimension"),
        (pr.Sparse([[5, 0]], [1], (1, 1)), "outside"),
        (np.ma.masked_array([[1, 2]], [[True, False]]), "mask"),
        (np.array([1, b"a"], object), "Arrow"),
    ],
)
def test_what_arrow_cannot_hold_names_the_column(column, reason):
    with pytest.raises(pr.EncodeError, match=reason) as caught:
        arrow.to_arrow({"the column": column})
    assert caught.value.feature == "the column"


def test_columns_must_have_equally_many_rows():
    with pytest.raises(pr.EncodeError, match="'b': has 2 rows, where 'a' has 3"):
        arrow.to_arrow({"a": np.arange(3), "b": np.arange(2)})
    with pytest.raises(TypeError, match="mapping"):
        arrow.to_arrow([np.arange(3)])
    assert arrow.to_arrow({}).num_columns == 0


# Tables to files and back


def bits(value: object) -> object:
    """A float as what is stored of it, so that NaNs compare."""
    return struct.pack("<f", value) if isinstance(value, (float, np.float16)) else value


def cells(table: object) -> dict[str, list]:
    """Every cell as a list of what an Example holds; a column of nulls only is left out."""
    found = {}
    for name, values in table.to_pydict().items():
        lists = [[value] if not isinstance(value, (list, type(None))) else value for value in values]
        lists = [
            None if row is None else [item.encode() if isinstance(item, str) else bits(item) for item in row]
            for row in lists
        ]
        if any(row is not None for row in lists):
            found[name] = lists
    return dict(sorted(found.items()))


_INTS = {
    pa.int8(): st.integers(-128, 127),
    pa.int64(): int64s,
    pa.uint16(): st.integers(0, 2**16 - 1),
    pa.uint64(): st.integers(0, 2**63 - 1),
}
_LEAVES = {
    **_INTS,
    pa.bool_(): st.booleans(),
    pa.float16(): st.floats(width=16).map(np.float16),
    pa.float32(): float32s,
    pa.float64(): float32s,
    pa.string(): st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    pa.large_string(): st.text("abc", max_size=3),
    pa.binary(): st.binary(max_size=9),
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.dictionary(pa.int32(), pa.string()): st.text("xy", max_size=2),
    pa.null(): st.none(),
}


@st.composite
def arrow_columns(draw: st.DrawFn, rows: int) -> object:
    dtype = draw(st.sampled_from(list(_LEAVES)))
    values = _LEAVES[dtype]
    form = draw(st.sampled_from(["values", "list", "large_list", "fixed"]))
    if form != "values" and not pa.types.is_null(dtype):
        width = draw(st.integers(0, 3))
        sizes = (width, width) if form == "fixed" else (0, draw(st.integers(0, 4)))
        values = st.lists(values, min_size=sizes[0], max_size=sizes[1])
        dtype = {"list": pa.list_(dtype), "large_list": pa.large_list(dtype)}.get(
            form, pa.list_(dtype, width)
        )
    if draw(st.booleans()):
        values = st.one_of(st.none(), values)
    cut = draw(st.integers(0, rows))
    items = draw(_many(values, rows))
    return pa.chunked_array([pa.array(part, dtype) for part in (items[:cut], items[cut:])], dtype)


def _many(values: st.SearchStrategy, rows: int) -> st.SearchStrategy:
    return st.lists(values, min_size=rows, max_size=rows)


@st.composite
def tables(draw: st.DrawFn) -> object:
    rows = draw(st.integers(0, 9))
    names = draw(st.lists(st.text("abcé", max_size=3), min_size=1, max_size=4, unique=True))
    return pa.table({name: draw(arrow_columns(rows)) for name in names})


@given(tables(), st.sampled_from(["", "GZIP"]))
def test_a_table_comes_back_from_a_file(tmp_path_factory, table, compression):
    path = tmp_path_factory.mktemp("arrow") / "file"
    arrow.write_table(table, path, compression)
    again = arrow.read_table(path)
    again.validate(full=True)
    assert cells(again) == cells(table)
    for name in again.column_names:
        assert again.schema.field(name).type == expected_type(again[name])
        lengths = {len(row) for row in cells(again)[name] if row is not None}
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


@given(tables(), st.integers(1, 4), st.integers(1, 3))
def test_a_table_does_not_depend_on_files_and_batches(tmp_path_factory, table, step, files):
    folder = tmp_path_factory.mktemp("arrow")
    arrow.write_table(table, folder / "whole")
    whole = arrow.read_table(folder / "whole")
    arrow.write_table(table, folder / "part", max_records=-(-max(1, table.num_rows) // files))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "_RECORDS", step)
        patch.setattr(arrow, "_ROWS", step)
        arrow.write_table(table, folder / "again")
        parts = arrow.read_table(f"{folder}/part@*")
        parts.validate(full=True)
    assert (folder / "again").read_bytes() == (folder / "whole").read_bytes()
    assert parts.schema == whole.schema
    assert cells(parts) == cells(whole)


@given(tables())
def test_specs_give_what_they_give_to_parse_example(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("arrow") / "file"
    arrow.write_table(table, path)
    records = list(pr.read_records(path))
    schema = pr.infer_schema(records)
    if not schema:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "_RECORDS", 2)
        found = arrow.read_table(path, schema)
    found.validate(full=True)
    assert cells(found) == cells(arrow.to_arrow(pr.parse_example(records, schema)))
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


def test_a_feature_that_comes_late_or_not_always_is_null_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "_RECORDS", 2)
    rows = [{}, {"x": 1}, {"y": [1, 2]}, {"x": 2, "y": [3, 4]}, {"x": []}, {"z": pr.Feature()}]
    with pr.TFRecordWriter(tmp_path / "file") as writer:
        for row in rows[:4]:
            writer.write(pr.encode_example(row))
    table = arrow.read_table(tmp_path / "file")
    assert table.to_pydict() == {"x": [None, 1, None, 2], "y": [None, None, [1, 2], [3, 4]]}
    assert table.schema.field("y").type == pa.list_(pa.int64(), 2)


def test_a_feature_of_two_kinds_is_a_schema_error_that_says_where(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "_RECORDS", 2)
    for number, rows in enumerate([[{"x": 1}, {}, {"x": 2}], [{}, {"x": "a"}]]):
        with pr.TFRecordWriter(tmp_path / f"file-{number}") as writer:
            for row in rows:
                writer.write(pr.encode_example(row))
    with pytest.raises(pr.SchemaError, match=r"file-1: feature 'x': record 1: .*bytes.*int64"):
        arrow.read_table(f"{tmp_path}/file-*")


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
    monkeypatch.setattr(arrow, "_BYTES", 1 << 17)
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


WRAPPED = {
    "dictionary": (pa.array(["a", "b", None, "a"]).dictionary_encode(), [b"a", b"b", None, b"a"]),
    "null in a dictionary": (
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None])),
        [b"a", None, None],
    ),
    "runs": (pa.RunEndEncodedArray.from_arrays([2, 3], pa.array([7, None])), [7, 7, None]),
    "string_view": (pa.array(["a", None, "long enough to be elsewhere"], pa.string_view()), None),
    "binary_view": (pa.array([b"a", None, b"\0"], pa.binary_view()), None),
    "fixed_size_binary": (pa.array([b"abc", None, b"def"], pa.binary(3)), None),
    "list_view": (pa.array([[1], None, [], [2, 3]], pa.list_view(pa.int32())), None),
    "large_list_view": (pa.array([["a"], None, [], ["b"]], pa.large_list_view(pa.string())), None),
    "list of dictionary": (
        pa.array([["a"], None, [], ["b", "a"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
        None,
    ),
    "tensors": (
        pa.ExtensionArray.from_storage(
            pa.fixed_shape_tensor(pa.float32(), [2, 2]),
            pa.array([[1, 2, 3, 4]] * 3, pa.list_(pa.float32(), 4)),
        ),
        [[1.0, 2.0, 3.0, 4.0]] * 3,
    ),
    "items": (
        pa.array([[[1, 2]], [], [[3, 4], [5, 6]]], pa.list_(pa.list_(pa.int64(), 2))),
        [[1, 2], [], [3, 4, 5, 6]],
    ),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_values_are_found_in_whatever_holds_them(name, tmp_path):
    array, expected = WRAPPED[name]
    table = pa.table({"x": pa.chunked_array([array, array.slice(1), array.slice(0, 0)])})
    expected = array.to_pylist() if expected is None else expected
    arrow.write_table(table, tmp_path / "file")
    arrow.write_table(pa.table({"x": [*expected, *expected[1:]]}), tmp_path / "plain")
    assert (tmp_path / "file").read_bytes() == (tmp_path / "plain").read_bytes()
    column = arrow.from_arrow(table)["x"]
    rows = column.to_list() if isinstance(column, pr.Ragged) else column.tolist()
    assert len(rows) == 2 * len(array) - 1


REFUSED = [
    (pa.array([1, 2], pa.timestamp("us")), "timestamp"),
    (pa.array([1, 2], pa.date32()), "date32"),
    (pa.array([1, 2], pa.decimal128(5, 2)), "decimal"),
    (pa.array([{"a": 1}, None]), "flatten"),
    (pa.array([[1], [2, None]]), "a null in a list"),
    (pa.array([[[1]], [[2]]]), "lists in lists"),
    (pa.array([0, 2**63], pa.uint64()), "record 1: .*64 bits"),
    (pa.array([0.5, 0.1]), "record 1: .*round_floats"),
    (pa.array([0.5, 1e300]), "too large"),
    (pa.array([[0.5], [0.5, 0.1]]), "record 1: .*round_floats"),
]


@pytest.mark.parametrize(("column", "reason"), REFUSED, ids=lambda value: str(getattr(value, "type", "")))
def test_what_would_be_lost_is_an_error_and_leaves_no_file(column, reason, tmp_path):
    with pytest.raises(pr.EncodeError, match=reason) as caught:
        arrow.write_table(pa.table({"good": [1, 2], "bad": column}), tmp_path / "file")
    assert caught.value.feature == "bad"
    assert list(tmp_path.iterdir()) == []


def test_a_type_that_cannot_be_stored_is_refused_without_rows_too(tmp_path):
    sparse = arrow.to_arrow({"x": COLUMNS["sparse"]})
    for table in (pa.table({"x": pa.array([], pa.timestamp("s"))}), sparse, sparse.slice(0, 0)):
        with pytest.raises(pr.EncodeError, match="'x'"):
            arrow.write_table(table, tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_the_record_of_an_error_counts_from_the_first_row_of_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow, "_ROWS", 10)
    with pytest.raises(pr.EncodeError) as caught:
        arrow.write_table(pa.table({"x": pa.array([0] * 37 + [2**63], pa.uint64())}), tmp_path / "file")
    assert caught.value.record == 37


def test_floats_are_rounded_when_that_is_asked_for(tmp_path):
    arrow.write_table(pa.table({"x": [0.1, None]}), tmp_path / "file", round_floats=True)
    assert arrow.read_table(tmp_path / "file")["x"].to_pylist() == [np.float32(0.1), None]


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


# From there


@pytest.fixture
def animals(tmp_path):
    table = pa.table(
        {
            "legs": pa.array([4, 6, None]),
            "name": pa.array([b"cat", b"ant", b"snake"], pa.large_binary()),
            "spots": pa.array([[1, 2], [], [3]], pa.large_list(pa.int64())),
            "weight": pa.array([4.5, 0.25, 1.5], pa.float32()),
        }
    )
    arrow.write_table(table, tmp_path / "animals")
    assert arrow.read_table(tmp_path / "animals").equals(table)
    return tmp_path / "animals"


def test_pandas(animals, tmp_path):
    pd = interop("pandas")
    frame = arrow.read_table(animals).to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["name"].tolist() == [b"cat", b"ant", b"snake"]
    assert frame["legs"].isna().tolist() == [False, False, True]
    assert [list(row) for row in frame["spots"]] == [[1, 2], [], [3]]
    typed = arrow.read_table(animals).to_pandas(types_mapper=pd.ArrowDtype)
    assert typed["legs"].dtype == pd.ArrowDtype(pa.int64())
    arrow.write_table(pa.Table.from_pandas(typed, preserve_index=False), tmp_path / "again")
    assert arrow.read_table(tmp_path / "again").equals(arrow.read_table(animals))
    arrow.write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "again")
    # Integers with a NaN among them are floats in pandas.
    assert (
        arrow.read_table(tmp_path / "again")
        .cast(arrow.read_table(animals).schema)
        .equals(arrow.read_table(animals))
    )


def test_polars(animals, tmp_path):
    pl = interop("polars")
    frame = pl.from_arrow(arrow.read_table(animals))
    assert frame.schema == {
        "legs": pl.Int64,
        "name": pl.Binary,
        "spots": pl.List(pl.Int64),
        "weight": pl.Float32,
    }
    assert frame["legs"].to_list() == [4, 6, None]
    arrow.write_table(frame, tmp_path / "again")
    assert arrow.read_table(tmp_path / "again").equals(arrow.read_table(animals))
    assert arrow.from_arrow(frame)["spots"] == pr.Ragged([1, 2, 3], [0, 2, 2, 3])


def test_categories_of_polars_are_stored_as_what_they_name(tmp_path):
    pl = interop("polars")
    words = ["a", None, "b", "a"]
    frame = pl.DataFrame(
        {
            "category": pl.Series(words, dtype=pl.Categorical),
            "enum": pl.Series(words, dtype=pl.Enum(["b", "a"])),
            "list": pl.Series([["a"], [], ["b", "a"], None], dtype=pl.List(pl.Categorical)),
        }
    )
    arrow.write_table(frame, tmp_path / "file")
    assert arrow.read_table(tmp_path / "file").to_pydict() == {
        "category": [b"a", None, b"b", b"a"],
        "enum": [b"a", None, b"b", b"a"],
        "list": [[b"a"], [], [b"b", b"a"], None],
    }


def test_records_without_any_feature_are_rows_too(tmp_path):
    arrow.write_table(pa.table({"x": pa.nulls(3)}), tmp_path / "file")
    table = arrow.read_table(tmp_path / "file")
    assert (table.num_rows, table.num_columns) == (3, 0)


def test_duckdb(animals, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    table = arrow.read_table(animals)
    with duckdb.connect() as connection:
        connection.register("animals", table)
        assert connection.sql("select name from animals where legs > 4").fetchall() == [(b"ant",)]
        arrow.write_table(connection.sql("select * from animals"), tmp_path / "again")
    assert arrow.read_table(tmp_path / "again").equals(table)


def test_hugging_face_datasets(animals):
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset(arrow.read_table(animals))
    assert dataset[1] == {"legs": 6, "name": b"ant", "spots": [], "weight": 0.25}


# The documentation


def test_code_on_the_page_about_arrow_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "arrow.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|text)(?: arrow)?\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 8
    namespace: dict = {"__name__": "__main__"}
    output = ""
    for language, text in blocks:
        if language == "text":
            same(text, output)
            continue
        stdout = io.StringIO()
        with contextlib.redirect_stdout(stdout):
            exec(compile(text, "arrow.md", "exec"), namespace)
        output = stdout.getvalue()
