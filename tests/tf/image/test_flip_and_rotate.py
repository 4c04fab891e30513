"""``tf.image``: images mirrored, rotated and transposed."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord import tf

IMAGE = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
FLIPS = [(tf.image.random_flip_left_right, IMAGE[:, ::-1]), (tf.image.random_flip_up_down, IMAGE[::-1])]


@pytest.mark.parametrize(("function", "whole"), FLIPS, ids=["left_right", "up_down"])
def test_random_flip_is_the_image_or_its_mirror_image(function, whole):
    tf.random.set_seed(0)
    seen = [function(IMAGE).numpy() for _ in range(40)]
    flipped = sum(np.array_equal(one, whole) for one in seen)
    assert 5 < flipped < 35
    assert sum(np.array_equal(one, IMAGE) for one in seen) == 40 - flipped


def test_batch_is_flipped_image_by_image():
    tf.random.set_seed(0)
    batch = np.stack([IMAGE] * 40)
    flipped = sum(np.array_equal(one, IMAGE[:, ::-1]) for one in tf.image.random_flip_left_right(batch))
    assert 5 < flipped < 35


def test_flips_rotations_and_transposition_move_whole_pixels():
    assert np.array_equal(tf.image.flip_left_right(IMAGE), IMAGE[:, ::-1])
    assert np.array_equal(tf.image.flip_up_down(IMAGE), IMAGE[::-1])
    assert np.array_equal(tf.image.transpose(IMAGE), IMAGE.transpose(1, 0, 2))
    for turns in range(-1, 6):
        assert np.array_equal(tf.image.rot90(IMAGE, turns), np.rot90(IMAGE, turns))
    assert np.array_equal(tf.image.rot90(IMAGE[None])[0], np.rot90(IMAGE))
