"""The format and the size of an encoded image, from its first bytes: JPEG, PNG, GIF, BMP and WebP.

Nothing is decoded. What is certainly broken is an ``ImageError``: a file that ends within its header, or
before the mark that ends every sound file of its format. This module needs no library.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from .images import FORMATS, ImageError

_CUT_OFF = "the file is cut off"
# JPEG: the markers of frames, which state the size; all others have a length, or are of these without one.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD9)})
_END, _SCAN = 0xD9, 0xDA
_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}


class ImageHeader(NamedTuple):
    """What the header of an image states. ``format`` is one of JPEG, PNG, GIF, BMP and WebP."""

    format: str
    height: int
    width: int
    channels: int


def image_header(data: bytes) -> ImageHeader:
    """The header of an image file; ``ImageError`` if it is none, or certainly broken."""
    if not data:
        raise ImageError("it is empty")
    for begin, read in _READERS:
        if data.startswith(begin):
            try:
                header = read(data)
            except (struct.error, IndexError):
                raise ImageError(_CUT_OFF) from None
            if header.height < 1 or header.width < 1:
                raise ImageError(f"its header states {header.height} × {header.width} pixels")
            return header
    raise ImageError(f"it is no {FORMATS}")


def _jpeg(data: bytes) -> ImageHeader:
    place = 2
    while True:
        if data[place] != 0xFF:
            raise ImageError(f"byte {place} of the JPEG is no marker")
        marker = data[place + 1]
        if marker == 0xFF or marker in _WITHOUT_LENGTH:  # a byte that only fills, or a marker alone
            place += 1 if marker == 0xFF else 2
            continue
        if marker in (_END, _SCAN):
            raise ImageError("the JPEG states no size before its pixels")
        if marker in _FRAMES:
            height, width, channels = struct.unpack_from(">HHB", data, place + 5)
            break
        (length,) = struct.unpack_from(">H", data, place + 2)
        place += 2 + length
    if data.rfind(b"\xff\xd9") < place:
        raise ImageError(_CUT_OFF)
    return ImageHeader("JPEG", height, width, channels)


def _png(data: bytes) -> ImageHeader:
    width, height, _, colours = struct.unpack_from(">IIBB", data, 16)
    if data[12:16] != b"IHDR" or colours not in _PNG_CHANNELS:
        raise ImageError("the PNG does not begin with a header")
    if data.rfind(b"IEND") < 0:
        raise ImageError(_CUT_OFF)
    return ImageHeader("PNG", height, width, _PNG_CHANNELS[colours])


def _gif(data: bytes) -> ImageHeader:
    width, height, _ = struct.unpack_from("<HHI", data, 6)
    return ImageHeader("GIF", height, width, 3)


def _bmp(data: bytes) -> ImageHeader:
    (size,) = struct.unpack_from("<I", data, 14)
    width, height, _, bits = struct.unpack_from("<HHHH" if size == 12 else "<iiHH", data, 18)
    return ImageHeader("BMP", abs(height), width, 4 if bits == 32 else 3)  # below 0: from top to bottom


def _webp(data: bytes) -> ImageHeader:
    (size,) = struct.unpack_from("<I", data, 4)
    form = data[12:16]
    if data[8:12] != b"WEBP":
        raise ImageError(f"it is no {FORMATS}")
    if form == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        header = ImageHeader("WebP", height & 0x3FFF, width & 0x3FFF, 3)
    elif form == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        header = ImageHeader("WebP", (bits >> 14 & 0x3FFF) + 1, (bits & 0x3FFF) + 1, 3 + (bits >> 28 & 1))
    elif form == b"VP8X":
        flags, canvas = data[20], data[24:30]
        width, height = (int.from_bytes(canvas[at : at + 3], "little") + 1 for at in (0, 3))
        header = ImageHeader("WebP", height, width, 4 if flags & 0x10 else 3)
        if len(canvas) < 6:
            raise ImageError(_CUT_OFF)
    else:
        raise ImageError("the WebP begins with an unknown part")
    if len(data) < size + 8:
        raise ImageError(_CUT_OFF)
    return header


_READERS: tuple[tuple[bytes, Callable[[bytes], ImageHeader]], ...] = (
    (b"\xff\xd8\xff", _jpeg),
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"GIF87a", _gif),
    (b"GIF89a", _gif),
    (b"BM", _bmp),
    (b"RIFF", _webp),
)
