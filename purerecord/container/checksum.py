"""CRC-32C as TFRecord stores it: masked; one at a time, and for thousands of records at once.

The mask (rotate right by 15, add a constant) comes from LevelDB: it keeps the CRC of data that itself
holds CRCs from being trivial. Everything else here is one fact: a CRC is linear over XOR. So

* the CRC of a length field is a few table look-ups XORed together (``masked_length_crcs``), and
* a CRC register becomes zero when it is fed its own content. So when each stored CRC, brought into that
  form, stands behind its payload, *one* CRC over a run of payloads comes out as zero exactly when all are
  right (``payloads_match``). A call per record would cost more than all else.

This module knows neither frames nor files.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from crc32c import crc32c

__all__ = [
    "crc32c",
    "mask",
    "masked_crc",
    "masked_crcs",
    "masked_length_crcs",
    "payloads_match",
    "payloads_match_in_place",
    "unmask_many",
]

UInts = npt.NDArray[np.uint32]

# On-disk format; never change.
MASK_DELTA = 0xA282EAD8

_ONES = 0xFFFFFFFF
# ``payloads_match`` copies runs of about this many bytes, which stay in the cache.
_RUN = 1 << 18
# It pays for many payloads that are small: else a call per record costs little beside the CRC itself.
_MANY = 64
_SMALL = 4096
# The longest payloads that can be checked many at once.
LONGEST = 1 << 14


def mask(crc: int) -> int:
    """The masked form in which a CRC is stored."""
    return (((crc >> 15) | (crc << 17)) + MASK_DELTA) & 0xFFFFFFFF


def masked_crc(data: Any) -> int:
    """The masked CRC-32C of ``data``, as a frame stores it."""
    return mask(crc32c(data))


def mask_many(crcs: UInts) -> UInts:
    """``mask`` for an array."""
    masked: UInts = ((crcs >> np.uint32(15)) | (crcs << np.uint32(17))) + np.uint32(MASK_DELTA)
    return masked


def unmask_many(masked: UInts) -> UInts:
    """The CRCs that an array of masked ones stands for."""
    rotated = masked - np.uint32(MASK_DELTA)
    crcs: UInts = (rotated << np.uint32(15)) | (rotated >> np.uint32(17))
    return crcs


def masked_crcs(payloads: Any, count: int) -> UInts:
    """The masked CRCs of ``count`` payloads, one call each."""
    return mask_many(np.fromiter(map(crc32c, payloads), np.uint32, count))


def _length_tables() -> tuple[UInts, int]:
    zero = crc32c(bytes(8))
    fields = np.zeros((8, 256, 8), np.uint8)
    for position in range(8):
        fields[position, :, position] = np.arange(256)
    crcs = [crc32c(field.tobytes()) ^ zero for field in fields.reshape(-1, 8)]
    return np.array(crcs, np.uint32).reshape(8, 256), zero


# _LENGTH_TABLES[p][b] is what byte b at position p adds to the CRC of an all-zero length field.
_LENGTH_TABLES, _ZERO_LENGTH = _length_tables()


def masked_length_crcs(lengths: npt.NDArray[np.uint64]) -> UInts:
    """The masked CRCs of an array of lengths, as frame headers store them."""
    crcs = np.full(lengths.shape, _ZERO_LENGTH, np.uint32)
    if not lengths.size:
        return crcs
    low, high = int(lengths.min()), int(lengths.max())
    if high - low + _MANY < lengths.size // 4:  # then there are few different ones
        table = masked_length_crcs(np.arange(low, high + 1, dtype=np.uint64))
        found: UInts = table.take((lengths - np.uint64(low)).view(np.int64))
        return found
    octets = max(1, (high.bit_length() + 7) // 8)
    for position in range(octets):
        crcs ^= _LENGTH_TABLES[position][(lengths >> np.uint64(8 * position)).astype(np.uint8)]
    return mask_many(crcs)


def payloads_match(
    buffer: Any, begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], stored: UInts
) -> bool | None:
    """Whether all payloads ``buffer[begins[i]:ends[i]]`` have the masked CRCs ``stored``.

    None means: not answered, ask each record. The payloads must be in order and 16 bytes apart, as in
    a file. False is certain; True is as certain as a CRC is: damage in one payload is always seen, and
    damage in several goes unseen with the probability of 2^-32 with which a CRC may miss damage at all.
    """
    count = len(begins)
    if count < _MANY or int(ends[-1] - begins[0]) > count * _SMALL or int((ends - begins).max()) > LONGEST:
        return None
    octets = np.frombuffer(buffer, np.uint8)
    words = np.zeros((count, 4), "<u4")
    words[:, 0] = registers(stored, ends - begins)
    marks = words.view("V16")
    low = 0
    while low < count:
        begin = int(begins[low])
        high = max(low + 1, int(np.searchsorted(ends, begin + _RUN)))
        run = np.empty(int(ends[high - 1]) - begin + 16, np.uint8)
        run[:-16] = octets[begin : int(ends[high - 1])]
        # Behind each payload 16 bytes: what makes the register zero, and zeros, which leave it so.
        behind = np.ndarray(len(run) - 15, "V16", run, strides=(1,))
        behind[ends[low:high] - begin] = marks[low:high, 0]
        if not is_zero(run):
            return False
        low = high
    return True


def payloads_match_in_place(
    view: memoryview, begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> bool | None:
    """The same of frames in memory that may be written to: nothing is copied.

    If all match, what lies between the payloads is lost; if not, it is as it was.
    """
    count = len(begins)
    if count < _MANY or int((ends - begins).max()) > LONGEST:
        return None
    behind = np.ndarray(len(view) - 15, "V16", view, strides=(1,))
    gaps = behind[ends[:-1]]
    last = slice(int(ends[-1]), int(ends[-1]) + 4)
    footer = bytes(view[last])
    words = np.zeros((count, 4), "<u4")
    words[:, 0] = registers(np.append(gaps.view("<u4")[::4], np.frombuffer(footer, "<u4")), ends - begins)
    behind[ends[:-1]] = words[:-1].view("V16")[:, 0]
    view[last] = words[-1, :1].tobytes()
    match = is_zero(view[int(begins[0]) : last.stop])
    if not match:
        behind[ends[:-1]] = gaps
        view[last] = footer
    return match


def is_zero(data: Any) -> bool:
    """Whether ``data`` leaves a CRC register at zero that was zero before."""
    return bool(crc32c(data, _ONES) == _ONES)  # the package inverts the register before and after


def registers(stored: UInts, lengths: npt.NDArray[np.int64] | int) -> UInts:
    """What a CRC register that was zero holds behind each run of bytes that has the masked CRC ``stored``.

    ``lengths`` are those of the runs, up to ``LONGEST``. A CRC starts from all ones and ends inverted:
    what that adds depends on the length alone.
    """
    found: UInts = unmask_many(stored) ^ _ones_advanced()[lengths]
    return found


@lru_cache(maxsize=1)
def _ones_advanced() -> UInts:
    """What all ones before n payload bytes, and the inversion behind them, add to a register; by doubling."""
    table = np.empty(LONGEST + 1, np.uint32)
    table[0] = _ONES
    done = 1
    while done < len(table):
        todo = min(done, len(table) - done)
        source, target = table[:todo], table[done : done + todo]
        target[:] = 0
        for position, octets in enumerate(_octet_tables(done)):
            target ^= octets[(source >> np.uint32(8 * position)).astype(np.uint8)]
        done += todo
    table ^= np.uint32(_ONES)
    return table


def _advance(value: int, count: int) -> int:
    """What ``count`` zero bytes make of the register ``value``."""
    return crc32c(bytes(count), value ^ _ONES) ^ _ONES


def _octet_tables(count: int) -> list[UInts]:
    """For each of the four bytes of a CRC: ``_advance(byte in its place, count)`` for all 256 values."""
    tables = []
    for position in range(0, 32, 8):
        table = np.zeros(256, np.uint32)
        for bit in range(8):
            table[1 << bit : 2 << bit] = table[: 1 << bit] ^ np.uint32(_advance(1 << (position + bit), count))
        tables.append(table)
    return tables
