"""Elements at index vectors."""

from __future__ import annotations

import pytest

from purerecord import tf

CASES = [
    (lambda: tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 1]]), [2, 4]),
    (lambda: tf.gather_nd([[1, 2], [3, 4]], [[1], [0]], batch_dims=1), [2, 3]),
    (lambda: tf.scatter_nd([[0], [0]], [5, 6], [3]), [11, 0, 0]),
    (lambda: tf.tensor_scatter_nd_update([1, 2, 3], [[1]], [9]), [1, 9, 3]),
    (lambda: tf.tensor_scatter_nd_max([1, 2], [[0], [0]], [9, 4]), [9, 2]),
]


@pytest.mark.parametrize(("made", "expected"), CASES)
def test_elements_at_index_vectors(made, expected):
    found = made()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected


def test_arguments_are_not_changed_and_indices_checked():
    target = tf.constant([1, 2, 3])
    tf.tensor_scatter_nd_add(target, [[0]], [5])
    assert target.numpy().tolist() == [1, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not index into"):
        tf.gather_nd([[1, 2]], [[0, 5]])
