"""The dtype that TensorFlow chooses for a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from purerecord.tf._values.convert import to_array
from purerecord.tf.dtypes import float32, int8, int64, string

CHOSEN: list[tuple[Any, str]] = [
    (1, "int32"),
    (2**31, "int64"),
    ([1, 2**40], "int64"),
    (1.5, "float32"),
    ([1, 2.5], "float32"),
    (True, "bool"),
    (1j, "complex128"),
    ([], "float32"),
    (np.float64(1.5), "float64"),
    (np.arange(2, dtype=np.uint8), "uint8"),
    (range(3), "int32"),
    (bytearray(b"ab"), "int32"),
]


@pytest.mark.parametrize(("value", "name"), CHOSEN, ids=repr)
def test_dtype_is_tensorflows_choice(value: Any, name: str) -> None:
    assert to_array(value).dtype.name == name


def test_text_becomes_bytes_and_keeps_zero_bytes() -> None:
    array = to_array(["é", b"a\0"])
    assert array.dtype == object
    assert array.tolist() == ["é".encode(), b"a\0"]
    assert to_array(np.array(["a", "bc"])).tolist() == [b"a", b"bc"]


REFUSED: list[tuple[Any, Any, type[Exception], str]] = [
    ([[1], [2, 3]], None, ValueError, "non-rectangular"),
    ([1, [2]], None, ValueError, "mixed types"),
    ([1, "a"], None, ValueError, "mixed types"),
    ([True, 1], None, ValueError, "mixed types"),
    (2**70, None, ValueError, "out-of-range integer"),
    (1e300, None, ValueError, "out of range"),
    (None, None, ValueError, "unsupported type"),
    ({"a": 1}, None, ValueError, "unsupported type"),
    (1.5, int64, TypeError, "dtype int64"),
    ("a", float32, TypeError, "dtype float32"),
    (1, string, TypeError, "dtype string"),
    (np.zeros(1, "M8[s]"), None, ValueError, "NPY_DATETIME"),
]


@pytest.mark.parametrize(("value", "dtype", "error", "text"), REFUSED, ids=repr)
def test_what_tensorflow_refuses_is_refused(
    value: Any, dtype: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        to_array(value, dtype)


def test_integers_that_do_not_fit_lose_their_upper_bits() -> None:
    assert to_array([257, -129], int8).tolist() == [1, 127]


def test_array_is_a_copy() -> None:
    array = np.arange(3)
    to_array(array)[0] = 9
    assert array[0] == 0
