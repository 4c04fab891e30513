"""CRC-32C as TFRecord stores it: masked, one at a time or for all length fields at once.

The mask (rotate right by 15, add a constant) comes from LevelDB: it keeps a CRC of data that itself
holds CRCs from being trivial. A CRC is linear over XOR, so the CRC of an 8-byte length is eight table
look-ups XORed together, which numpy does for a whole chunk of headers in a few passes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from crc32c import crc32c

# On-disk format; never change.
MASK_DELTA = 0xA282EAD8

__all__ = ["crc32c", "mask", "mask_many", "masked_crc", "masked_length_crcs"]


def mask(crc: int) -> int:
    """The masked form in which a CRC is stored."""
    return (((crc >> 15) | (crc << 17)) + MASK_DELTA) & 0xFFFFFFFF


def masked_crc(data: Any) -> int:
    """The masked CRC-32C of ``data``, as stored in a frame."""
    return mask(crc32c(data))


def mask_many(crcs: np.ndarray) -> np.ndarray:
    """``mask`` for an array of uint32."""
    return ((crcs >> np.uint32(15)) | (crcs << np.uint32(17))) + np.uint32(MASK_DELTA)


def _length_tables() -> tuple[np.ndarray, int]:
    zero = crc32c(bytes(8))
    tables = np.empty((8, 256), np.uint32)
    for position in range(8):
        for value in range(256):
            field = bytearray(8)
            field[position] = value
            tables[position, value] = crc32c(bytes(field)) ^ zero
    return tables, zero


# _TABLES[p][b] is what byte b at position p adds to the CRC of an all-zero length field.
_TABLES, _ZERO = _length_tables()


def masked_length_crcs(lengths: np.ndarray) -> np.ndarray:
    """The masked CRCs of an array of uint64 lengths, as the frames' headers store them."""
    crcs = np.full(lengths.shape, _ZERO, np.uint32)
    if not lengths.size:
        return crcs
    octets = max(1, (int(lengths.max()).bit_length() + 7) // 8)
    for position in range(octets):
        crcs ^= _TABLES[position][(lengths >> np.uint64(8 * position)).astype(np.uint8)]
    return mask_many(crcs)
