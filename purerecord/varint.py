"""Varints: integers of one to ten bytes, seven bits in each, the lowest first.

One at a time, or a whole packed list at once with a numpy pass for each byte of the longest. Negative
numbers are their 64-bit complement, so they take ten bytes. A varint may be longer than its value
needs; bits beyond the 64th are dropped, as in protobuf. This module does not know what a field is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .errors import DecodeError

# Wire format; never change.
MAX_VARINT = 10  # bytes
UINT64 = 2**64 - 1

_FEW = 64  # bytes: up to here a plain loop beats a dozen numpy calls
_ZERO = np.zeros(1, np.int64)


def decode_varints(packed: bytes, position: int, name: str | None) -> npt.NDArray[np.int64]:
    """The int64 values of a packed list; ``position`` and ``name`` are for the error."""
    octets: npt.NDArray[np.uint8] = np.frombuffer(packed, np.uint8)
    if packed.isascii():
        return octets.astype(np.int64)
    if packed[-1] >= 0x80:
        raise DecodeError("packed integers end inside a value", feature=name, position=position)
    if len(packed) <= _FEW:
        return _few_varints(packed, position, name)
    lasts = np.flatnonzero(octets < 0x80)
    begins = np.concatenate((_ZERO, lasts[:-1] + 1))
    extra = lasts - begins
    longest = int(extra.max())
    if longest >= MAX_VARINT:
        raise DecodeError("a varint is too long", feature=name, position=position)
    septets = octets & np.uint8(0x7F)
    values: npt.NDArray[np.uint64] = septets[begins].astype(np.uint64)
    for k in range(1, longest + 1):
        longer = np.flatnonzero(extra >= k)
        values[longer] |= septets[begins[longer] + k].astype(np.uint64) << np.uint64(7 * k)
    return values.view(np.int64)


def _few_varints(packed: bytes, position: int, name: str | None) -> npt.NDArray[np.int64]:
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
    """``value`` as a varint; a negative one as its 64-bit complement."""
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
    """The values of a vector as varints, one behind the other: the content of a packed Int64List."""
    if values.size <= _FEW // 2:
        return b"".join(map(varint, values.tolist()))
    rest = values.view(np.uint64)
    longest = (int(rest.max()).bit_length() + 6) // 7
    if longest <= 1:
        return rest.astype(np.uint8).tobytes()
    lengths = np.ones(rest.size, np.int64)
    for k in range(1, longest):
        lengths += rest >= np.uint64(1 << (7 * k))
    begins = np.cumsum(lengths) - lengths
    octets = np.empty(int(begins[-1] + lengths[-1]), np.uint8)
    for k in range(longest):
        here = np.flatnonzero(lengths > k)
        more = (lengths[here] > k + 1).astype(np.uint8) << np.uint8(7)
        septets = (rest[here] >> np.uint64(7 * k)).astype(np.uint8) & np.uint8(0x7F)
        octets[begins[here] + k] = septets | more
    return octets.tobytes()
