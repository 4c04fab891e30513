"""Columns to Examples: the bytes are those that ``encode_example`` makes of each row."""

from __future__ import annotations

import array
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord.errors import EncodeError
from purerecord.payload.encode.examples import encode_examples
from purerecord.payload.example import encode_example
from purerecord.payload.proto import BytesList, Feature
from purerecord.records import Records
from tests.support.interop import interop
from tests.support.settings import tries

INT64 = st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 300)
FLOAT32 = st.floats(width=32, allow_nan=False)
BYTES = st.binary(max_size=80)


def ragged(values, row_splits):
    return SimpleNamespace(values=values, row_splits=row_splits)


def rows_of(columns, count):
    """Row i of every column, as ``encode_example`` takes it; missing ones left out."""
    rows = []
    for i in range(count):
        row = {}
        for name, column in columns.items():
            if hasattr(column, "row_splits"):
                row[name] = column.values[column.row_splits[i] : column.row_splits[i + 1]]
            elif column[i] is not None:
                row[name] = column[i]
        rows.append(row)
    return rows


def check(columns, count):
    records = encode_examples(columns)
    assert list(records) == [encode_example(row) for row in rows_of(columns, count)]


@st.composite
def column(draw, count):
    form = draw(st.sampled_from(["scalars", "array", "ragged", "rows"]))
    values, dtype = draw(st.sampled_from([(INT64, np.int64), (FLOAT32, np.float32), (BYTES, object)]))
    if form == "scalars":
        return draw(st.lists(values, min_size=count, max_size=count))
    if form == "rows":
        row = st.none() | st.lists(values, max_size=4)
        return draw(st.lists(row, min_size=count, max_size=count))
    lengths = draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))
    if form == "array":
        lengths = [draw(st.integers(0, 3))] * count
    flat = np.empty(sum(lengths), dtype)
    flat[:] = draw(st.lists(values, min_size=len(flat), max_size=len(flat)))
    if form == "array":
        return flat.reshape(count, lengths[0] if lengths else 0)
    return ragged(flat, np.append(0, np.cumsum(lengths, dtype=np.int64)))


@st.composite
def tables(draw):
    count = draw(st.integers(0, 6))
    names = draw(st.lists(st.text(max_size=6), min_size=1, max_size=5, unique=True))
    return {name: draw(column(count)) for name in names}, count


@given(tables())
@settings(max_examples=tries(300))
def test_any_columns_give_the_bytes_of_their_rows(table):
    check(*table)


@pytest.mark.parametrize("bits", range(65))
def test_integers_of_every_size_beside_others(bits):
    value = min(2**bits, 2**63 - 1)
    values = [0, 1, value - 1, value, -value, -1, -(2**63)]
    check({"a": values, "b": [1] * 7, "c": values[::-1], "d": [0.5] * 7}, 7)


@pytest.mark.parametrize("length", [0, 1, 30, 100, 120, 127, 128, 16383, 16384])
def test_sizes_around_the_limits_of_their_varints(length):
    name = "n" * min(length, 200)
    columns = {
        name: [7] * 3,
        "s": [b"x" * length, b"", b"y"],
        "t": ragged(np.arange(length), [0, 0, length, length]),
    }
    check(columns, 3)
    check({"f": np.zeros((3, length), np.float32), "z": [1, 2, 3]}, 3)


def test_columns_of_all_forms_stand_side_by_side():
    rng = np.random.default_rng(0)
    count = 500
    lengths = rng.integers(0, 40, count)
    splits = np.append(0, np.cumsum(lengths))
    columns = {
        "int": rng.integers(-(2**63), 2**63 - 1, count) >> rng.integers(0, 64, count),
        "float": rng.random(count),
        "half": rng.random(count).astype(np.float16),
        "bool": rng.random(count) < 0.5,
        "byte": rng.integers(0, 256, count).astype(np.uint8),
        "vector": rng.random((count, 7), np.float32),
        "matrix": rng.integers(0, 9, (count, 2, 3)),
        "text": [f"row {i} é" for i in range(count)],
        "blob": [rng.bytes(int(size)) for size in rng.integers(0, 300, count)],
        "tokens": ragged(rng.integers(0, 50_000, splits[-1]), splits),
        "weights": ragged(rng.random(splits[-1], np.float32), splits),
        "some": [None if i % 3 else [i, -i] for i in range(count)],
        "empty": [[] for _ in range(count)],
        "zz": np.arange(count),
    }
    check(columns, count)


def test_payloads_are_not_changed_by_what_comes_before_them():
    # Each entry is written with some bytes to spare; every order of columns must overwrite them.
    names = ["a", "b", "c"]
    kinds = [
        [1, 300, -1],
        [1, 2**50, 300],
        [0.5, 1.5, 2.5],
        [b"x", b"yy", b""],
        [b"x" * 60, b"", b"y" * 30],
        [None, 5, None],
        [[], [2.5], []],
    ]
    for first in kinds:
        for second in kinds:
            for third in kinds:
                check(dict(zip(names, (first, second, third), strict=True)), 3)


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
        ({"a": [1, 2], "b": [1]}, "b", None),
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
        ({"\ud800": [1]}, "\ud800", None),
        ({}, None, None),
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


def test_record_that_no_message_can_hold_is_an_error_here_and_there():
    large = bytes(2**31)  # which is never touched
    with pytest.raises(EncodeError, match="2 GiB") as caught:
        encode_examples({"a": [b"", large]})
    assert caught.value.record == 1
    with pytest.raises(EncodeError, match=r"feature 'a': .* 2 GiB"):
        encode_example({"a": large})


def test_no_rows_give_no_records():
    assert len(encode_examples({"a": [], "b": np.empty((0, 3))})) == 0


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
