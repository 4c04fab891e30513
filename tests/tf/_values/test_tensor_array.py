"""``TensorArray``."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_elements_are_written_and_stacked():
    array = tf.TensorArray(tf.int32, 0, dynamic_size=True).write(0, 1).write(2, 3)
    assert array.stack().numpy().tolist() == [1, 0, 3]
    assert tf.TensorArray(tf.int32, 3).unstack([1, 2, 3]).gather([0, 2]).numpy().tolist() == [1, 3]
    assert tf.TensorArray(tf.int32, 2).split([1, 2, 3], [1, 2]).concat().numpy().tolist() == [1, 2, 3]


def test_element_is_read_once():
    array = tf.TensorArray(tf.int32, 1).write(0, 1)
    assert array.read(0).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 0 twice"):
        array.read(0)


def test_array_of_a_fixed_size_has_an_end():
    with pytest.raises(tf.errors.OutOfRangeError, match="not resizeable"):
        tf.TensorArray(tf.int32, 1).write(1, 1)
