"""New tensors: ``tf.zeros``, ``tf.range``, ``tf.one_hot`` and others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import tf


def test_zeros_and_ones_have_the_shape_and_dtype() -> None:
    assert tf.zeros([2], tf.string).numpy().tolist() == [b"", b""]
    assert tf.ones((2, 1), tf.int8).numpy().tolist() == [[1], [1]]
    like = tf.zeros_like(tf.constant([[1.5]]))
    assert (like.shape, like.dtype) == ((1, 1), tf.float32)
    assert tf.fill([2, 2], "x").numpy().tolist() == [[b"x", b"x"]] * 2
    assert tf.eye(2, batch_shape=[3]).shape == (3, 2, 2)


@given(st.integers(-20, 20), st.integers(0, 20), st.integers(1, 5))
def test_range_is_pythons(start: int, length: int, step: int) -> None:
    stop = start + length
    assert tf.range(start, stop, step).numpy().tolist() == list(range(start, stop, step))
    assert tf.range(stop, start, -step).numpy().tolist() == list(range(stop, start, -step))


def test_range_takes_the_widest_dtype_and_refuses_the_wrong_direction() -> None:
    assert tf.range(3.0).dtype is tf.float32
    assert tf.range(3, dtype=tf.int64).dtype is tf.int64
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requires start <= limit"):
        tf.range(3, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="delta != 0"):
        tf.range(0, 1, 0)


def test_one_hot_puts_the_value_at_the_index() -> None:
    assert tf.one_hot([1, 5], 3).numpy().tolist() == [[0, 1, 0], [0, 0, 0]]
    assert tf.one_hot([1], 2, "yes", "no").numpy().tolist() == [[b"no", b"yes"]]
    assert tf.one_hot([0, 1], 3, axis=0).shape == (3, 2)


def test_linspace_includes_both_ends() -> None:
    assert np.allclose(tf.linspace(0.0, 1.0, 5), [0, 0.25, 0.5, 0.75, 1])


def test_values_of_one_hot_are_scalars_of_one_dtype() -> None:
    assert tf.one_hot([1], 2, on_value=5, off_value=2).numpy().tolist() == [[2, 5]]
    for on, off in ((1.0, 0), (1, 0.0), (True, 0)):
        with pytest.raises(TypeError, match="of on_value does not match dtype"):
            tf.one_hot([1], 2, on_value=on, off_value=off)
    with pytest.raises(tf.errors.InvalidArgumentError, match="off_value must be a scalar"):
        tf.one_hot([1], 2, on_value=1, off_value=[0, 0])
