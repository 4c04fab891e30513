"""Image files: broken ones, and a PNG there and back."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from purerecord import errors as core
from purerecord import tf


def test_codecs_name_the_extra_when_pillow_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"purerecord\[images\]"):
        tf.io.decode_jpeg(b"\xff\xd8\xff\xe0")


def test_gif_whose_second_frame_is_broken_has_one():
    image = pytest.importorskip("PIL.Image")
    output = io.BytesIO()
    frames = [image.fromarray(np.full((4, 4), value, np.uint8)) for value in (0, 9)]
    frames[0].save(output, "GIF", save_all=True, append_images=frames[1:])
    data = bytearray(output.getvalue())
    place = data.rindex(b",") + 5
    data[place] = 9  # the width of the second frame
    assert tf.io.decode_gif(bytes(data)).shape == [1, 4, 4, 3]


BROKEN = [b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n" + bytes(50), b"GIF89a" + bytes(9), b"BM" + bytes(60)]


@pytest.mark.parametrize("data", BROKEN)
def test_broken_pictures_are_decode_errors(data):
    pytest.importorskip("PIL")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.io.decode_image(data)
    assert isinstance(caught.value, core.DecodeError)


def test_png_survives_the_way_there_and_back():
    pytest.importorskip("PIL")
    for shape in ((3, 4, 1), (3, 4, 2), (3, 4, 3), (3, 4, 4)):
        pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
        assert np.array_equal(tf.io.decode_png(tf.io.encode_png(pixels)), pixels)
