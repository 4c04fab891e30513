"""Varints of many records at a time: arithmetic on whole arrays instead of a loop over bytes.

A varint holds seven bits (a septet) per byte, the lowest first, and its last byte is the one below 0x80.
Eight bytes in one little-endian word are enough for almost all of them, and a word can be shifted, masked
and compared in one pass over an array. What the numbers mean, this module does not know.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import tuning

Words = npt.NDArray[np.uint64]
Octets = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

MAX_BYTES = 10
_U = np.uint64
_MORE = 0x8080808080808080  # the bit of each byte that says "not the last"
# Septets, then their pairs are pushed together: the upper ones of each two, which move down.
_UPPER_7, _UPPER_14 = 0x7F007F007F007F00, 0x3FFF00003FFF0000


def scalars(words: Words, sizes: Words) -> tuple[Ints, Mask]:
    """One varint of ``sizes`` bytes at the beginning of each word: the values, and which are valid.

    Valid means: the varint is one to eight bytes long, and its last byte is where ``sizes`` says.
    """
    longest = int(sizes.max(initial=0))
    if longest == 1 == int(sizes.min()):
        values = words & _U(0xFF)
        return values.view(np.int64), values < _U(0x80)
    if longest > 4:
        septets, valid = _scalars(words, sizes, _U)
        return septets.view(np.int64), valid
    # Half a word is enough, and takes half the time.
    septets, valid = _scalars(words.astype(np.uint32), sizes.astype(np.uint32), np.uint32)
    return septets.astype(np.int64), valid


def _scalars(
    words: npt.NDArray[Any], sizes: npt.NDArray[Any], unsigned: type[np.uint32 | np.uint64]
) -> tuple[npt.NDArray[Any], Mask]:
    bits = 8 * words.itemsize
    more, last = unsigned(_MORE >> 64 - bits), unsigned(1 << bits - 1)
    # With the bits flipped that say "more follows", the varint moves to the top of its word, and what is
    # behind it out of it. Of those bits only the one of the last byte is 1 now; of a size that does not
    # fit into a word, nothing is left.
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


def two_words(low: Words, high: Words, sizes: Ints) -> Ints | None:
    """One varint of nine or ten bytes at the beginning of each pair of words; None if one is not that."""
    ten = sizes == 10
    following = high & _U(0x8080)
    more = np.where(ten, following == _U(0x80), (following & _U(0x80)) == 0)
    if not bool((ten | (sizes == 9)).all() and more.all() and ((low & _U(_MORE)) == _U(_MORE)).all()):
        return None
    values, _ = scalars(low ^ _U(1 << 63), np.full(low.shape, 8, _U))
    values |= ((high & _U(0x7F)) << _U(56)).view(np.int64)
    values |= np.where(ten, high >> _U(8) << _U(63), _U(0)).view(np.int64)
    return values


def sizes_in(words: Words) -> tuple[Ints, Ints | int, Mask]:
    """The lengths at the beginning of the words: (size, bytes it takes, valid); at most four bytes."""
    if not np.count_nonzero(words & _U(0x80)):
        return (words & _U(0x7F)).view(np.int64), 1, np.ones(words.shape, bool)
    pairs = words.astype(np.uint16)
    if not np.count_nonzero((pairs & np.uint16(0x8080)) == np.uint16(0x8080)):
        return _sizes_in_pairs(pairs)
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
        stop &= np.negative(stop)  # what remains is the bit of the first byte that is the last of its varint
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


def _sizes_in_pairs(pairs: npt.NDArray[np.uint16]) -> tuple[Ints, Ints, Mask]:
    """The lengths at the beginning of the pairs of bytes, none of which is longer."""
    two = pairs >> np.uint16(7)
    two &= np.uint16(1)
    upper = pairs >> np.uint16(1)
    upper &= np.uint16(0x3F80)
    upper *= two
    pairs &= np.uint16(0x7F)
    pairs |= upper
    two += np.uint16(1)
    return pairs.astype(np.int64), two.astype(np.int64), np.ones(pairs.shape, bool)


def packed(octets: Octets, begins: Ints, out: Words) -> bool:
    """Put the varints that begin at ``begins`` in ``octets`` into ``out``; False if one has over ten bytes.

    Ten zero bytes must stand at the end of ``octets``, behind the last varint. All ``begins`` are in there,
    so nothing is wrapped; but a take that need not look is faster.
    """
    septets = octets & np.uint8(0x7F)
    more = (octets.view(np.int8) >> np.int8(7)).view(np.uint8)
    # What every byte and the next one, and then every four, would be worth at the beginning of a varint: that
    # is so cheap that only then those are taken where one begins.
    pairs = septets.astype(np.uint16)
    upper = (septets[1:] & more[:-1]).astype(np.uint16)
    upper *= np.uint16(1 << 7)  # a shift takes twice as long
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
    else:  # three bytes at most: then one will do
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
        if (
            tuning.current.rare_long_varints * longer < begins.size
        ):  # from here on, only those that are longer
            here = np.flatnonzero(chain.take(begins))
            begins = begins[here]
            which = here if isinstance(which, slice) else which[here]
        mask = chain[: quads.size - k].view(np.int8).astype(np.int32).view(np.uint32)
        mask &= quads[k:]
        part = mask.take(begins, mode="wrap").astype(_U)
        part <<= _U(7 * k)
        out[which] |= part
    return not _continued(chain, more, 8, MAX_BYTES).any()


def has_too_long(octets: Octets) -> bool:
    """Is there a varint of more than ten bytes among those that ``octets`` consist of?"""
    one: Mask = octets >= 0x80
    two = one[:-1] & one[1:]
    four = two[:-2] & two[2:]
    eight = four[:-4] & four[4:]
    return bool((eight[:-2] & two[8:]).any())


def _continued(chain: Octets, more: Octets, begin: int, end: int) -> Octets:
    """0xff where ``end`` bytes are followed by more of the same varint, if ``chain`` says so of ``begin``."""
    for k in range(begin, end):
        chain = chain[:-1] & more[k:]
    return chain
