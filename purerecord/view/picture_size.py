"""``picture_size``: the width and height of a picture that may be shown, read from its header.

A picture of a few bytes can have billions of pixels, and a browser would try to show them. So the size is
read first, and a picture with too many pixels is refused. This module does not know where pictures come from.
"""

from __future__ import annotations

from ..payload.image_header import image_header

MOST_PIXELS = 64_000_000


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
    if header.width * header.height > MOST_PIXELS:
        raise TooLargeError((header.width, header.height))
    return header.width, header.height
