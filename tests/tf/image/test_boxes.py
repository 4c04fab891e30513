"""Bounding boxes."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord import tf


def test_random_box_covers_an_object() -> None:
    box = [[[0.4, 0.4, 0.6, 0.6]]]
    for seed in range(20):
        begin, size, ends = tf.image.stateless_sample_distorted_bounding_box(
            [100, 80, 3], box, [seed, 1], 0.5
        )
        part = tf.slice(tf.zeros([100, 80, 3]), begin, size)
        assert part.shape[2] == 3
        assert ends.shape == (1, 1, 4)


def test_no_boxes_must_be_allowed() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="use_image_if_no_bounding_boxes"):
        tf.image.sample_distorted_bounding_box([10, 10, 3], tf.zeros([1, 0, 4]))


def test_box_is_cut_out_and_resized() -> None:
    image = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    found = tf.image.crop_and_resize(image, [[0, 0, 1, 1]], [0], [4, 4]).numpy()
    assert found.tolist() == image.tolist()
