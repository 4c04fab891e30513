"""purerecord.payload.encode.cells: every form of a column, and an error that names the record at fault."""

from __future__ import annotations

import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord.bytes_column import BytesColumn
from purerecord.errors import EncodeError
from purerecord.payload.encode.cells import as_cells
from purerecord.payload.encode.examples import encode_examples
from purerecord.payload.example import encode_example
from purerecord.payload.proto import BytesList, Feature
from purerecord.payload.ragged import Ragged
from purerecord.payload.wire import ABSENT, BYTES, FLOAT, INT64, UNSET
from purerecord.records import Records
from tests.payload.encode.test_examples import check, ragged
from tests.support.interop import interop
from tests.support.settings import tries


@pytest.mark.parametrize(
    ("columns", "feature", "record"),
    [
        ({"a": [2**63]}, "a", 0),
        ({"a": [1, 2, -(2**63) - 1]}, "a", 2),
        ({"a": np.array([1, 2**63], np.uint64)}, "a", 1),
        ({"a": [1, "x"]}, "a", 1),
        ({"a": [1.0, 1e39]}, "a", 1),
        ({"a": np.array([[1.0, 2.0], [3.0, 1e39]])}, "a", 1),
        ({"a": [0.5, 2**24 + 1]}, "a", 1),
        ({"a": [[2**63 - 1, 5], [0.5]]}, "a", 0),
        ({"a": [[0.5], None, ["x"]]}, "a", 2),
        ({"a": ["x", "\ud800"]}, "a", 1),
        ({"a": np.array(["x", "\ud800"])}, "a", 1),
        ({"a": np.array([["x"], ["\ud800"]], object)}, "a", 1),
        ({"a": ragged(np.array([1, 2, 2**63], np.uint64), [0, 1, 1, 3])}, "a", 2),
        ({"a": ragged(np.array([[1.0], [1e39]]), [0, 0, 2])}, "a", 1),
        ({"a": ragged(["x", "y", 5], [0, 1, 1, 3])}, "a", 2),
        ({"a": ragged(np.arange(3), [0.0, 3.0])}, "a", None),
        ({"a": None}, "a", None),
        ({"a": {1, 2}}, "a", None),
        ({"a": (value for value in [1, 2])}, "a", None),
        ({"a": 5}, "a", None),
        ({"a": "text"}, "a", None),
        ({"a": np.array(5)}, "a", None),
        ({"a": np.zeros(2, "datetime64[s]")}, "a", None),
        ({"a": [object()]}, "a", 0),
        ({"a": [1, [2, [3]]]}, "a", 1),
        ({"a": np.array([b"x", 1], object)}, "a", 1),
        ({"a": ragged(np.arange(3), [0, 2])}, "a", None),
        ({"a": ragged(np.arange(3), [0, 2, 1, 3])}, "a", None),
        ({"a": ragged(ragged(np.arange(3), [0, 3]), [0, 1])}, "a", None),
    ],
)
def test_what_cannot_be_stored_is_an_error_that_says_where(columns, feature, record):
    with pytest.raises(EncodeError) as caught:
        encode_examples(columns)
    assert (caught.value.feature, caught.value.record) == (feature, record)


NUMPY_2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


COLUMNS = {
    "range": range(3),
    "array of the standard library": array.array("h", [1, 2, 3]),
    "tuple": (1, 2, 3),
    "Records": Records.of([b"a", b"b", b"c"]),
    "objects": np.array([1, None, 3], object),
    "strings of any length": np.array(["a", "é", ""], np.dtypes.StringDType()) if NUMPY_2 else ["a", "é", ""],
    "missing strings": np.array(["a", None, "b"], np.dtypes.StringDType(na_object=None))
    if NUMPY_2
    else ["a", None, "b"],
    "rows of every form": [1, [2, 3], np.array([4, 5])],
    "messages": [Feature(bytes_list=BytesList(value=[b"x"])), Feature(), BytesList(value=[b"y", b""])],
    "booleans and integers": [True, 2, [False]],
    "objects in a Ragged": ragged(np.array([1, 2, 3], object), [0, 1, 2, 3]),
    "a list in a Ragged": ragged(["a", b"b", "c"], [0, 1, 2, 3]),
    "rows of a matrix of objects": np.array([[1, 2], [3, 4], [5, 6]], object),
}


@pytest.mark.parametrize("title", COLUMNS)
def test_what_encode_example_takes_as_a_value_may_be_a_row(title):
    check({"a": COLUMNS[title], "b": [1, 2, 3]}, 3)


