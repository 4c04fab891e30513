"""CRC-32C as TFRecord stores it: masked; one at a time, and for thousands of records at once.

The mask (rotate right by 15, add a constant) comes from LevelDB: it keeps the CRC of data that itself
holds CRCs from being trivial. Everything else here is one fact: a CRC is linear over XOR. So

* the CRC of a length field is a few table look-ups XORed together (``masked_length_crcs``), and
* the CRC of a long run of bytes is the XOR of its parts' CRCs, each multiplied by x^(bytes behind it).
  ``payloads_match`` therefore computes *one* CRC over a run of small payloads and compares it with what
  the stored CRCs of the payloads add up to. A call per record would cost more than all else.

This module knows neither frames nor files.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
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
    "unmask_many",
]

UInts = npt.NDArray[np.uint32]

# On-disk format; never change.
MASK_DELTA = 0xA282EAD8

_ONES = 0xFFFFFFFF
# ``payloads_match`` looks at runs of at most this many bytes: the tables it needs are this long.
_RUN = 1 << 19
# It pays for many payloads that are small: else a call per record costs little beside the CRC itself.
_MANY = 128
_SMALL = 2048
_LONG = 1 << 14
_PIECE = 512


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
    octets = max(1, (int(lengths.max()).bit_length() + 7) // 8)
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
    if count < _MANY or int(ends[-1] - begins[0]) > count * _SMALL or int((ends - begins).max()) > _LONG:
        return None
    edges = [0]
    while edges[-1] < count:
        run_end = int(begins[edges[-1]]) + _RUN
        edges.append(int(np.searchsorted(ends, run_end, side="right")))
    octets = np.frombuffer(buffer, np.uint8)
    claimed = unmask_many(stored)
    return all(
        _run_matches(octets, begins[low:high], ends[low:high], claimed[low:high])
        for low, high in pairwise(edges)
    )


def _run_matches(
    octets: npt.NDArray[np.uint8],
    begins: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    claimed: UInts,
) -> bool:
    begin, end = int(begins[0]), int(ends[-1])
    size = end - begin
    # The bytes between the payloads become zeros, which add nothing to a CRC that starts from zero.
    run = octets[begin:end].copy()
    if len(ends) > 1:
        gaps = np.ndarray(size - 15, "V16", run, strides=(1,))
        gaps[ends[:-1] - begin] = np.void(bytes(16))
    # A CRC starts from all ones and ends inverted; what the ones do depends on the length alone.
    plain = claimed ^ _advance_table(_ONES, _LONG)[ends - begins] ^ np.uint32(_ONES)
    total = _sum_of_products(plain, _advance_table(1 << 31, _RUN)[end - ends])
    return total == crc32c(run, _ONES) ^ _ONES


def _sum_of_products(left: UInts, right: UInts) -> int:
    """The XOR of all ``left[i] * right[i]``, as bit-reversed polynomials modulo the CRC's.

    Integer multiplication becomes multiplication without carries when every fourth bit at most is
    set: the carries then fall into bits that are masked out in the end.
    """
    holes = np.array([[0x11111111 << shift] for shift in range(4)], np.uint64)
    sums = np.zeros((4, 4), np.uint64)
    for begin in range(0, len(left), _PIECE):  # pieces that stay in the cache
        lefts = left[begin : begin + _PIECE].astype(np.uint64) & holes
        rights = right[begin : begin + _PIECE].astype(np.uint64) & holes
        sums ^= np.bitwise_xor.reduce(lefts[:, None] * rights, axis=2)
    product = 0
    for shift in range(4):
        terms = [int(sums[i, (shift - i) % 4]) for i in range(4)]
        product |= (terms[0] ^ terms[1] ^ terms[2] ^ terms[3]) & (0x1111111111111111 << shift)
    product <<= 1
    low, high = product & _ONES, (product >> 32) & _ONES
    return high ^ _advance(low, 4)


def _advance(value: int, count: int) -> int:
    """``value`` times x^(8 * count): what ``count`` zero bytes make of a CRC register."""
    return crc32c(bytes(count), value ^ _ONES) ^ _ONES


@lru_cache(maxsize=2)
def _advance_table(seed: int, last: int) -> UInts:
    """``_advance(seed, n)`` for n from 0 to ``last``, by doubling."""
    table = np.empty(last + 1, np.uint32)
    table[0] = seed
    done = 1
    while done < len(table):
        todo = min(done, len(table) - done)
        source, target = table[:todo], table[done : done + todo]
        target[:] = 0
        for position, octets in enumerate(_octet_tables(done)):
            target ^= octets[(source >> np.uint32(8 * position)).astype(np.uint8)]
        done += todo
    return table


def _octet_tables(count: int) -> list[UInts]:
    """For each of the four bytes of a CRC: ``_advance(byte in its place, count)`` for all 256 values."""
    tables = []
    for position in range(0, 32, 8):
        table = np.zeros(256, np.uint32)
        for bit in range(8):
            table[1 << bit : 2 << bit] = table[: 1 << bit] ^ np.uint32(_advance(1 << (position + bit), count))
        tables.append(table)
    return tables
