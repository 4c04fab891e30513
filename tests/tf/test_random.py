"""``tf.random``: seeds, ranges and types."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord import tf


def test_same_seed_gives_the_same_numbers_and_no_seed_others():
    def draw():
        return [
            tf.random.uniform([3]).numpy().tolist(),
            tf.random.uniform([3], seed=5).numpy().tolist(),
            tf.random.uniform([3], seed=5).numpy().tolist(),
            tf.random.normal([2]).numpy().tolist(),
            tf.random.shuffle(tf.range(20)).numpy().tolist(),
        ]

    tf.random.set_seed(1)
    first = draw()
    tf.random.set_seed(1)
    assert draw() == first
    tf.random.set_seed(2)
    other = draw()
    assert all(one != two for one, two in zip(first, other, strict=True))
    assert first[1] != first[2]
    tf.random.set_seed(None)
    assert draw() != draw()


def test_random_numbers_have_their_range_shape_and_type():
    tf.random.set_seed(0)
    numbers = tf.random.uniform([1000], 5, 9, tf.int64).numpy()
    assert set(numbers.tolist()) == {5, 6, 7, 8}
    floats = tf.random.uniform((10, 100), -1.0, 3.0)
    assert (floats.shape, floats.dtype) == ((10, 100), tf.float32)
    assert -1 <= floats.numpy().min() < -0.8
    assert 2.8 < floats.numpy().max() < 3
    assert np.abs(tf.random.truncated_normal([1000]).numpy()).max() <= 2
    assert sorted(tf.random.shuffle([3, 1, 2]).numpy().tolist()) == [1, 2, 3]
    with pytest.raises(ValueError, match="Must specify maxval"):
        tf.random.uniform([1], dtype=tf.int32)
