"""BMP files, made by hand: they need no Pillow."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from purerecord import errors as core
from purerecord import tf


def bmp(pixels: np.ndarray, from_top: bool = False, palette: bytes = b"") -> bytes:
    """A BMP file. Colours are stored as blue, green, red, and rows from the bottom, padded to 4 bytes."""
    height, width, channels = pixels.shape
    stored = pixels[..., [2, 1, 0, 3][:channels]] if channels > 2 else pixels
    rows = (stored if from_top else stored[::-1]).reshape(height, width * channels)
    body = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 4))).tobytes()
    begin = 54 + len(palette)
    header = struct.pack("<IHHI", begin + len(body), 0, 0, begin)
    sizes = (40, width, -height if from_top else height, 1, 8 * channels, 0, len(body), 0, 0, 0, 0)
    return b"BM" + header + struct.pack("<IiiHHIIiiII", *sizes) + palette + body


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("from_top", [False, True])
def test_pixels_are_those_of_the_file(channels: int, from_top: bool) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (4, 5, channels), np.uint8)
    for decode in (tf.io.decode_bmp, tf.io.decode_image):
        assert np.array_equal(decode(bmp(pixels, from_top)), pixels)
        assert np.array_equal(decode(bmp(pixels, from_top), 3)[..., :1], pixels[..., :1])


def test_palette_is_not_applied_as_in_tensorflow() -> None:
    indices = np.arange(6, dtype=np.uint8).reshape(2, 3, 1)
    assert np.array_equal(tf.io.decode_bmp(bmp(indices, palette=bytes(range(256)) * 4)), indices)


def test_opacity_is_added_and_dropped() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (2, 3, 4), np.uint8)
    assert np.array_equal(tf.io.decode_bmp(bmp(pixels), channels=3), pixels[..., :3])
    assert np.all(tf.io.decode_bmp(bmp(pixels[..., :3]), channels=4)[..., 3] == 255)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"BM", "Incomplete bmp content"),
        (bmp(np.zeros((2, 3, 3), np.uint8))[:-1], "differ by -1"),
        (bmp(np.zeros((2, 3, 3), np.uint8)) + b"more", "differ by 4"),
        (bmp(np.zeros((2, 3, 2), np.uint8)), "must be 1, 3 or 4, was 2"),
        (bmp(np.zeros((0, 3, 3), np.uint8)), "Height must be nonzero"),
        (bmp(np.zeros((2, 0, 3), np.uint8)), "Width must be positive"),
    ],
)
def test_broken_file_is_a_decode_error_that_says_what_is_wrong(data: bytes, text: str) -> None:
    with pytest.raises(core.DecodeError, match=text) as caught:
        tf.io.decode_bmp(data)
    assert isinstance(caught.value, tf.errors.InvalidArgumentError)


def test_other_functions_and_grey_are_refused() -> None:
    data = bmp(np.zeros((2, 3, 3), np.uint8))
    for decode in (tf.io.decode_png, tf.io.decode_jpeg, tf.io.decode_gif):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Use `decode_bmp` or `decode_image`"):
            decode(data)
    with pytest.raises(tf.errors.InvalidArgumentError, match="`channels` must be 0, 3 or 4 for BMP"):
        tf.io.decode_bmp(data, channels=1)
