"""Varints of many records at once: arithmetic on whole arrays instead of a loop over bytes.

A varint holds seven bits per byte (a septet), the lowest first. Its last byte is the first one below 0x80.
One little-endian word of eight bytes holds almost every varint, and numpy shifts, masks and compares all
words of an array in one pass. This module does not know what the numbers mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import tuning
from .arrays import Ints, Mask, Octets, Words

MAX_BYTES = 10  # of a varint
_U = np.uint64
_MORE = 0x8080808080808080  # the bit of each byte that says "not the last"
# The upper septet of each pair, then the upper pair of each four: these move down to close the gaps.
_UPPER_7, _UPPER_14 = 0x7F007F007F007F00, 0x3FFF00003FFF0000


def decode_single(words: Words, sizes: Words) -> tuple[Ints, Mask]:
    """The varint of ``sizes`` bytes at the beginning of each word: (values, which are valid).

    A varint is valid if it has one to eight bytes and ends exactly where its size says.
    """
    longest = int(sizes.max(initial=0))
    if longest == 1 == int(sizes.min()):
        values = words & _U(0xFF)
        return values.view(np.int64), values < _U(0x80)
    if longest > 4:
        septets, valid = _decode_single(words, sizes, _U)
        return septets.view(np.int64), valid
    # Half a word holds them all, and takes half the time.
    septets, valid = _decode_single(words.astype(np.uint32), sizes.astype(np.uint32), np.uint32)
    return septets.astype(np.int64), valid


def _decode_single(
    words: npt.NDArray[Any], sizes: npt.NDArray[Any], unsigned: type[np.uint32 | np.uint64]
) -> tuple[npt.NDArray[Any], Mask]:
    bits = 8 * words.itemsize
    more, last = unsigned(_MORE >> 64 - bits), unsigned(1 << bits - 1)
    # Flip the "more follows" bits and shift the varint to the top of its word: the bytes after it fall out.
    # The varint is valid if the only "more follows" bit that is set now is that of its last byte. A size that
    # does not fit into a word shifts everything out.
    spare = unsigned(words.itemsize) - sizes
    scratch = spare << unsigned(3)
    septets = words ^ more
    septets <<= scratch
    np.bitwise_and(septets, more, out=scratch)
    valid = scratch == last
    septets ^= last
    np.bitwise_and(septets, unsigned(_UPPER_7 >> 64 - bits), out=scratch)
    scratch >>= unsigned(1)
    septets -= scratch  # x * 2 becomes x
    np.bitwise_and(septets, unsigned(_UPPER_14 >> 64 - bits), out=scratch)
    scratch >>= unsigned(2)
    scratch *= unsigned(3)
    septets -= scratch  # x * 4 becomes x
    if bits == 64:
        np.right_shift(septets, _U(32), out=scratch)
        scratch <<= _U(28)
        septets &= _U(0x0FFFFFFF)
        septets |= scratch
    spare *= unsigned(7)
    septets >>= spare
    return septets, valid


def decode_long(low: Words, high: Words, sizes: Ints) -> Ints | None:
    """The varint of nine or ten bytes at the beginning of each pair of words; None unless all are such."""
    ten = sizes == 10
    following = high & _U(0x8080)
    more = np.where(ten, following == _U(0x80), (following & _U(0x80)) == 0)
    if not bool((ten | (sizes == 9)).all() and more.all() and ((low & _U(_MORE)) == _U(_MORE)).all()):
        return None
    values, _ = decode_single(low ^ _U(1 << 63), np.full(low.shape, 8, _U))
    values |= ((high & _U(0x7F)) << _U(56)).view(np.int64)
    values |= np.where(ten, high >> _U(8) << _U(63), _U(0)).view(np.int64)
    return values


def decode_lengths(words: Words) -> tuple[Ints, Ints | int, Mask]:
    """The length at the beginning of each word: (lengths, bytes each takes, valid: at most four bytes)."""
    if not np.count_nonzero(words & _U(0x80)):
        return (words & _U(0x7F)).view(np.int64), 1, np.ones(words.shape, bool)
    pairs = words.astype(np.uint16)
    if not np.count_nonzero((pairs & np.uint16(0x8080)) == np.uint16(0x8080)):
        return _decode_short_lengths(pairs)
    more = words & _U(0x80808080)
    size = words & _U(0x7F7F7F7F)
    first = int(more[0]) if more.size else 0
    width: Ints | int
    if first in (0, 0x80, 0x8080, 0x808080) and bool((more == _U(first)).all()):
        width = first.bit_length() // 8 + 1
        size &= _U((1 << 8 * width) - 1)
        valid = np.ones(words.shape, bool)
    else:
        stop = more ^ _U(0x80808080)
        stop &= np.negative(stop)  # keeps the lowest bit: that of the last byte of the varint
        valid = stop != 0
        size &= (stop << _U(1)) - _U(1)
        width = 1 + (stop > _U(0x80)).astype(np.int64)
        width += stop > _U(0x8000)
        width += stop > _U(0x800000)
    upper = size & _U(0x7F007F00)
    upper >>= _U(1)
    size -= upper
    upper = size >> _U(2)
    upper &= _U(0x0FFFC000)
    size &= _U(0x3FFF)
    size |= upper
    return size.view(np.int64), width, valid


def _decode_short_lengths(pairs: npt.NDArray[np.uint16]) -> tuple[Ints, Ints, Mask]:
    """The length at the beginning of each pair of bytes; all lengths take one or two."""
    two = pairs >> np.uint16(7)
    two &= np.uint16(1)
    upper = pairs >> np.uint16(1)
    upper &= np.uint16(0x3F80)
    upper *= two
    pairs &= np.uint16(0x7F)
    pairs |= upper
    two += np.uint16(1)
    return pairs.astype(np.int64), two.astype(np.int64), np.ones(pairs.shape, bool)


def decode_packed(octets: Octets, begins: Ints, out: Words) -> bool:
    """Fills ``out`` with the varints that begin at ``begins``; False if one has more than ten bytes.

    ``octets`` must end with ten zero bytes after the last varint. No index is out of range, so
    ``mode="wrap"`` wraps nothing; it is only faster than a checked take.
    """
    septets = octets & np.uint8(0x7F)
    more = (octets.view(np.int8) >> np.int8(7)).view(np.uint8)
    # Decode as if a varint began at every byte: first two bytes, then four. That is so cheap that it pays to
    # pick the real beginnings only afterwards.
    pairs = septets.astype(np.uint16)
    upper = (septets[1:] & more[:-1]).astype(np.uint16)
    upper *= np.uint16(1 << 7)  # a multiplication takes half the time of a shift
    pairs[:-1] |= upper
    chain = _continued(more, more, 1, 2)
    if not np.count_nonzero(chain):
        out[:] = pairs.take(begins, mode="wrap")
        return True
    quads = pairs.astype(np.uint32)
    longer = np.count_nonzero(_continued(chain, more, 2, 3))
    if longer:
        more_pairs = chain[: pairs.size - 2].view(np.int8).astype(np.int16).view(np.uint16)
        more_pairs &= pairs[2:]
        four = more_pairs.astype(np.uint32)
    else:  # three bytes at most, so one more is enough
        four = (chain[: pairs.size - 2] & septets[2:]).astype(np.uint32)
    four <<= np.uint32(14)
    quads[:-2] |= four
    out[:] = quads.take(begins, mode="wrap")
    if not longer:
        return True
    which: Ints | slice = slice(None)
    for k in (4, 8):
        chain = _continued(chain, more, k // 2, k)
        longer = np.count_nonzero(chain)
        if not longer:
            return True
        if tuning.current.rare_long_varints * longer < begins.size:  # go on with these only
            here = np.flatnonzero(chain.take(begins))
            begins = begins[here]
            which = here if isinstance(which, slice) else which[here]
        mask = chain[: quads.size - k].view(np.int8).astype(np.int32).view(np.uint32)
        mask &= quads[k:]
        part = mask.take(begins, mode="wrap").astype(_U)
        part <<= _U(7 * k)
        out[which] |= part
    return not _continued(chain, more, 8, MAX_BYTES).any()


def has_overlong_varint(octets: Octets) -> bool:
    """Whether one of the varints that ``octets`` consist of has more than ten bytes."""
    one: Mask = octets >= 0x80
    two = one[:-1] & one[1:]
    four = two[:-2] & two[2:]
    eight = four[:-4] & four[4:]
    return bool((eight[:-2] & two[8:]).any())


def _continued(chain: Octets, more: Octets, begin: int, end: int) -> Octets:
    """0xff where a varint goes on after ``end`` bytes, given ``chain``: where one goes on after ``begin``."""
    for k in range(begin, end):
        chain = chain[:-1] & more[k:]
    return chain
