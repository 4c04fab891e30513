"""Varints: integers of one to ten bytes, with seven bits of the value in each byte, lowest first.

Functions handle one varint or a whole array. An array is decoded with one numpy pass for each byte of the
longest varint, and encoded in words that hold one varint each. A negative number is stored as its 64-bit
complement, so it takes ten bytes. A varint may be longer than its value needs. Bits beyond the 64th are
dropped, as in protobuf. This module does not know what a field is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DecodeError

# Wire format; never change.
MAX_VARINT = 10  # bytes
UINT64 = 2**64 - 1

# Up to these sizes of a list, a plain Python loop is faster than a dozen numpy calls.
_LOOP_MAX_BYTES = 64  # when decoding
_LOOP_MAX_VALUES = 32  # when encoding
_ZERO = np.zeros(1, np.int64)

# The smallest values that take 2, 3, ... 10 bytes.
_LIMITS = [np.uint64(1 << 7 * size) for size in range(1, MAX_VARINT)]
WORD = 8  # bytes of the longest varint that a word can hold
# For a varint of each size, as a word: a one in each of its bytes, and its continuation bits.
_BYTE_ONES = [0x0101010101010101 & (1 << 8 * size) - 1 for size in range(WORD + 1)]
_CONTINUATION_BITS = [0x80 * (ones >> 8) for ones in _BYTE_ONES]
# For each size of the longest varint, the smallest word type that holds it, and both tables in that type.
_WORD_TYPES = dict(enumerate(["u1", "u2", "u4", "u4", "u8", "u8", "u8", "u8"], 1))
_TABLES = {
    longest: (np.array(_BYTE_ONES[: longest + 1], word), np.array(_CONTINUATION_BITS[: longest + 1], word))
    for longest, word in _WORD_TYPES.items()
}


def read_varint(data: bytes, begin: int, end: int, name: str | None = None) -> tuple[int, int]:
    """The varint at ``begin`` of a message that ends at ``end``, modulo 2**64, and the position after it.

    DecodeError if it is cut off or too long; ``name`` is the feature to name in the error.
    """
    value = shift = 0
    for position in range(begin, min(end, begin + MAX_VARINT)):
        octet = data[position]
        value |= (octet & 0x7F) << shift
        if octet < 0x80:
            return value & UINT64, position + 1
        shift += 7
    reason = "a varint is too long" if end - begin >= MAX_VARINT else "the message ends inside a field"
    raise DecodeError(reason, feature=name, position=begin)


def decode_varints(packed: bytes, position: int, name: str | None) -> npt.NDArray[np.int64]:
    """The int64 values of a packed list; ``position`` and ``name`` are those of the list, for errors."""
    octets: npt.NDArray[np.uint8] = np.frombuffer(packed, np.uint8)
    if packed.isascii():
        return octets.astype(np.int64)
    if packed[-1] >= 0x80:
        raise DecodeError("packed integers end inside a value", feature=name, position=position)
    if len(packed) <= _LOOP_MAX_BYTES:
        return _decode_in_loop(packed, position, name)
    lasts = np.flatnonzero(octets < 0x80)
    begins = np.concatenate((_ZERO, lasts[:-1] + 1))
    extra = lasts - begins
    longest = int(extra.max())
    if longest >= MAX_VARINT:
        raise DecodeError("a varint is too long", feature=name, position=position)
    bits = octets & np.uint8(0x7F)
    values: npt.NDArray[np.uint64] = bits[begins].astype(np.uint64)
    for k in range(1, longest + 1):
        longer = np.flatnonzero(extra >= k)
        values[longer] |= bits[begins[longer] + k].astype(np.uint64) << np.uint64(7 * k)
    return values.view(np.int64)


def _decode_in_loop(packed: bytes, position: int, name: str | None) -> npt.NDArray[np.int64]:
    # Not read_varint: a call for each value takes two to three times as long.
    values = []
    value = shift = 0
    for octet in packed:
        value |= (octet & 0x7F) << shift
        if octet < 0x80:
            values.append(value & UINT64)
            value = shift = 0
        elif shift == 63:
            raise DecodeError("a varint is too long", feature=name, position=position)
        else:
            shift += 7
    return np.array(values, np.uint64).view(np.int64)


def varint(value: int) -> bytes:
    """``value`` as a varint; a negative value as its 64-bit complement."""
    if 0 <= value < 0x80:
        return bytes((value,))
    value &= UINT64
    octets = bytearray()
    while value >= 0x80:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    octets.append(value)
    return bytes(octets)


def varints(values: npt.NDArray[np.int64]) -> bytes:
    """The values as varints, one after the other: the content of a packed Int64List."""
    if values.size <= _LOOP_MAX_VALUES:
        return b"".join(map(varint, values.tolist()))
    longest = varint_edges(values)[1]
    sizes = varint_sizes(values)
    if longest > WORD:
        return _encode_byte_by_byte(values.view(np.uint64), sizes)
    octets = varint_words(values, sizes, longest).view(np.uint8)
    if longest == 1:
        return octets.tobytes()
    return octets.compress(_TABLES[longest][0].take(sizes).view(np.bool_)).tobytes()


def varint_edges(values: npt.NDArray[np.int64]) -> tuple[int, int]:
    """How many bytes the shortest and the longest of the values take as varints."""
    unsigned = values.view(np.uint64)
    low, high = int(np.minimum.reduce(unsigned)), int(np.maximum.reduce(unsigned))
    return (low.bit_length() + 6) // 7 or 1, (high.bit_length() + 6) // 7 or 1


def varint_sizes(values: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """How many bytes each value takes as a varint."""
    if not values.size:
        return np.zeros(0, np.uint8)
    shortest, longest = varint_edges(values)
    sizes = np.full(values.size, shortest, np.uint8)
    for limit in _LIMITS[shortest - 1 : longest - 1]:
        sizes += (values.view(np.uint64) >= limit).view(np.uint8)
    return sizes


def varint_words(
    values: npt.NDArray[np.int64], sizes: npt.NDArray[np.uint8], longest: int
) -> npt.NDArray[Any]:
    """Varints of up to ``longest`` bytes, eight at most, in the smallest little-endian words that hold them.

    The bytes of a word after its varint are zero.
    """
    more = _TABLES[longest][1]
    word = more.dtype.type
    words = values.astype(word)
    every = (1 << 8 * words.itemsize) - 1
    # Move the halves of the value apart, then their halves, until every seven bits are in their own byte.
    for step, lower in ((4, 0x0FFFFFFF), (2, 0x3FFF00003FFF), (1, 0x007F007F007F007F)):
        if longest > step:
            upper = words & word(lower << 7 * step & every)
            words &= word(lower & every)
            words |= upper << word(step)
    if longest > 1:
        words |= more.take(sizes)
    return words.astype(words.dtype.newbyteorder("<"), copy=False)


def _encode_byte_by_byte(values: npt.NDArray[np.uint64], lengths: npt.NDArray[np.uint8]) -> bytes:
    """Varints of ``lengths`` bytes each, with one numpy pass for each byte of the longest."""
    begins = np.cumsum(lengths, dtype=np.int64) - lengths
    octets = np.empty(int(begins[-1]) + int(lengths[-1]), np.uint8)
    for k in range(int(lengths.max())):
        here = np.flatnonzero(lengths > k)
        more = (lengths[here] > k + 1).astype(np.uint8) << np.uint8(7)
        bits = (values[here] >> np.uint64(7 * k)).astype(np.uint8) & np.uint8(0x7F)
        octets[begins[here] + k] = bits | more
    return octets.tobytes()
