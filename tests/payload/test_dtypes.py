"""The three types of an Example, whatever they are called, and constants of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from purerecord.payload.dtypes import array_dtype, as_dtype, constant, dtype_name, frozen


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (np.int64, np.int64),
        (np.dtype("int64"), np.int64),
        ("int64", np.int64),
        (int, np.int64),
        (np.float32, np.float32),
        ("float32", np.float32),
        (float, np.float32),
        (bytes, bytes),
        (str, bytes),
        ("string", bytes),
        ("bytes", bytes),
        (object, bytes),
        (np.bytes_, bytes),
        (np.dtype("S5"), bytes),
        (np.dtype("U"), bytes),
        (SimpleNamespace(name="string", as_numpy_dtype=object), bytes),  # a tf.DType
        (SimpleNamespace(name="int64", as_numpy_dtype=np.int64), np.int64),
    ],
)
def test_whatever_names_a_dtype_is_brought_into_one_form(given: Any, dtype: Any) -> None:
    assert as_dtype(given) is dtype
    assert as_dtype(as_dtype(given)) is dtype


def test_every_type_has_a_name_that_names_it() -> None:
    for dtype in (np.int64, np.float32, bytes):
        assert as_dtype(dtype_name(dtype)) is dtype
    assert dtype_name(np.int32) == "int32"  # of row splits
    assert [array_dtype(dtype) for dtype in (np.int64, np.float32, bytes)] == [np.int64, np.float32, object]


@drawn(st.floats() | st.integers())
def test_float_constants_are_rounded_and_integers_are_exact(value: Any) -> None:
    try:
        kept = constant(value, np.float32, ()).item()
    except ValueError:
        exact = float(np.float32(value)) == value if abs(value) < 1e38 else False
        assert not exact
        return
    if isinstance(value, int):
        assert kept == value
    else:
        assert np.array_equal(np.float32(kept), np.float32(value), equal_nan=True)
        assert np.isinf(kept) == np.isinf(value)


@drawn(st.integers())
def test_integer_constants_have_64_bits(value: int) -> None:
    if -(2**63) <= value < 2**63:
        assert constant(value, np.int64, ()).item() == value
    else:
        with pytest.raises(TypeError, match="is not a int64"):
            constant(value, np.int64, ())


@drawn(st.text() | st.text(st.characters(codec=None)))
def test_text_constants_are_utf8(value: str) -> None:
    try:
        expected = value.encode()
    except UnicodeEncodeError:
        with pytest.raises(ValueError, match="UTF-8"):
            constant(value, bytes, ())
        return
    assert constant(value, bytes, ()).item() == expected


def test_frozen_lists_are_tuples() -> None:
    assert frozen([1, [2, [3]], b"x"]) == (1, (2, (3,)), b"x")
    assert frozen(5) == 5
