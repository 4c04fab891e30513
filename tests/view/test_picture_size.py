"""Which pictures may be shown, judged by their headers."""

from __future__ import annotations

import struct
import zlib

import pytest

from purerecord.view.picture_size import TooLargeError, picture_size


def png(width: int, height: int) -> bytes:
    """A PNG that says that it has so many pixels, and has none."""
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IEND", b"")]
    chunks = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def test_a_picture_of_too_many_pixels_is_refused_with_its_size():
    with pytest.raises(TooLargeError, match="60,000 × 60,000 pixels; up to 64,000,000 pixels") as error:
        picture_size(png(60_000, 60_000))
    assert error.value.size == (60_000, 60_000)
    assert picture_size(png(8000, 8000)) == (8000, 8000)


def test_a_broken_picture_is_a_value_error_with_a_reason():
    with pytest.raises(ValueError, match="the file is cut off"):
        picture_size(png(5, 5)[:20])
    with pytest.raises(ValueError, match="its header states 0 × 5 pixels"):
        picture_size(png(5, 0))
