"""Sparse tensors in other shapes."""

from __future__ import annotations

import pytest

from purerecord import tf

CASES = [
    (
        lambda: tf.sparse.to_dense(
            tf.sparse.concat(
                0,
                [
                    tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]),
                    tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]),
                ],
            )
        ),
        [[2, 0, 0], [0, 0, 7]] * 2,
    ),
    (
        lambda: tf.sparse.to_dense(
            tf.sparse.slice(tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]), [1, 1], [5, 5])
        ),
        [[0, 7]],
    ),
    (
        lambda: tf.sparse.to_dense(tf.sparse.transpose(tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]))),
        [[2, 0], [0, 0], [0, 7]],
    ),
    (
        lambda: tf.sparse.to_dense(
            tf.sparse.retain(tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]), [False, True])
        ),
        [[0, 0, 0], [0, 0, 7]],
    ),
    (
        lambda: tf.sparse.fill_empty_rows(
            tf.sparse.reset_shape(tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]), [3, 3]), -1
        )[1],
        [False, False, True],
    ),
    (
        lambda: tf.sparse.expand_dims(tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]), 0).dense_shape,
        [1, 2, 3],
    ),
]


@pytest.mark.parametrize(("made", "expected"), CASES)
def test_sparse_tensors_change_shape(made, expected):
    found = made()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="dense values"):
        tf.sparse.reshape(tf.SparseTensor([[0, 0], [1, 2]], [2, 7], [2, 3]), [4, 4])
