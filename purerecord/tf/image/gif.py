"""The frames of a GIF as TensorFlow decodes them.

Its rules differ from those of Pillow: all frames have the size of the largest frame, not of the screen; what
no frame has painted is black, and so are transparent pixels of the first frame; nothing is disposed of
between frames. So this module takes the file apart and gives Pillow one frame after the other to decompress.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .._values.convert import Array

# Indices stay what they are if the palette is not grey.
_PALETTE = bytes([255, 0, 0]) * 256


class _Frame(NamedTuple):
    left: int
    top: int
    width: int
    height: int
    flags: int  # of the image descriptor
    palette: bytes
    transparent: int | None
    data: bytes  # compressed


def frames(data: bytes, pillow: Any, only_first: bool = False) -> Array:
    """The frames of a GIF, ``[frames, height, width, 3]``. ``pillow`` is ``PIL.Image``."""
    found = []
    try:
        for frame in _frames(data):
            found.append((frame, _indices(frame, pillow)))
    except (ArithmeticError, LookupError, OSError, ValueError, struct.error):
        if not found:  # the frames before a break are good
            raise
    if not found:
        raise ValueError("it has no frame")
    shape = (max(frame.height for frame, _ in found), max(frame.width for frame, _ in found), 3)
    painted = []
    canvas = np.zeros(shape, np.uint8)
    for number, (frame, indices) in enumerate(found[:1] if only_first else found):
        _paint(canvas, frame, number, indices)
        painted.append(canvas.copy())
    return np.stack(painted)


def _frames(data: bytes) -> Iterator[_Frame]:
    if len(data) < 13:
        raise ValueError("its header is cut off")
    at = 13
    shared, at = _palette(data, at, data[10])
    transparent = None
    while data[at : at + 1] not in (b";", b""):
        kind = data[at]
        if kind == 0x21:  # an extension
            label, content, at = data[at + 1], *_blocks(data, at + 2)
            if label == 0xF9 and len(content) >= 4:  # the graphic control of the next frame
                transparent = content[3] if content[0] & 1 else None
        elif kind == 0x2C:
            left, top, width, height, flags = struct.unpack_from("<4HB", data, at + 1)
            palette, at = _palette(data, at + 10, flags)
            begin = at
            _, at = _blocks(data, at + 1)
            yield _Frame(left, top, width, height, flags, palette or shared, transparent, data[begin:at])
            transparent = None
        else:
            raise ValueError(f"a block of the unknown kind {kind}")


def _palette(data: bytes, at: int, flags: int) -> tuple[bytes, int]:
    """The palette at ``at``, if the flags say that there is one, and the position behind it."""
    size = 3 * 2 ** (flags % 8 + 1) if flags & 0x80 else 0
    return data[at : at + size], at + size


def _blocks(data: bytes, at: int) -> tuple[bytes, int]:
    """The joined blocks at ``at``, and the position behind the empty one that ends them."""
    parts = []
    while size := data[at]:
        parts.append(data[at + 1 : at + 1 + size])
        at += 1 + size
    return b"".join(parts), at + 1


def _indices(frame: _Frame, pillow: Any) -> Array:
    """The palette indices of a frame, which Pillow decompresses as a GIF of its own."""
    size = struct.pack("<2H", frame.width, frame.height)
    header = b"GIF89a" + size + b"\xf7\0\0" + _PALETTE
    descriptor = b",\0\0\0\0" + size + bytes([frame.flags & 0x40])
    image = pillow.open(io.BytesIO(header + descriptor + frame.data + b";"), formats=["GIF"])
    return np.array(image)


def _paint(canvas: Array, frame: _Frame, number: int, indices: Array) -> None:
    """Paint a frame onto ``canvas``, on which the frame before it is."""
    part = canvas[frame.top : frame.top + frame.height, frame.left : frame.left + frame.width]
    indices = indices[: part.shape[0], : part.shape[1]]
    colours = np.frombuffer(frame.palette, np.uint8).reshape(-1, 3)
    if not len(colours):
        raise ValueError(f"missing color map for frame {number}")
    seen = np.full(indices.shape, True) if frame.transparent is None else indices != frame.transparent
    if bool((indices[seen] >= len(colours)).any()):
        raise ValueError(f"a colour index outside of the color map of {len(colours)} colours")
    part[seen] = colours[indices[seen]]
    if not number:
        part[~seen] = 0
