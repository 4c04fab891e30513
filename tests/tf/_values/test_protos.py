"""Tensors as messages and back."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord import tf


@pytest.mark.parametrize("values", [5, [1, 2], [1.5], ["a", "b"], [True], [[1], [2]], 1 + 2j, []])
def test_values_come_back(values):
    message = tf.make_tensor_proto(values)
    assert np.array_equal(tf.make_ndarray(message), tf.constant(values).numpy())


def test_last_value_stands_for_the_rest_of_the_shape():
    assert tf.make_ndarray(tf.make_tensor_proto([1, 2], shape=[4])).tolist() == [1, 2, 2, 2]
    with pytest.raises(ValueError, match="Too many elements"):
        tf.make_tensor_proto([1, 2], shape=[1])
