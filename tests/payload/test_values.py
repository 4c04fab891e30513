"""purerecord.payload.values: a caller's values as arrays and bytes, and the losses that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.errors import EncodeError
from purerecord.payload.values import (
    as_array,
    as_values,
    converted,
    filled,
    object_array,
    to_bytes,
    to_float32,
)


class Tensor:
    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if isinstance(self.array, Exception):
            raise self.array
        return self.array


def test_arrays_scalars_and_tensors_become_arrays() -> None:
    array = np.arange(3)
    assert as_array(array) is array
    assert as_array(Tensor(array)) is array
    assert as_array(np.float32(1.5)).shape == ()
    assert as_array(Tensor(np.float32(1.5))).dtype == np.float32


def test_a_mask_is_not_lost_in_silence() -> None:
    assert as_array(np.ma.array([1, 2])).tolist() == [1, 2]
    with pytest.raises(EncodeError, match="mask"):
        as_array(np.ma.array([1, 2], mask=[0, 1]), "f")


@pytest.mark.parametrize("value", [Tensor(RuntimeError("call detach() first")), object(), Tensor("text")])
def test_what_gives_no_array_is_an_encode_error(value: Any) -> None:
    with pytest.raises(EncodeError) as caught:
        as_array(value, "f")
    assert caught.value.feature == "f"


@given(st.lists(st.floats(), max_size=20))
def test_floats_are_rounded_or_refused(values: list[float]) -> None:
    array = np.array(values, np.float64)
    with np.errstate(over="ignore"):
        rounded = array.astype(np.float32)
    if (np.isinf(rounded) & np.isfinite(array)).any():
        with pytest.raises(EncodeError, match="float32"):
            to_float32(array)
    else:
        assert to_float32(array).tobytes() == rounded.tobytes()


def test_strings_are_stored_as_utf8() -> None:
    assert (
        to_bytes("é")
        == to_bytes(bytearray("é".encode()))
        == to_bytes(memoryview("é".encode()))
        == "é".encode()
    )
    with pytest.raises(EncodeError, match="UTF-8"):
        to_bytes("\ud800")


EDGES = [
    *(0, 1, -1, 255, 256, -128, -129, 2**24, 2**24 + 1, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)),
    *(2**63, 2**64 - 1, 0.5, -0.5, 1e10, 1e39, -1e39, 2.0**63, 2.0**64, -(2.0**63), np.inf, -np.inf, np.nan),
]
TYPES = [np.bool_, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64]


@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_converted_numbers_keep_their_value_or_are_refused(source, target):
    for edge in EDGES:
        with np.errstate(all="ignore"):
            try:
                value = np.array([edge]).astype(source)
            except OverflowError:
                continue
        try:
            kept = converted(value, target)[0]
        except ValueError:
            kept = None
        given = value[0].item()
        if np.dtype(source).kind == np.dtype(target).kind == "f":
            with np.errstate(over="ignore"):
                rounded = value.astype(target)[0]
            overflow = np.isinf(rounded) and not np.isinf(given)
            assert overflow if kept is None else np.array_equal(kept, rounded, equal_nan=True)
        elif kept is not None:
            assert kept.item() == given
            assert type(kept) is target
        else:
            assert not held(given, target)


def held(number, dtype):
    """Whether a number is one that ``dtype`` has."""
    if np.dtype(dtype).kind == "f":
        with np.errstate(over="ignore"):
            return int(number) == number and np.isfinite(dtype(number)) and int(dtype(number)) == number
    if not np.isfinite(number) or int(number) != number:
        return False
    return number in (0, 1) if dtype is np.bool_ else np.iinfo(dtype).min <= number <= np.iinfo(dtype).max


@pytest.mark.parametrize("values", [["a"], [b"a"], [1j], np.array(["2020"], "M8[Y]"), np.array([None])])
def test_what_is_no_number_cannot_become_one(values):
    with pytest.raises(TypeError, match="cannot become int64"):
        converted(np.asarray(values), np.int64)


def test_objects_stay_what_they_are_in_an_array() -> None:
    for items in ([b"x\0", b""], ["a", None], [[1], [2, 3]], []):
        array = object_array(items)
        assert (array.dtype, array.shape) == (object, (len(items),))
        assert array.tolist() == items


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([1, 2], np.int64), ([1, 2.5], np.float64), ([b"x\0"], object), (range(3), np.int64)],
)
def test_lists_become_arrays_of_the_same_values(values: Any, dtype: Any) -> None:
    array = as_values(values)
    assert array.dtype == dtype
    assert array.tolist() == list(values)


@pytest.mark.parametrize(
    ("dtype", "default", "expected"),
    [(np.int64, None, 0), (np.float32, 0.5, 0.5), (object, None, b""), (object, b"x\0", b"x\0")],
)
def test_new_array_is_full_of_its_default(dtype: Any, default: Any, expected: Any) -> None:
    assert filled((2, 1), np.dtype(dtype), default).tolist() == [[expected], [expected]]
