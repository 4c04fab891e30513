"""Random functions of ``tf.image``."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord import tf


def test_random_functions_for_pictures_stay_in_their_bounds():
    tf.random.set_seed(0)
    image = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    crops = {tuple(tf.image.random_crop(image, [2, 2, 3]).numpy()[0, 0].tolist()) for _ in range(100)}
    assert crops == {tuple(image[row, column].tolist()) for row in range(3) for column in range(4)}
    flips = [(tf.image.random_flip_left_right, image[:, ::-1]), (tf.image.random_flip_up_down, image[::-1])]
    for function, whole in flips:
        seen = [function(image).numpy() for _ in range(40)]
        flipped = sum(np.array_equal(one, whole) for one in seen)
        assert 5 < flipped < 35
        assert sum(np.array_equal(one, image) for one in seen) == 40 - flipped
    for function in (tf.image.random_saturation, tf.image.random_contrast):
        assert function(image, 0.5, 1.5).shape == (4, 5, 3)
    for function in (tf.image.random_brightness, tf.image.random_hue):
        assert function(image, 0.2).dtype is tf.uint8
    with pytest.raises(tf.errors.InvalidArgumentError, match="Need value"):
        tf.image.random_crop(image, [9, 2, 3])
