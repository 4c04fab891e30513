"""Matrices."""

from __future__ import annotations

import pytest

from purerecord import tf

CASES = [
    (lambda: tf.matmul([[1, 2]], [[1, 2]], transpose_b=True), [[5]]),
    (lambda: tf.linalg.diag([1, 2], k=1), [[0, 1, 0], [0, 0, 2], [0, 0, 0]]),
    (lambda: tf.linalg.band_part([[1, 2], [3, 4]], 0, -1), [[1, 2], [0, 4]]),
    (lambda: tf.linalg.trace([[1, 2], [3, 4]]), 5),
    (lambda: tf.norm([3.0, 4.0]), 5.0),
    (lambda: tf.einsum("ij->ji", tf.constant([[1, 2]])), [[1], [2]]),
    (lambda: tf.linalg.set_diag([[1, 2], [3, 4]], [9, 9]), [[9, 2], [3, 9]]),
]


@pytest.mark.parametrize(("made", "expected"), CASES)
def test_matrices(made, expected):
    found = made()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected


def test_what_has_no_inverse_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.inv([[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be square"):
        tf.linalg.inv([[1.0, 2.0]])
