"""Pictures and sounds as the browser gets them: the bytes of a value, and thumbnails of pictures.

What the bytes are is judged by how they begin, and only the kinds in ``TYPES`` are ever sent, each with its
own fixed content type: never HTML, never SVG, never what the data says of itself. A picture with too many
pixels is refused before anything decodes it. Thumbnails need Pillow; without it, small originals take their
place. This module does not know HTTP.
"""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from functools import cache
from typing import Any

from ..tools.inspect.content import PICTURES, content_of
from .limits import Limits
from .parameters import RefusedError
from .picture_size import TooLargeError, check_size, picture_size

TYPES = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "GIF": "image/gif",
    "WebP": "image/webp",
    "BMP": "image/bmp",
    "WAV": "audio/wav",
    "FLAC": "audio/flac",
    "MP3": "audio/mpeg",
    "OGG": "audio/ogg",
}
_FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP")
SMALLEST, LARGEST = 32, 512  # sides of a thumbnail
_DECODERS = 2  # pictures that are decoded at the same time: each may need 4 bytes a pixel


def checked_media(data: bytes) -> str:
    """The content type of a picture or a sound that may be shown; an error that says why not."""
    content = content_of(data)
    if content not in TYPES:
        raise RefusedError(f"the value is {content}, which is shown as text or bytes only", 415)
    if content in PICTURES:
        try:
            picture_size(data)
        except ValueError as error:
            raise RefusedError(str(error), 413) from None
    return TYPES[content]


class Thumbnails:
    """Makes thumbnails, and keeps those that were asked for last."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, tuple[str, bytes]] = OrderedDict()
        self._size = 0
        self._decoders = threading.BoundedSemaphore(_DECODERS)

    def known(self, key: Any) -> tuple[str, bytes] | None:
        """The thumbnail that was made under ``key``, if it is still there."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def of(self, data: bytes, side: int, key: Any) -> tuple[str, bytes]:
        """The content type and the bytes of a thumbnail of at most ``side`` pixels."""
        kind = checked_media(data)
        if not kind.startswith("image/"):
            raise RefusedError("the value is no picture", 415)
        if pillow() is None:
            width, height = picture_size(data)
            if len(data) > self._limits.original_bytes or width * height > self._limits.original_pixels:
                raise RefusedError("thumbnails of large pictures need Pillow: pip install pillow", 413)
            return kind, data
        with self._decoders:
            made = _thumbnail(data, side)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._size += len(made[1])
            while self._size > self._limits.thumbnail_bytes:
                self._size -= len(self._kept.popitem(last=False)[1][1])
        return made


@cache
def pillow() -> Any:
    """Pillow, or None if it is not installed."""
    try:
        from PIL import Image  # noqa: PLC0415 - only where pictures are shown
    except ImportError:
        return None
    return Image


def _thumbnail(data: bytes, side: int) -> tuple[str, bytes]:
    output = io.BytesIO()
    try:
        image = pillow().open(io.BytesIO(data), formats=_FORMATS)
        check_size(*image.size)  # what decodes it may see more than what read the header
        image.draft("RGB", (side, side))  # a JPEG is decoded at a smaller size
        if image.mode.startswith("I"):  # 16 bits: the upper 8 count
            image = image.point(lambda value: value / 256).convert("L")
        clear = image.mode in ("LA", "PA", "RGBA") or "transparency" in image.info
        image = image.convert("RGBA" if clear else "L" if image.mode in ("1", "L") else "RGB")
        image.thumbnail((side, side))
        image.info.clear()
        image.save(output, "PNG" if clear or image.mode == "L" else "JPEG", quality=85)
    except MemoryError:
        raise
    except TooLargeError as error:
        raise RefusedError(str(error), 413) from None
    except Exception as error:  # Pillow raises all kinds of errors for broken files
        raise RefusedError(f"the picture cannot be decoded: {error or type(error).__name__}", 415) from None
    return "image/png" if clear or image.mode == "L" else "image/jpeg", output.getvalue()
