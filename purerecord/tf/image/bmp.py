"""The pixels of a BMP as TensorFlow reads them.

TensorFlow knows neither palettes nor compression: 8 bits are grey, 24 are colours, 32 are colours and
opacity. This module does not know other formats.
"""

from __future__ import annotations

import struct

import numpy as np

from .._values.convert import Array


def pixels(data: bytes) -> Array:
    """The pixels of a BMP, ``[height, width, channels]``. A ValueError says what is wrong with the file."""
    if len(data) < 32:
        raise ValueError(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and "
            f"bpp, got {len(data)} bytes"
        )
    begin, width, height, bits = (
        struct.unpack_from(kind, data, at)[0] for kind, at in (("<i", 10), ("<i", 18), ("<i", 22), ("<H", 28))
    )
    channels, rows = bits // 8, abs(height)
    row = -(-width * channels // 4) * 4  # a row is padded to a multiple of 4 bytes
    _check(begin, width, height, channels)
    if len(data) != begin + rows * row:
        raise ValueError(
            "Input size should match (header_size + row_size * abs_height) but they differ by "
            f"{len(data) - begin - rows * row}"
        )
    padded = np.frombuffer(data, np.uint8, offset=begin).reshape(rows, row)
    stored = padded[:, : width * channels].reshape(rows, width, channels)
    order = [0] if channels == 1 else [2, 1, 0, 3][:channels]  # blue is stored first
    return np.ascontiguousarray((stored if height < 0 else stored[::-1])[..., order])


def _check(begin: int, width: int, height: int, channels: int) -> None:
    if begin < 0:
        raise ValueError("header size must be nonnegative")
    if width <= 0:
        raise ValueError("Width must be positive")
    if not height:
        raise ValueError("Height must be nonzero")
    if channels not in (1, 3, 4):
        raise ValueError(f"Number of channels inherent in the image must be 1, 3 or 4, was {channels}")
    if width * abs(height) * channels >= 2**30:
        raise ValueError("Total possible pixel bytes must be less than 2^30")
