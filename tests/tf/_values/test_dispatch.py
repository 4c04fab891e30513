"""Decorators of functions: ragged tensors, sparse tensors, older names."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_flat_values_are_mapped_whether_named_or_not():
    ragged = tf.ragged.constant([[-1], [2, -3]])
    assert tf.abs(ragged).to_list() == tf.abs(x=ragged).to_list() == [[1], [2, 3]]


def test_stored_values_of_sparse_tensors_are_mapped():
    sparse = tf.SparseTensor([[0, 1]], [-5], [2, 3])
    assert tf.abs(sparse).values.numpy().tolist() == [5]


def test_names_of_tensorflow_1_are_taken_but_not_beside_the_new_ones():
    assert tf.reduce_sum([[1, 2]], reduction_indices=1, keep_dims=True).numpy().tolist() == [[3]]
    assert tf.expand_dims([1], dim=0).shape == (1, 1)
    with pytest.raises(ValueError, match="Cannot specify both"):
        tf.argmax([1, 2], axis=0, dimension=0)
