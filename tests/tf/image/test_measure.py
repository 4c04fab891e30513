"""Images measured."""

from __future__ import annotations

import numpy as np

from purerecord import tf


def test_equal_images_are_infinitely_alike() -> None:
    image = tf.constant(np.arange(27, dtype=np.uint8).reshape(3, 3, 3))
    assert np.isinf(tf.image.psnr(image, image, 255).numpy())
    assert tf.image.total_variation(tf.zeros([3, 3, 1])).numpy() == 0


def test_patches_are_rows_of_values() -> None:
    image = np.arange(16).reshape(1, 4, 4, 1)
    patches = tf.image.extract_patches(image, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID").numpy()
    assert patches[0, 0].tolist() == [[0, 1, 4, 5], [2, 3, 6, 7]]
