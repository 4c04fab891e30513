"""``tf.image``: brightness, contrast and random changes of colours."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord import tf

IMAGE = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)


def test_random_changes_of_colours_keep_shape_and_type():
    tf.random.set_seed(0)
    for function in (tf.image.random_saturation, tf.image.random_contrast):
        assert function(IMAGE, 0.5, 1.5).shape == (4, 5, 3)
    for function in (tf.image.random_brightness, tf.image.random_hue):
        assert function(IMAGE, 0.2).dtype is tf.uint8


def test_brightness_saturates_at_the_ends_of_the_range():
    pixels = np.array([[[0], [128], [250]]], np.uint8)
    assert tf.image.adjust_brightness(pixels, 0.1).numpy().ravel().tolist() == [25, 153, 255]
    assert tf.image.adjust_brightness(pixels, -0.1).numpy().ravel().tolist() == [0, 102, 224]


def test_contrast_scales_the_distance_from_the_mean():
    pixels = np.array([[[0.2], [0.4]]], np.float32)
    np.testing.assert_allclose(tf.image.adjust_contrast(pixels, 2.0).numpy().ravel(), [0.1, 0.5], rtol=1e-5)


def test_gamma_is_a_power():
    pixels = np.array([[[0.25], [1.0]]], np.float32)
    np.testing.assert_allclose(tf.image.adjust_gamma(pixels, 0.5, 2).numpy().ravel(), [1.0, 2.0])
    with pytest.raises(ValueError, match="non-negative"):
        tf.image.adjust_gamma(pixels, -1)


def test_standardized_image_has_mean_0_and_variance_1():
    made = tf.image.per_image_standardization(IMAGE).numpy()
    assert abs(float(made.mean())) < 1e-6
    assert abs(float(made.var()) - 1) < 1e-5
    assert not tf.image.per_image_standardization(np.ones((2, 2, 1))).numpy().any()
