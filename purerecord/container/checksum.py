"""CRC-32C as TFRecord stores it: masked; one at a time, and for thousands of records at once.

The mask (rotate right by 15, add a constant) comes from LevelDB: it keeps the CRC of data that itself
holds CRCs from being trivial. Everything else here is one fact: a CRC is linear over XOR. So

* the CRC of a length field is a few table look-ups XORed together (``masked_length_crcs``), and
* a CRC register becomes zero when it is fed its own content. If each stored CRC, brought into that form,
  follows its payload, then *one* CRC over a run of payloads is zero exactly when all payloads match
  (``payloads_match``). A call per record would cost more than everything else.

This module knows neither frames nor files.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from crc32c import crc32c

__all__ = [
    "LONGEST_IN_BATCH",
    "crc32c",
    "leaves_zero",
    "mask",
    "mask_many",
    "masked_crc",
    "masked_crcs",
    "masked_length_crcs",
    "payloads_match",
    "payloads_match_in_place",
    "registers_after",
    "unmask_many",
]

UInts = npt.NDArray[np.uint32]

# On-disk format; never change.
MASK_DELTA = 0xA282EAD8

_ONES = 0xFFFFFFFF
# ``payloads_match`` copies about this many bytes at a time, so that they stay in the CPU cache.
_COPIED_AT_ONCE = 1 << 18
# It pays off for many small payloads. For others, a call per record costs little beside the CRC itself.
_FEWEST_PAYLOADS = 64
_LARGEST_MEAN = 4096
# The longest payload that can be checked together with others.
LONGEST_IN_BATCH = 1 << 14
# Building a table of n lengths costs about as much as n and this many look-ups.
_TABLE_COST = 64


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
    """The CRCs of an array of masked ones."""
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


# _LENGTH_TABLES[p][b]: XOR it to the CRC of an all-zero length field to set the byte at position p to b.
_LENGTH_TABLES, _ZERO_LENGTH = _length_tables()


def masked_length_crcs(lengths: npt.NDArray[np.uint64]) -> UInts:
    """The masked CRCs of an array of lengths, as frame headers store them."""
    crcs = np.full(lengths.shape, _ZERO_LENGTH, np.uint32)
    if not lengths.size:
        return crcs
    low, high = int(lengths.min()), int(lengths.max())
    if high - low + _TABLE_COST < lengths.size // 4:  # few different lengths
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

    None means that the caller must check each record. The payloads must be in order and 16 bytes apart, as in
    a file. False is certain. True is as certain as a CRC: it sees damage in one payload always, and misses
    damage in several with the probability of 2^-32 with which any CRC may miss damage.
    """
    count = len(begins)
    if (
        count < _FEWEST_PAYLOADS
        or int(ends[-1] - begins[0]) > count * _LARGEST_MEAN
        or int((ends - begins).max()) > LONGEST_IN_BATCH
    ):
        return None
    octets = np.frombuffer(buffer, np.uint8)
    words = np.zeros((count, 4), "<u4")
    words[:, 0] = registers_after(stored, ends - begins)
    marks = words.view("V16")
    low = 0
    while low < count:
        begin = int(begins[low])
        high = max(low + 1, int(np.searchsorted(ends, begin + _COPIED_AT_ONCE)))
        run = np.empty(int(ends[high - 1]) - begin + 16, np.uint8)
        run[:-16] = octets[begin : int(ends[high - 1])]
        # After each payload 16 bytes: four that make the register zero, and zeros, which leave it zero.
        gaps = np.ndarray(len(run) - 15, "V16", run, strides=(1,))
        gaps[ends[low:high] - begin] = marks[low:high, 0]
        if not leaves_zero(run):
            return False
        low = high
    return True


def payloads_match_in_place(
    view: memoryview, begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> bool | None:
    """Like ``payloads_match``, without a copy: overwrites the bytes between the payloads of ``view``.

    If a payload does not match, these bytes are restored.
    """
    count = len(begins)
    if count < _FEWEST_PAYLOADS or int((ends - begins).max()) > LONGEST_IN_BATCH:
        return None
    gaps = np.ndarray(len(view) - 15, "V16", view, strides=(1,))
    originals = gaps[ends[:-1]]
    last = slice(int(ends[-1]), int(ends[-1]) + 4)
    footer = bytes(view[last])
    words = np.zeros((count, 4), "<u4")
    words[:, 0] = registers_after(
        np.append(originals.view("<u4")[::4], np.frombuffer(footer, "<u4")), ends - begins
    )
    gaps[ends[:-1]] = words[:-1].view("V16")[:, 0]
    view[last] = words[-1, :1].tobytes()
    match = leaves_zero(view[int(begins[0]) : last.stop])
    if not match:
        gaps[ends[:-1]] = originals
        view[last] = footer
    return match


def leaves_zero(data: Any) -> bool:
    """Whether a CRC register that was zero is zero again after ``data``."""
    return bool(crc32c(data, _ONES) == _ONES)  # the package inverts the register before and after


def registers_after(stored: UInts, lengths: npt.NDArray[np.int64] | int) -> UInts:
    """The content of a CRC register that was zero, after bytes with the masked CRC ``stored``; for many.

    ``lengths`` are the numbers of those bytes, up to ``LONGEST_IN_BATCH``. A CRC starts from all ones and
    ends inverted, which adds a term that depends on the length alone.
    """
    found: UInts = unmask_many(stored) ^ _ones_advanced()[lengths]
    return found


@lru_cache(maxsize=1)
def _ones_advanced() -> UInts:
    """The term for each length n: all ones advanced over n bytes, and inverted. Computed by doubling."""
    table = np.empty(LONGEST_IN_BATCH + 1, np.uint32)
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
    """The register ``value`` after ``count`` zero bytes."""
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
