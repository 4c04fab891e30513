"""Random changes that depend on their seed alone."""

from __future__ import annotations

import numpy as np

from purerecord import tf


def test_the_same_seed_changes_image_and_mask_alike() -> None:
    image = np.arange(48).reshape(4, 4, 3)
    for seed in range(8):
        one = tf.image.stateless_random_flip_left_right(image, [seed, 0]).numpy()
        two = tf.image.stateless_random_flip_left_right(image[..., :1], [seed, 0]).numpy()
        assert one[..., :1].tolist() == two.tolist()
        part = tf.image.stateless_random_crop(image, [2, 2, 3], [seed, 0])
        assert part.shape == (2, 2, 3)