@pytest.mark.parametrize(
    ("column", "rows"),
    [
        ([1, 2.5], [1.0, 2.5]),
        ([[1, 2], [0.5], 3, None, []], [[1.0, 2.0], [0.5], 3.0, None, []]),
        (np.array([1, 0.5], object), [1.0, 0.5]),
        ([np.int8(1), np.float16(0.5)], [1.0, 0.5]),
        (ragged(np.array([1, 0.5, 2], object), [0, 1, 3]), [[1.0], [0.5, 2.0]]),
        ([np.empty(0, np.int64), 0.5], [np.empty(0, np.float32), 0.5]),
    ],
)
def test_integers_beside_floats_become_floats_as_in_one_list(column, rows):
    assert list(encode_examples({"a": column})) == [
        encode_example({} if row is None else {"a": row}) for row in rows
    ]


def test_small_types_of_ml_dtypes_are_stored_as_in_rows():
    ml_dtypes = interop("ml_dtypes")
    check({"a": np.array([1, -2], ml_dtypes.int4), "b": np.array([1.5, 2], ml_dtypes.bfloat16)}, 2)


VALUES = st.one_of(
    st.none(),
    st.integers(-(2**64), 2**64),
    st.booleans(),
    st.floats(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.sampled_from(
        [np.int8(3), np.float16(1.5), np.uint64(2**63), np.bool_(1), np.array(7), np.array([1.5, 2])]
    ),
    st.sampled_from(
        ["\ud800", 1j, object(), {}, range(3), (), [[1], [2, 3]], np.empty((0, 2)), np.array(["a"])]
    ),
    st.lists(st.integers(-5, 5) | st.floats(width=16) | st.just("x"), max_size=3),
)


@given(st.lists(VALUES, min_size=1, max_size=6))
@settings(max_examples=tries(400))
def test_rows_are_taken_or_refused_as_encode_example_does(rows):
    alone = [None if row is None else encoded(row) for row in rows]
    errors = [place for place, one in enumerate(alone) if isinstance(one, EncodeError)]
    kinds = {one[9] for one in alone if isinstance(one, bytes) and one[8]}  # of the list, where there is one
    together = encoded(rows, lambda column: list(encode_examples(column)))
    if errors:
        assert together.record == errors[0]
        assert together.reason == alone[errors[0]].reason
    elif len(kinds) <= 1:
        assert together == [encode_example({}) if one is None else one for one in alone]
    elif kinds == {0x12, 0x1A}:
        assert isinstance(together, list) or "exact as float32" in together.reason
    else:
        assert "different kinds" in together.reason


def encoded(value, encode=encode_example):
    try:
        return encode({"f": value})
    except EncodeError as error:
        return error


@pytest.mark.parametrize(
    ("column", "kind", "values", "counts", "kinds"),
    [
        ([1, 2], INT64, [1, 2], [1, 1], None),
        ([[0.5], [], [1, 2.5]], FLOAT, [0.5, 1.0, 2.5], [1, 0, 2], [FLOAT, UNSET, FLOAT]),
        ([b"x", None], BYTES, [b"x"], [1, 0], [BYTES, ABSENT]),
        (np.arange(6).reshape(2, 3), INT64, [0, 1, 2, 3, 4, 5], [3, 3], None),
        (ragged(np.arange(3), [0, 1, 1, 3]), INT64, [0, 1, 2], [1, 0, 2], None),
        (
            Ragged([1], [0, 0, 1, 1, 1], [False, False, True, True], [False, False, False, True]),
            *(INT64, [1], [0, 1, 0, 0], [INT64, INT64, ABSENT, UNSET]),
        ),
        ([None, []], UNSET, [], [0, 0], [ABSENT, UNSET]),
    ],
)
def test_cells_are_flat_values_and_their_number_in_each_record(column, kind, values, counts, kinds):
    cells = as_cells("a", column)
    assert (cells.kind, list(cells.values), cells.counts.tolist()) == (kind, values, counts)
    assert (None if cells.kinds is None else cells.kinds.tolist()) == kinds
    assert as_cells("a", cells) is cells


@given(st.lists(st.binary(max_size=90), min_size=1, max_size=9), st.booleans())
def test_a_bytes_column_is_encoded_as_the_list_of_its_strings(strings, spread):
    column = (
        BytesColumn.of([part for string in strings for part in (string, b"gap")])[::2] if spread else None
    )
    column = BytesColumn.of(strings) if column is None else column
    assert encode_examples({"x": column}) == encode_examples({"x": strings})
    assert encode_examples({"x": column}, floats="exact") == encode_examples({"x": strings})
    splits = [0, 0, len(strings)]
    rows = [[], strings]
    missing = [True, False]
    expected = encode_examples({"x": [None, rows[1]]})
    assert encode_examples({"x": Ragged(column, splits, missing)}) == expected
