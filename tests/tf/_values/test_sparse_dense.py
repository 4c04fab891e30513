"""Sparse tensors and numbers."""

from __future__ import annotations

import pytest

from purerecord import tf

CASES = [
    (lambda: tf.sparse.reduce_sum(tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]), 1), [2, 7]),
    (
        lambda: tf.sparse.to_dense(
            tf.sparse.add(
                tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]),
                tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]),
            )
        ),
        [[4, 0, 0], [0, 0, 14]],
    ),
    (
        lambda: tf.sparse.to_indicator(tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]), 8)[:, 7],
        [False, True],
    ),
    (
        lambda: tf.sparse.to_dense(
            tf.sparse.map_values(tf.add, tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]), 1)
        ),
        [[3, 0, 0], [0, 0, 8]],
    ),
    (lambda: tf.sparse_to_dense([1, 3], [5], [1, 2], -1), [-1, 1, -1, 2, -1]),
]


@pytest.mark.parametrize(("made", "expected"), CASES)
def test_sparse_tensors_are_computed_with(made, expected):
    found = made()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected
