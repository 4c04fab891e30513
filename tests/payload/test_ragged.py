"""purerecord.payload.ragged: rows of different lengths, from any values and back."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.bytes_column import BytesColumn
from purerecord.payload.ragged import Ragged, concatenated
from purerecord.payload.sparse import Sparse
from purerecord.payload.values import object_array

ROWS = st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4), max_size=6)
BYTES_ROWS = st.lists(st.lists(st.binary(max_size=3), max_size=3), max_size=5)


def nested() -> Ragged:
    return Ragged(Ragged(np.arange(6), [0, 2, 2, 5, 6]), [0, 1, 1, 4])


@given(st.one_of(ROWS, BYTES_ROWS))
def test_rows_survive_the_way_to_ragged_and_back(rows: list[Any]) -> None:
    ragged = Ragged.from_rows(rows)
    assert ragged.to_list() == rows
    assert len(ragged) == len(rows)
    assert [list(row) for row in ragged] == rows
    assert pickle.loads(pickle.dumps(ragged)) == ragged


@given(ROWS, st.data())
def test_indexing_is_that_of_a_list(rows: list[Any], data: st.DataObject) -> None:
    ragged = Ragged.from_rows(rows, np.int64)
    bound = st.one_of(st.none(), st.integers(-8, 8))
    step = st.sampled_from([None, 1, 2, -1, -3])
    cut = slice(data.draw(bound), data.draw(bound), data.draw(step))
    assert ragged[cut].to_list() == rows[cut]
    if rows:
        picks = data.draw(st.lists(st.integers(-len(rows), len(rows) - 1), max_size=5))
        assert ragged[np.array(picks, int)].to_list() == [rows[i] for i in picks]
        assert [ragged[i].tolist() for i in picks] == [rows[i] for i in picks]
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
        assert ragged[mask].to_list() == [row for row, kept in zip(rows, mask, strict=True) if kept]
    with pytest.raises(IndexError):
        ragged[len(rows)]


@given(ROWS)
def test_dense_form_is_padded_at_the_end(rows: list[Any]) -> None:
    dense = Ragged.from_rows(rows, np.int64).to_dense(-5)
    width = max(map(len, rows), default=0)
    assert dense.shape == (len(rows), width)
    assert dense.tolist() == [row + [-5] * (width - len(row)) for row in rows]


def test_padding_of_bytes_is_empty_and_keeps_trailing_nuls() -> None:
    ragged = Ragged.from_rows([[b"a\0"], []])
    assert ragged.to_dense().tolist() == [[b"a\0"], [b""]]
    assert ragged.to_dense(b"x\0").tolist() == [[b"a\0"], [b"x\0"]]


def test_nested_ragged_reads_from_the_outside_in() -> None:
    ragged = nested()
    assert ragged.to_list() == [[[0, 1]], [], [[], [2, 3, 4], [5]]]
    assert ragged.shape == (3, None, None)
    assert ragged[2].to_list() == [[], [2, 3, 4], [5]]
    assert ragged[[2, 0]].to_list() == [[[], [2, 3, 4], [5]], [[0, 1]]]
    assert ragged.flat_values.tolist() == [0, 1, 2, 3, 4, 5]
    assert [splits.tolist() for splits in ragged.nested_row_splits] == [[0, 1, 1, 4], [0, 2, 2, 5, 6]]
    assert ragged.to_dense().shape == (3, 3, 3)
    assert ragged.to_dense()[2, 1].tolist() == [2, 3, 4]


def test_inner_dimensions_stay_dense() -> None:
    ragged = Ragged(np.arange(8).reshape(4, 2), [0, 1, 4])
    assert ragged.shape == (2, None, 2)
    assert ragged.to_list() == [[[0, 1]], [[2, 3], [4, 5], [6, 7]]]
    assert ragged.to_dense().shape == (2, 3, 2)
    assert ragged.row_lengths().tolist() == [1, 3]


@pytest.mark.parametrize(
    ("values", "splits", "error"),
    [
        ([1, 2], [0, 1], ValueError),
        ([1, 2], [1, 2], ValueError),
        ([1, 2], [0, 2, 1, 2], ValueError),
        ([1, 2], [], ValueError),
        ([1, 2], [[0, 2]], ValueError),
        ([1, 2], [0.0, 2.0], TypeError),
        (np.array(5), [0, 1], ValueError),
    ],
)
def test_splits_that_do_not_cut_the_values_are_refused(values: Any, splits: Any, error: Any) -> None:
    with pytest.raises(error):
        Ragged(values, splits)


def test_equality_looks_at_rows_and_not_at_the_width_of_splits() -> None:
    ragged = Ragged([1, 2], np.array([0, 1, 2], np.int32))
    assert ragged == Ragged([1, 2], [0, 1, 2])
    assert ragged != Ragged([1, 2], [0, 2, 2])
    assert ragged != Ragged([1, 3], [0, 1, 2])
    assert nested() == nested()
    assert nested() != Ragged(np.arange(4), [0, 1, 1, 4])
    assert ragged != [[1], [2]]


def test_ragged_is_frozen_and_not_hashable() -> None:
    with pytest.raises(FrozenInstanceError):
        nested().values = np.arange(3)  # type: ignore[misc]
    with pytest.raises(TypeError):
        hash(nested())


def test_repr_is_short_and_says_what_it_is() -> None:
    assert repr(Ragged([1, 2, 3], [0, 2, 2, 3])) == "<Ragged (3, None) int64: [[1, 2], [], [3]]>"
    long = Ragged(np.arange(10**5), np.arange(0, 10**5 + 1, 1000))
    assert repr(long).startswith("<Ragged (100, None) int64: [[0, 1, 2, 3, 4, 5, ...], ")
    assert len(repr(long)) < 300
    assert len(repr(Ragged.from_rows([[b"x" * 10**6]]))) < 200


ROWS_WITH_A_LOSS = {
    "integers that only floats hold together": [[1], [2**63]],
    "negative ones too": [[-1, 2**63]],
    "an integer that a float beside it rounds": [[2**53 + 1, 0.5]],
    "in another row": [[2**53 + 1], [0.5]],
    "numpy's": [np.array([2**53 + 1]), np.array([0.5])],
    "more than 64 bits": [[2**64]],
    "numbers and strings": [[1, b"x"]],
    "numbers and strings in rows": [[1], [b"x"]],
    "lists in lists": [[[1], [2, 3]]],
    "nothing": [[None]],
}


@pytest.mark.parametrize("title", ROWS_WITH_A_LOSS)
def test_rows_that_no_dtype_holds_are_refused(title: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        Ragged.from_rows(ROWS_WITH_A_LOSS[title])


@pytest.mark.parametrize(
    ("rows", "dtype", "fits"),
    [
        ([[1], [2**63]], np.uint64, True),
        ([[1.0], [2.0]], np.int64, True),
        ([[0.1]], np.float32, True),
        ([[2**24]], np.float32, True),
        ([[np.nan, np.inf]], np.float32, True),
        ([[1, 0]], bool, True),
        ([[1.5]], np.int64, False),
        ([[np.nan]], np.int64, False),
        ([[2.0**63]], np.int64, False),
        ([[2**63]], np.int64, False),
        ([[-1]], np.uint64, False),
        ([[300]], np.uint8, False),
        ([[2**24 + 1]], np.float32, False),
        ([[2**63 - 1]], np.float64, False),
        ([[1e39]], np.float32, False),
    ],
)
def test_dtype_of_the_rows_must_hold_them(rows: Any, dtype: Any, fits: bool) -> None:
    if fits:
        assert Ragged.from_rows(rows, dtype).dtype == dtype
        assert Ragged.from_rows(rows, dtype) == Ragged.from_rows(
            [np.array(row, dtype) for row in rows]
        ) or np.isnan(rows[0][0])
        return
    with pytest.raises(ValueError, match="does not fit"):
        Ragged.from_rows(rows, dtype)


@pytest.mark.parametrize("rows", [[1, 2], ["ab"], [b"ab"], [None]])
def test_row_is_no_single_value(rows: Any) -> None:
    with pytest.raises(TypeError, match="values must be a list or an array of them, not a "):
        Ragged.from_rows(rows)
    with pytest.raises(TypeError, match="values must be"):
        Ragged(rows[0], [0])


@pytest.mark.parametrize("dtype", [bytes, str, object])
def test_strings_are_objects_however_they_are_called(dtype: Any) -> None:
    assert Ragged.from_rows([[b"a\0"], []], dtype).to_list() == [[b"a\0"], []]
    assert Ragged.from_rows([[]], dtype).dtype == object


def test_nobody_can_change_the_splits() -> None:
    splits = np.array([0, 1, 3])
    ragged = Ragged(np.arange(3), splits)
    splits[1] = 99
    assert ragged.to_list() == [[0], [1, 2]]
    with pytest.raises(ValueError, match="read-only"):
        ragged.row_splits[1] = 99
    ragged.values[0] = 7  # values are data, and yours
    assert ragged.to_list() == [[7], [1, 2]]


@pytest.mark.parametrize(
    ("column", "default", "error"),
    [
        (Ragged([1, 2, 3], [0, 2, 3]), 0.5, ValueError),
        (Ragged([1, 2, 3], [0, 2, 3]), float("nan"), ValueError),
        (Ragged([1, 2, 3], [0, 2, 3]), 2**63, ValueError),
        (Ragged([1, 2, 3], [0, 2, 3]), b"x", TypeError),
        (Ragged(np.float32([1, 2, 3]), [0, 2, 3]), 1e39, ValueError),
        (Ragged([b"a", b"b", b"c"], [0, 2, 3]), 0, TypeError),
        (Sparse([[0, 0]], [1], (1, 2)), 0.5, ValueError),
    ],
)
def test_padding_that_the_dtype_cannot_hold_is_refused(column: Any, default: Any, error: Any) -> None:
    with pytest.raises(error):
        column.to_dense(default)


def test_padding_may_be_anything_that_the_dtype_holds() -> None:
    assert Ragged([1, 2, 3], [0, 2, 3]).to_dense(5.0).tolist() == [[1, 2], [3, 5]]
    assert Ragged([0.5, 2, 3], [0, 2, 3]).to_dense(-1).tolist() == [[0.5, 2], [3, -1]]
    assert Ragged([True, True, True], [0, 2, 3]).to_dense().tolist() == [[True, True], [True, False]]
    assert Ragged(np.array(["a", "b", "c"]), [0, 2, 3]).to_dense().tolist() == [["a", "b"], ["c", ""]]


# --- Missing rows -----------------------------------------------------------------------------------


def optional() -> Ragged:
    """Rows that are filled, empty, missing, untyped, filled."""
    missing, untyped = [False, False, True, True, False], [False, False, False, True, False]
    return Ragged([1, 2, 3], [0, 2, 2, 2, 2, 3], missing, untyped)


def masks(ragged: Ragged) -> list[Any]:
    return [None if mask is None else mask.tolist() for mask in (ragged.missing, ragged.untyped)]


def test_a_missing_row_looks_empty_and_is_marked() -> None:
    assert optional().to_list() == [[1, 2], [], [], [], [3]]
    assert repr(optional()) == "<Ragged (5, None) int64: [[1, 2], [], [], [], [3]], 2 missing (1 untyped)>"
    assert repr(Ragged([1], [0, 0, 1], [True, False])) == "<Ragged (2, None) int64: [[], [1]], 1 missing>"
    assert optional().to_dense().tolist() == [[1, 2], [0, 0], [0, 0], [0, 0], [3, 0]]


@pytest.mark.parametrize(
    ("key", "missing", "untyped"),
    [
        (slice(1, 3), [False, True], None),
        (slice(None, None, -1), [False, True, True, False, False], [False, True, False, False, False]),
        (slice(0, 2), None, None),
        ([3, 0, 3], [True, False, True], [True, False, True]),
        (np.array([False, False, True, False, True]), [True, False], None),
    ],
)
def test_chosen_rows_stay_missing(key: Any, missing: Any, untyped: Any) -> None:
    assert masks(optional()[key]) == [missing, untyped]


def test_missing_rows_survive_pickling_and_joining() -> None:
    assert pickle.loads(pickle.dumps(optional())) == optional()
    joined = concatenated([optional(), Ragged([7], [0, 1]), optional()])
    assert joined.to_list() == [*optional().to_list(), [7], *optional().to_list()]
    missing, untyped = masks(optional())
    assert masks(joined) == [[*missing, False, *missing], [*untyped, False, *untyped]]
    nest = Ragged(optional(), [0, 2, 5], [False, False])
    assert masks(nest) == [None, None]
    assert masks(concatenated([nest, nest]).values) == masks(concatenated([optional(), optional()]))  # type: ignore[arg-type]


def test_equal_columns_lack_the_same_rows() -> None:
    plain = Ragged([1, 2, 3], [0, 2, 2, 2, 2, 3])
    assert optional() == optional()
    assert optional() != plain
    assert plain != optional()
    assert optional() != Ragged(plain.values, plain.row_splits, optional().missing)
    assert Ragged([1], [0, 1], [False], [False]) == Ragged([1], [0, 1])


@pytest.mark.parametrize(
    ("missing", "untyped", "match"),
    [
        ([True, False], None, "a row with values cannot be missing"),
        ([False, True], [False, True, False], "untyped must be a mask of 2 booleans"),
        ([0, 1], None, "missing must be a mask of 2 booleans"),
        (None, [False, True], "must be missing, too"),
        ([False, False], [False, True], "must be missing, too"),
    ],
)
def test_masks_that_contradict_the_rows_are_refused(missing: Any, untyped: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Ragged([5], [0, 1, 1], missing, untyped)


def test_nobody_can_change_the_masks() -> None:
    missing = np.array([False, True])
    ragged = Ragged([5], [0, 1, 1], missing)
    missing[:] = False
    assert masks(ragged) == [[False, True], None]
    with pytest.raises(ValueError, match="read-only"):
        ragged.missing[0] = True  # type: ignore[index]


# --- Cut and padded rows ----------------------------------------------------------------------------

BOUNDS = st.none() | st.integers(-4, 4)


@given(st.lists(st.lists(st.integers(0, 9), max_size=3)), st.slices(5), BOUNDS, BOUNDS)
def test_a_second_slice_cuts_every_row_as_it_cuts_a_list(rows, chosen, start, stop):
    for dtype in (np.int64, np.int32):
        ragged = Ragged.from_rows(rows, np.int64)
        cut = Ragged(ragged.values, ragged.row_splits.astype(dtype))[chosen, start:stop]
        assert cut.to_list() == [row[start:stop] for row in rows[chosen]]
        assert cut.row_splits.dtype == dtype


def test_rows_are_cut_whatever_they_hold():
    items = Ragged(np.arange(8).reshape(4, 2), [0, 3, 4])
    assert items[:, 1:].to_list() == [[[2, 3], [4, 5]], []]
    nested = Ragged(Ragged([1, 2, 3], [0, 2, 2, 3]), [0, 2, 3])
    assert nested[:, :1].to_list() == [[[1, 2]], [[3]]]
    words = Ragged(object_array([b"a", b"b", b"c"]), [0, 2, 3])
    assert words[[1, 0], :1].to_list() == [[b"c"], [b"a"]]
    assert words[np.array([True, False]), -1:].to_list() == [[b"b"]]
    assert words[0, :1].tolist() == [b"a"]
    assert words[-1, 1:].tolist() == []


def test_cut_rows_stay_missing_or_not():
    cut = optional()[:, :0]
    assert cut.missing.tolist() == optional().missing.tolist()
    assert cut.untyped.tolist() == optional().untyped.tolist()


@pytest.mark.parametrize("part", [0, [0], slice(None, None, 2), None, ..., slice("a", None)])
def test_rows_are_cut_by_slices_only(part):
    with pytest.raises(TypeError):
        Ragged([1, 2], [0, 2])[:, part]
    with pytest.raises(TypeError, match=r"ragged\[:, :512\]"):
        Ragged([1, 2], [0, 2])[:, :1, :1]


def test_padding_to_a_length():
    ragged = Ragged([1, 2, 3], [0, 2, 2, 3])
    assert ragged.to_dense(length=3).tolist() == [[1, 2, 0], [0, 0, 0], [3, 0, 0]]
    assert ragged.to_dense(-1, length=2).tolist() == [[1, 2], [-1, -1], [3, -1]]
    assert Ragged([], [0]).to_dense(length=4).shape == (0, 4)
    assert ragged[:, :1].to_dense(length=1).tolist() == [[1], [0], [3]]
    with pytest.raises(ValueError, match=r"row 0 has 2 values; cut the rows first: ragged\[:, :1\]"):
        ragged.to_dense(length=1)
    with pytest.raises(ValueError, match="length"):
        Ragged([], [0, 0]).to_dense(length=-1)


def test_text_is_padded_with_text():
    assert Ragged(object_array(["a", "b"]), [0, 2, 2]).to_dense().tolist() == [["a", "b"], ["", ""]]


# --- Bytes columns ----------------------------------------------------------------------------------


@given(st.lists(st.lists(st.binary(max_size=4), max_size=4), max_size=6), st.data())
def test_a_bytes_column_as_values_is_as_good_as_an_array(rows, data):
    array = Ragged.from_rows(rows, bytes)
    column = Ragged(BytesColumn.of([string for row in rows for string in row]), array.row_splits)
    assert column == array == column
    assert (column.shape, column.dtype, column.to_list()) == (array.shape, array.dtype, rows)
    assert isinstance(column.flat_values, BytesColumn)
    assert np.array_equal(column.to_dense(b"-"), array.to_dense(b"-"))
    assert [list(row) for row in column] == rows
    key = data.draw(st.slices(len(rows)))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), bool)
    for chosen in (key, mask, (slice(None), slice(1, 3))):
        assert isinstance(column[chosen].values, BytesColumn)
        assert column[chosen] == array[chosen]
    assert repr(column) == repr(array)
    assert pickle.loads(pickle.dumps(column)) == array
    for other in (column, array):
        assert concatenated([column, other]).to_list() == rows + rows
    nested = Ragged(column, [0, len(rows)])
    assert nested == Ragged(array, [0, len(rows)])
    assert nested.flat_values is column.values
