"""``tf.image.convert_image_dtype``."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord import tf


def converted(pixels, dtype, **options):
    return tf.image.convert_image_dtype(pixels, dtype, **options).numpy().tolist()


def test_integers_stand_for_their_whole_range_and_floats_for_0_to_1():
    assert converted(np.array([0, 255], np.uint8), tf.float32) == [0, 1]
    assert converted(np.array([0.0, 0.5, 1.0], np.float32), tf.uint8) == [0, 127, 255]
    assert converted(np.array([255], np.uint8), tf.uint16) == [65280]
    assert converted(np.array([65280], np.uint16), tf.uint8) == [255]


def test_every_byte_survives_floats():
    every = np.arange(256, dtype=np.uint8)
    assert converted(converted(every, tf.float32), tf.uint8) == every.tolist()


def test_saturate_keeps_values_in_range():
    assert converted(np.array([-1.0, 2.0], np.float32), tf.uint8, saturate=True) == [0, 255]


def test_equal_dtype_gives_the_tensor_itself_and_strings_are_refused():
    tensor = tf.constant([1], tf.uint8)
    assert tf.image.convert_image_dtype(tensor, tf.uint8) is tensor
    with pytest.raises(AttributeError, match="dtype must be"):
        tf.image.convert_image_dtype(tensor, tf.string)
