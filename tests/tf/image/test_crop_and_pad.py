"""``tf.image``: parts of images and images with a border."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord import tf

IMAGE = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)


def test_random_crop_is_every_part_of_its_size_and_never_larger_than_the_image():
    tf.random.set_seed(0)
    crops = {tuple(tf.image.random_crop(IMAGE, [2, 2, 3]).numpy()[0, 0].tolist()) for _ in range(100)}
    assert crops == {tuple(IMAGE[row, column].tolist()) for row in range(3) for column in range(4)}
    with pytest.raises(tf.errors.InvalidArgumentError, match="Need value"):
        tf.image.random_crop(IMAGE, [9, 2, 3])


def test_crop_takes_the_box_and_padding_puts_it_back_among_zeros():
    part = tf.image.crop_to_bounding_box(IMAGE, 1, 2, 2, 3)
    assert np.array_equal(part, IMAGE[1:3, 2:5])
    whole = tf.image.pad_to_bounding_box(part, 1, 2, 4, 5).numpy()
    assert np.array_equal(whole[1:3, 2:5], part)
    assert int(whole.sum()) == int(part.numpy().sum())


@pytest.mark.parametrize("box", [(-1, 0, 1, 1), (0, 0, 0, 1), (3, 0, 2, 1), (0, 4, 1, 2)])
def test_box_outside_of_the_image_is_refused(box):
    with pytest.raises(ValueError, match=r"must be|>="):
        tf.image.crop_to_bounding_box(IMAGE, *box)


def test_central_crop_keeps_the_middle():
    assert np.array_equal(tf.image.central_crop(IMAGE, 0.5), IMAGE[1:3, 1:4])
    assert np.array_equal(tf.image.central_crop(IMAGE, 1), IMAGE)
    with pytest.raises(ValueError, match="central_fraction"):
        tf.image.central_crop(IMAGE, 0)


def test_resize_with_crop_or_pad_cuts_one_dimension_and_pads_the_other():
    made = tf.image.resize_with_crop_or_pad(IMAGE, 2, 7).numpy()
    assert made.shape == (2, 7, 3)
    assert np.array_equal(made[:, 1:6], IMAGE[1:3])
    assert not made[:, 0].any()
    assert not made[:, 6].any()


def test_resize_with_pad_keeps_the_proportions():
    made = tf.image.resize_with_pad(np.ones((2, 4, 1), np.float32), 4, 4).numpy()[..., 0]
    assert made.tolist() == [[0] * 4, [1] * 4, [1] * 4, [0] * 4]
