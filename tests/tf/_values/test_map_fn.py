"""``tf.map_fn``: tensors, structures and ragged results."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_results_are_stacked() -> None:
    assert tf.map_fn(lambda x: x * 2, tf.constant([1, 2])).numpy().tolist() == [2, 4]
    assert tf.map_fn(lambda x: tf.fill([2], x), tf.constant([1, 2])).shape == (2, 2)
    assert tf.map_fn(lambda x: x, tf.zeros([0])).shape == (0,)


def test_rows_of_several_tensors_come_together() -> None:
    pair = (tf.constant([1, 2]), tf.constant([10, 20]))
    sums = tf.map_fn(lambda row: row[0] + row[1], pair, fn_output_signature=tf.int32)
    assert sums.numpy().tolist() == [11, 22]
    made = tf.map_fn(lambda x: {"a": x, "b": -x}, tf.constant([1]), {"a": tf.int32, "b": tf.int32})
    assert (made["a"].numpy().tolist(), made["b"].numpy().tolist()) == ([1], [-1])


def test_rows_of_different_lengths_become_ragged() -> None:
    spec = tf.RaggedTensorSpec([None], tf.int32)
    assert tf.map_fn(tf.range, tf.constant([2, 0]), fn_output_signature=spec).to_list() == [[0, 1], []]


def test_other_lengths_dtypes_and_structures_are_refused() -> None:
    with pytest.raises(ValueError, match="Dimensions 2 and 1"):
        tf.map_fn(lambda row: row[0], (tf.constant([1, 2]), tf.constant([1])), tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="TensorArray dtype is int32"):
        tf.map_fn(lambda x: 1.5, tf.constant([1]))
    with pytest.raises(ValueError, match="nested structure"):
        tf.map_fn(lambda x: (x, x), tf.constant([1]))
    with pytest.raises(ValueError, match="not scalars"):
        tf.map_fn(lambda x: x, 1)
