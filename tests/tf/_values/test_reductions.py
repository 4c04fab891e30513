"""Reductions of tensors."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_bfloat16_is_summed_in_float32():
    pytest.importorskip("ml_dtypes")
    ones = tf.cast(tf.ones([1000]), tf.bfloat16)
    assert float(tf.reduce_sum(ones)) == 1000
    assert tf.argmax(tf.cast([1.5, 2.5], tf.bfloat16)).numpy() == 1


def test_complex_numbers_have_a_mean_and_a_real_deviation():
    assert tf.reduce_mean([1 + 2j, 3]).numpy() == 2 + 1j
    assert tf.math.reduce_std([1 + 2j, 1 - 2j]).numpy() == 2


def test_deviation_of_integers_is_refused():
    assert tf.math.reduce_std(1.5).numpy() == 0
    with pytest.raises(TypeError, match="must be either real or complex"):
        tf.math.reduce_std([1, 2])


def test_segments_are_reduced():
    assert tf.math.segment_max([1, 2, 3], [0, 0, 2]).numpy().tolist() == [2, 0, 3]
    assert tf.math.unsorted_segment_mean([1.0, 2, 3], [1, -1, 1], 2).numpy().tolist() == [0, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not increasing"):
        tf.math.segment_sum([1, 2], [1, 0])
