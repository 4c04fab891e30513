"""GIF files: frames on a screen, transparency."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest

from purerecord import tf

COLOURS = np.array([[10, 20, 30], [200, 0, 0], [0, 200, 0], [0, 0, 200]], np.uint8)


def gif(indices: Any, place: tuple[int, int] = (0, 0), transparent: int | None = None) -> bytes:
    """A GIF whose only frame begins in column and row ``place`` of a screen of 9 times 9."""
    pillow = pytest.importorskip("PIL.Image")
    image = pillow.fromarray(np.array(indices, np.uint8)).convert("P")
    image.putpalette(COLOURS.tobytes())
    output = io.BytesIO()
    image.save(output, "GIF", **({} if transparent is None else {"transparency": transparent}))
    data = bytearray(output.getvalue())
    data[6:10] = struct.pack("<2H", 9, 9)
    at = data.index(b",\0\0\0\0" + struct.pack("<2H", *image.size))
    data[at + 1 : at + 5] = struct.pack("<2H", *place)
    return bytes(data)


def test_picture_has_the_size_of_its_largest_frame_and_not_of_the_screen() -> None:
    indices = np.array([[0, 1], [2, 3]])
    assert np.array_equal(tf.io.decode_gif(gif(indices)), COLOURS[indices][None])
    moved = np.zeros((2, 2, 3), np.uint8)
    moved[1:, 1:] = COLOURS[indices[:1, :1]]
    assert np.array_equal(tf.io.decode_png(gif(indices, (1, 1))), moved)


def test_transparent_pixels_of_the_first_frame_are_black() -> None:
    found = tf.io.decode_image(gif([[0, 1], [2, 1]], transparent=1), expand_animations=False)
    assert np.array_equal(found[:, 1], np.zeros((2, 3)))
    assert np.array_equal(found[:, 0], COLOURS[[0, 2]])
