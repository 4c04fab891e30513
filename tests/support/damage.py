"""Words for damage: what can happen to bytes on their way, as small functions from bytes to bytes.

Frames are made here from the format's description alone, so that tests do not judge the package by itself.
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
    """A frame's header, valid for any length, however absurd."""
    octets = struct.pack("<Q", length)
    return octets + struct.pack("<I", masked(octets))


def frame(payload: bytes) -> bytes:
    """The frame of one payload."""
    return header(len(payload)) + payload + struct.pack("<I", masked(payload))


def frames(payloads: Iterable[bytes]) -> bytes:
    """The frames of many payloads, one after the other: a whole plain file."""
    return b"".join(map(frame, payloads))


def starts(payloads: Iterable[bytes]) -> list[int]:
    """Where each frame begins in ``frames(payloads)``, and where the last one ends."""
    found = [0]
    for payload in payloads:
        found.append(found[-1] + len(payload) + OVERHEAD)
    return found


def flip_bit(data: bytes, bit: int) -> bytes:
    """One bit turned; bits count from the lowest of the first byte."""
    return flip_byte(data, bit // 8, 1 << bit % 8)


def flip_byte(data: bytes, at: int, by: int = 0xFF) -> bytes:
    """The byte at ``at`` changed."""
    return data[:at] + bytes((data[at] ^ by,)) + data[at + 1 :]


def cut(data: bytes, size: int) -> bytes:
    """Only the first ``size`` bytes arrived."""
    return data[:size]


def insert(data: bytes, at: int, extra: bytes) -> bytes:
    """Bytes that do not belong there."""
    return data[:at] + extra + data[at:]


def delete(data: bytes, begin: int, end: int) -> bytes:
    """Bytes that went missing."""
    return data[:begin] + data[end:]


def zero(data: bytes, begin: int, end: int) -> bytes:
    """A hole: the size is right, the bytes were never written."""
    return data[:begin] + bytes(len(data[begin:end])) + data[end:]


def swap(data: bytes, first: tuple[int, int], second: tuple[int, int]) -> bytes:
    """Two ranges, ``first`` before ``second``, that changed places."""
    (a, b), (c, d) = first, second
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def set_length(data: bytes, at: int, length: int) -> bytes:
    """Another length in the header at ``at``; its CRC stays and no longer matches."""
    return data[:at] + struct.pack("<Q", length) + data[at + 8 :]


def fix_crc(data: bytes, at: int) -> bytes:
    """The CRC of the length in the header at ``at`` made to match."""
    return data[: at + 8] + struct.pack("<I", masked(data[at : at + 8])) + data[at + HEADER :]


def fix_data_crc(data: bytes, at: int) -> bytes:
    """The CRC of the payload of the frame at ``at`` made to match."""
    begin = at + HEADER
    end = begin + struct.unpack_from("<Q", data, at)[0]
    return data[:end] + struct.pack("<I", masked(data[begin:end])) + data[end + FOOTER :]
