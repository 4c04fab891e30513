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


def gif(width: int, height: int, frame: tuple[int, int], comments: int = 0) -> bytes:
    """A GIF with a screen and a first frame that reaches elsewhere."""
    screen = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6)
    comment = b"\x21\xfe" + b"\x01a" * comments + b"\0"
    return screen + comment + b"\x2c" + struct.pack("<4HB", 0, 0, *frame, 0) + b"\x02\x01\0\0;"


def test_the_first_frame_of_a_gif_counts_where_it_is_larger_than_the_screen():
    assert picture_size(gif(5, 7, (3, 3))) == (5, 7)
    assert picture_size(gif(5, 7, (6, 3), comments=3)) == (6, 7)
    with pytest.raises(TooLargeError, match="65,000 × 65,000"):
        picture_size(gif(1, 1, (65_000, 65_000)))
    with pytest.raises(ValueError, match="too many parts before its first frame"):
        picture_size(gif(1, 1, (65_000, 65_000), comments=100_000))
    assert picture_size(gif(5, 7, (3, 3))[:30]) == (5, 7)


def test_a_png_with_a_second_header_is_refused():
    large, small = png(60_000, 60_000), png(1, 1)
    with pytest.raises(ValueError, match="more than one header"):
        picture_size(small[:33] + large[8:])
    with pytest.raises(ValueError, match="too many parts before its pixels"):
        picture_size(small[:33] + (bytes(4) + b"aaaa" + bytes(4)) * 20_000 + small[33:])


def test_a_jpeg_that_asks_for_its_pixels_again_and_again_is_refused():
    frame = b"\xff\xd8\xff\xc0\0\x0b\x08" + struct.pack(">HH", 8000, 8000) + b"\x01\x01\x11\0"
    assert picture_size(frame + b"\xff\xda" * 12 + b"\xff\xd9") == (8000, 8000)
    with pytest.raises(ValueError, match="has 1,000 scans, which take too long to decode"):
        picture_size(frame + b"\xff\xda" * 1000 + b"\xff\xd9")
