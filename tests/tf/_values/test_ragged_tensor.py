"""``RaggedTensor``: constructors, slices, operators, conversions."""

from __future__ import annotations

import pickle

import pytest

from purerecord import tf

CASES = [
    (lambda: tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 1]), [[1], [2, 3]]),
    (lambda: tf.RaggedTensor.from_row_limits([1, 2, 3], [1, 3]), [[1], [2, 3]]),
    (lambda: tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2), [[1, 2], [3, 4]]),
    (lambda: tf.RaggedTensor.from_tensor([[1, 0], [0, 0]], padding=0), [[1], []]),
    (lambda: tf.RaggedTensor.from_tensor([[1, 2], [3, 4]], lengths=[1, 2]), [[1], [3, 4]]),
    (lambda: tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0], [2, 0]], [1, 2], [3, 2])), [[1], [], [2]]),
    (lambda: tf.ragged.constant([[1, 2], [], [3]])[:, -1:], [[2], [], [3]]),
    (lambda: tf.ragged.constant([[[1], [2]], [[3]]]).merge_dims(1, 2), [[1, 2], [3]]),
    (lambda: 10 - tf.ragged.constant([[1], [2, 3]]), [[9], [8, 7]]),
]


@pytest.mark.parametrize(("made", "expected"), CASES)
def test_ragged_tensors_are_made_and_cut(made, expected):
    found = made()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected


def test_uniform_length_is_part_of_the_shape():
    ragged = tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1], [2, 3]]), 2)
    assert ragged.shape.as_list() == [1, 2, None]
    assert ragged[:, 0].to_list() == [[1]]
    assert pickle.loads(pickle.dumps(ragged)).shape == ragged.shape


def test_inner_dimensions_become_indices_of_a_sparse_tensor():
    sparse = tf.ragged.constant([[[1, 2]], []], ragged_rank=1).to_sparse()
    assert sparse.indices.numpy().tolist() == [[0, 0, 0], [0, 0, 1]]
    assert sparse.shape == (2, 1, 2)


def test_partitions_that_do_not_fit_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not form a valid RaggedTensor"):
        tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 9])
    with pytest.raises(ValueError, match="mismatched row_splits"):
        tf.ragged.constant([[1]]) + tf.ragged.constant([[1]], row_splits_dtype=tf.int32)
