"""purerecord.payload.encode.examples: the bytes are those that ``encode_example`` makes of each row."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord.errors import EncodeError
from purerecord.payload.encode.examples import encode_examples
from purerecord.payload.example import encode_example
from tests.support.settings import tries

INT64 = st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 300)
FLOAT32 = st.floats(width=32, allow_nan=False)
BYTES = st.binary(max_size=80)


def ragged(values, row_splits):
    return SimpleNamespace(values=values, row_splits=row_splits)


def rows_of(columns, count):
    """The rows of the columns, each as ``encode_example`` takes it; None is left out."""
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
    # Entries spill over what follows them. Whatever the columns, the bytes there must be written later.
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
        ({"a": [1, 2], "b": [1]}, "b", None),
        ({"\ud800": [1]}, "\ud800", None),
        ({}, None, None),
    ],
)
def test_names_and_rows_that_do_not_fit_are_an_error_that_says_where(columns, feature, record):
    with pytest.raises(EncodeError) as caught:
        encode_examples(columns)
    assert (caught.value.feature, caught.value.record) == (feature, record)


def test_record_that_no_message_can_hold_is_an_error_here_and_there():
    large = bytes(2**31)  # which is never touched
    with pytest.raises(EncodeError, match="2 GiB") as caught:
        encode_examples({"a": [b"", large]})
    assert caught.value.record == 1
    with pytest.raises(EncodeError, match=r"feature 'a': .* 2 GiB"):
        encode_example({"a": large})


def test_no_rows_give_no_records():
    assert len(encode_examples({"a": [], "b": np.empty((0, 3))})) == 0
