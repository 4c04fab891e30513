"""Kinds of damage that files suffer, as small functions from bytes to bytes.

The frames come from the format's description alone, so that tests do not judge the package by its own code.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from crc32c import crc32c

HEADER, FOOTER, OVERHEAD = 12, 4, 16


def masked(data: bytes) -> int:
    """The CRC-32C of ``data``, rotated right by 15 bits and with TFRecord's constant added."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def header(length: int) -> bytes:
    """A valid frame header for any length, even an absurd one."""
    octets = struct.pack("<Q", length)
    return octets + struct.pack("<I", masked(octets))


def frame(payload: bytes) -> bytes:
    """The frame of one payload."""
    return header(len(payload)) + payload + struct.pack("<I", masked(payload))


def frames(payloads: Iterable[bytes]) -> bytes:
    """The frames of many payloads, in order: a whole uncompressed file."""
    return b"".join(map(frame, payloads))


def starts(payloads: Iterable[bytes]) -> list[int]:
    """Where each frame begins in ``frames(payloads)``, and where the last one ends."""
    found = [0]
    for payload in payloads:
        found.append(found[-1] + len(payload) + OVERHEAD)
    return found


def flip_bit(data: bytes, bit: int) -> bytes:
    """One bit flipped; bits count from the lowest one of the first byte."""
    return flip_byte(data, bit // 8, 1 << bit % 8)


def flip_byte(data: bytes, at: int, by: int = 0xFF) -> bytes:
    """The byte at ``at`` changed."""
    return data[:at] + bytes((data[at] ^ by,)) + data[at + 1 :]


def cut(data: bytes, size: int) -> bytes:
    """Only the first ``size`` bytes."""
    return data[:size]


def insert(data: bytes, at: int, extra: bytes) -> bytes:
    """``extra`` bytes inserted at ``at``."""
    return data[:at] + extra + data[at:]


def delete(data: bytes, begin: int, end: int) -> bytes:
    """The bytes from ``begin`` to ``end`` removed."""
    return data[:begin] + data[end:]


def zero(data: bytes, begin: int, end: int) -> bytes:
    """A hole: the bytes from ``begin`` to ``end`` are zeros, as if never written."""
    return data[:begin] + bytes(len(data[begin:end])) + data[end:]


def swap(data: bytes, first: tuple[int, int], second: tuple[int, int]) -> bytes:
    """Two ranges swapped; ``first`` comes before ``second``."""
    (a, b), (c, d) = first, second
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def set_length(data: bytes, at: int, length: int) -> bytes:
    """Another length in the header at ``at``, whose CRC then no longer matches."""
    return data[:at] + struct.pack("<Q", length) + data[at + 8 :]


def fix_crc(data: bytes, at: int) -> bytes:
    """The length CRC of the header at ``at`` corrected."""
    return data[: at + 8] + struct.pack("<I", masked(data[at : at + 8])) + data[at + HEADER :]


def fix_data_crc(data: bytes, at: int) -> bytes:
    """The data CRC of the frame at ``at`` corrected."""
    begin = at + HEADER
    end = begin + struct.unpack_from("<Q", data, at)[0]
    return data[:end] + struct.pack("<I", masked(data[begin:end])) + data[end + FOOTER :]
