"""``tf.image``: grey, and hue, saturation and value."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import tf

UNIT = st.floats(0, 1, width=32)


@given(st.lists(st.tuples(UNIT, UNIT, UNIT), min_size=1, max_size=5))
def test_hue_saturation_and_value_are_those_of_colorsys_and_lead_back(colours):
    pixels = np.array([colours], np.float32)
    hsv = tf.image.rgb_to_hsv(pixels)
    for made, colour in zip(hsv.numpy()[0].tolist(), pixels[0].tolist(), strict=True):
        expected = colorsys.rgb_to_hsv(*colour)
        assert abs(made[2] - expected[2]) < 1e-6
        # A hue of 1 is a hue of 0, and without saturation it is nothing at all.
        turn = abs(made[0] - expected[0])
        assert min(turn, 1 - turn) * expected[1] * expected[2] < 1e-4
    np.testing.assert_allclose(tf.image.hsv_to_rgb(hsv).numpy(), pixels, atol=1e-5)


def test_grey_weighs_red_green_and_blue():
    colours = np.eye(3, dtype=np.float32)[None]
    grey = tf.image.rgb_to_grayscale(colours).numpy()
    np.testing.assert_allclose(grey.ravel(), [0.2989, 0.587, 0.114], rtol=1e-6)
    assert tf.image.grayscale_to_rgb(grey).shape == (1, 3, 3)


def test_no_saturation_is_grey_and_a_whole_turn_of_hue_changes_nothing():
    pixels = np.array([[[200, 100, 50]]], np.uint8)
    assert np.ptp(tf.image.adjust_saturation(pixels, 0.0).numpy()) == 0
    assert tf.image.adjust_saturation(pixels, 1.0).numpy().ravel().tolist() == [200, 100, 50]
    assert tf.image.adjust_hue(pixels, 1.0).numpy().ravel().tolist() == [200, 100, 50]
    assert tf.image.adjust_hue(np.array([[[1.0, 0, 0]]], np.float32), 1 / 3).numpy().argmax() == 1


def test_arguments_that_are_no_scalars_and_other_channels_are_refused():
    image = np.ones([2, 2, 3], np.float32)
    for adjust in (tf.image.adjust_saturation, tf.image.adjust_hue, tf.image.adjust_contrast):
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be scalar"):
            adjust(image, [0.5])
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least 3-D"):
            adjust(image[0], 0.5)
    with pytest.raises(ValueError, match="should be size 1"):
        tf.image.grayscale_to_rgb(image)
    with pytest.raises(tf.errors.InvalidArgumentError, match="size-incompatible"):
        tf.image.rgb_to_grayscale(image[..., :1])
    with pytest.raises(ValueError, match="interval"):
        tf.image.adjust_hue(image, 1.5)
