"""Functions along one dimension."""

from __future__ import annotations

import pytest

from purerecord import tf

CASES = [
    (lambda: tf.math.cumprod([1, 2, 3], exclusive=True), [1, 1, 2]),
    (lambda: tf.math.top_k([1, 3, 3, 2], 2).indices, [1, 2]),
    (lambda: tf.math.bincount([1, 1, 3], maxlength=2), [0, 2]),
    (lambda: tf.math.invert_permutation([2, 0, 1]), [1, 2, 0]),
    (lambda: tf.math.in_top_k([1, 0], [[0.1, 0.9], [0.1, 0.9]], 1), [True, False]),
    (lambda: tf.math.softmax(tf.ragged.constant([[0.0, 0.0], [], [5.0]])), [[0.5, 0.5], [], [1.0]]),
]


@pytest.mark.parametrize(("made", "expected"), CASES)
def test_functions_along_a_dimension(made, expected):
    found = made()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected
