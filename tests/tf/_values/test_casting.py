"""``tf.cast`` and ``tf.saturate_cast``."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord import tf


def test_fractions_are_cut_off_and_integers_wrap_around() -> None:
    assert tf.cast([1.9, -1.9], tf.int32).numpy().tolist() == [1, -1]
    assert tf.cast([256, 257], tf.uint8).numpy().tolist() == [0, 1]
    assert tf.cast([0, 2], tf.bool).numpy().tolist() == [False, True]
    assert tf.cast(1 + 2j, tf.float32).numpy() == 1


def test_saturate_cast_stays_at_the_ends_of_the_range() -> None:
    assert tf.saturate_cast([-1.0, 300.0], tf.uint8).numpy().tolist() == [0, 255]


def test_ragged_and_sparse_tensors_keep_their_form() -> None:
    ragged = tf.cast(tf.ragged.constant([[1], []]), tf.float32)
    assert (ragged.dtype, ragged.to_list()) == (tf.float32, [[1.0], []])
    sparse = tf.cast(tf.SparseTensor([[1]], [5], [2]), tf.int64)
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [0, 5]


def test_equal_dtype_gives_the_tensor_itself_and_strings_are_refused() -> None:
    tensor = tf.constant([1])
    assert tf.cast(tensor, tf.int32) is tensor
    assert tf.to_int64(tensor).dtype is tf.int64
    with pytest.raises(tf.errors.UnimplementedError, match="Cast string to float"):
        tf.cast("1", tf.float32)


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (np.float32(3e9), tf.int32, 2147483520),  # the greatest float32 below 2 ** 31
        (np.float32(-3e9), tf.int32, -(2**31)),
        (np.float64(1e30), tf.int64, 2**63 - 1024),
        (np.float64(np.inf), tf.float32, np.finfo(np.float32).max),
        (np.float32(-np.inf), tf.float32, np.finfo(np.float32).min),
        (np.float16(np.inf), tf.uint32, 65504),
        (np.int32(2**30), tf.float16, 65504),
        (np.complex64(300 + 2j), tf.uint8, 255),
    ],
)
def test_value_out_of_range_becomes_the_nearest_that_both_types_have(value, dtype, expected) -> None:
    assert tf.saturate_cast(value, dtype).numpy() == expected
