"""``tf.io``: tensors as bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import tf

NUMBERS = ["int8", "uint8", "int16", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64"]


@given(st.lists(st.binary(min_size=16, max_size=16), min_size=1, max_size=4), st.sampled_from(NUMBERS))
def test_decode_raw_is_numpys_frombuffer(strings: list[bytes], name: str) -> None:
    for little, order in ((True, "<"), (False, ">")):
        decoded = tf.io.decode_raw(strings, name, little_endian=little).numpy()
        expected = np.stack([np.frombuffer(string, np.dtype(name).newbyteorder(order)) for string in strings])
        assert decoded.dtype == np.dtype(name)
        assert decoded.tobytes() == expected.astype(name).tobytes()


@given(st.binary(max_size=9), st.integers(1, 9))
def test_fixed_length_cuts_or_fills_up(string: bytes, length: int) -> None:
    decoded = tf.io.decode_raw([string], tf.uint8, fixed_length=length).numpy()
    assert decoded.tobytes() == string[:length].ljust(length, b"\0")


VALUES: list[Any] = [5, 2.5, "text", b"\0", True, [[1, 2], [3, 4]], np.zeros((0, 3), np.uint8), ["a", ""]]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_tensor_comes_back_from_its_bytes(value: Any) -> None:
    tensor = tf.constant(value)
    again = tf.io.parse_tensor(tf.io.serialize_tensor(tensor), tensor.dtype)
    assert again.dtype == tensor.dtype
    assert (
        again.numpy().tolist() == tensor.numpy().tolist() if again.ndim else again.numpy() == tensor.numpy()
    )
