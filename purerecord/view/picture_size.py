"""``picture_size``: the width and height of a picture that may be shown, read from its header.

A picture of a few bytes can have billions of pixels, and a browser would try to show them. So the size is
read first, and a picture with too many pixels is refused. Some formats can state more than one size, or ask
for the same pixels again and again; what would cost most counts. This module does not know where pictures
come from.
"""

from __future__ import annotations

import struct

from ..payload.image_header import image_header
from ..payload.images import ImageError

MOST_PIXELS = 64_000_000
# Pixels of all scans of a JPEG: one pass for each. Encoders make about ten of them.
_MOST_SCANNED = 16 * MOST_PIXELS
_MOST_PARTS = 10_000  # of a GIF or PNG before its pixels


class TooLargeError(ValueError):
    """A picture has too many pixels; ``size`` is its width and height."""

    def __init__(self, size: tuple[int, int]) -> None:
        width, height = size
        super().__init__(
            f"the picture has {width:,} × {height:,} pixels; up to {MOST_PIXELS:,} pixels are shown"
        )
        self.size = size


def picture_size(data: bytes) -> tuple[int, int]:
    """The width and height of a picture; a ValueError if it is broken or has too many pixels."""
    header = image_header(data)
    width, height = header.width, header.height
    if header.format == "GIF":
        width, height = _gif_size(data, width, height)
    check_size(width, height)
    if header.format == "PNG" and _png_headers(data) > 1:
        raise ImageError("the PNG has more than one header")
    if header.format == "JPEG" and (scans := data.count(b"\xff\xda")) * width * height > _MOST_SCANNED:
        raise ImageError(f"the JPEG has {scans:,} scans, which take too long to decode")
    return width, height


def check_size(width: int, height: int) -> None:
    """Raise an error if there are too many pixels."""
    if width * height > MOST_PIXELS:
        raise TooLargeError((width, height))


def _gif_size(data: bytes, width: int, height: int) -> tuple[int, int]:
    """The size of the screen, or that of the first frame if it reaches beyond the screen."""
    try:
        place = 13 + _colours(data[10])
        inside = False  # an extension: its kind, then blocks with their lengths until an empty one
        for _ in range(_MOST_PARTS):
            if inside:
                inside = data[place] > 0
                place += 1 + data[place]
            elif data[place] == 0x21:
                inside = True
                place += 2
            elif data[place] == 0x2C:
                left, top, wide, high = struct.unpack_from("<4H", data, place + 1)
                return max(width, left + wide), max(height, top + high)
            else:
                return width, height
    except (struct.error, IndexError):
        return width, height  # without a frame there is nothing to decode
    raise ImageError("the GIF has too many parts before its first frame")


def _colours(flags: int) -> int:
    """The size of the table of colours in a GIF."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _png_headers(data: bytes) -> int:
    """How many headers there are before the pixels."""
    found, place = 0, 8
    for _ in range(_MOST_PARTS):
        if place + 8 > len(data):
            return found
        length, kind = struct.unpack_from(">I4s", data, place)
        if kind in (b"IDAT", b"IEND"):
            return found
        found += kind == b"IHDR"
        place += 12 + length
    raise ImageError("the PNG has too many parts before its pixels")
