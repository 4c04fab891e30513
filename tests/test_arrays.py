"""purerecord.arrays: what every encoder does with a caller's values first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.arrays import as_array, to_bytes, to_float32
from purerecord.errors import EncodeError


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
