"""Functions of each two elements."""

from __future__ import annotations

import pytest

from purerecord import tf

CASES = [
    (lambda: tf.truncatediv(-7, 2), -3),
    (lambda: tf.truncatemod(-7, 2), -1),
    (lambda: tf.compat.v1.div(7, 2), 3),
    (lambda: tf.math.xlogy(0.0, 0.0), 0.0),
    (lambda: tf.math.multiply_no_nan(float("inf"), 0.0), 0.0),
    (lambda: tf.add_n([[1, 2], [3, 4]]), [4, 6]),
    (lambda: tf.bitwise.right_shift([5], [1]), [2]),
    (lambda: tf.add(tf.ragged.constant([[1], [2, 3]]), [[10], [20]]), [[11], [22, 23]]),
]


@pytest.mark.parametrize(("made", "expected"), CASES)
def test_functions_of_two_elements(made, expected):
    found = made()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected


def test_two_dtypes_are_refused_with_the_class_of_tensorflow():
    one, two = tf.constant(1), tf.constant(1.5)
    with pytest.raises(TypeError, match="must have the same dtype"):
        tf.divide(one, two)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.maximum(one, two)
