"""Columns to Arrow arrays: the types, the memory that they share, and columns that Arrow cannot hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from tests.support.arrow_tables import COLUMNS, objects, same_column
from tests.support.interop import interop

pa = interop("pyarrow")
from purerecord import arrow  # noqa: E402 - needs pyarrow


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


@given(st.lists(st.binary(max_size=6), max_size=9), st.slices(9), st.booleans())
def test_a_bytes_column_becomes_large_binary(strings, chosen, ragged):
    column = pr.BytesColumn.of(strings)[chosen]
    columns = {"x": pr.Ragged(column, [0, len(column)]) if ragged else column}
    table = arrow.to_arrow(columns)
    table.validate(full=True)
    expected = strings[chosen]
    assert table["x"].to_pylist() == ([expected] if ragged else expected)
    assert table["x"].type == (pa.large_list(pa.large_binary()) if ragged else pa.large_binary())
    again = arrow.from_arrow(table, bytes_columns=True)["x"]
    assert (again.values if ragged else again) == column


def test_a_bytes_column_without_gaps_shares_its_memory_both_ways():
    column = pr.BytesColumn.of([b"one", b"", b"three"])
    table = arrow.to_arrow({"x": column})
    array = table["x"].chunk(0)
    assert array.buffers()[2].address == pa.py_buffer(column.buffer).address
    again = arrow.from_arrow(table.slice(1), bytes_columns=["x"])["x"]
    assert again == [b"", b"three"]
    assert pa.py_buffer(again.buffer).address == array.buffers()[2].address
    assert isinstance(arrow.from_arrow(table)["x"], np.ndarray)
