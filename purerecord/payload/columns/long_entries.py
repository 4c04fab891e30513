"""Entries of any length in lock-step, in all records at once.

After its key, an entry consists of lengths inside lengths that all end where it ends, and of two tags:

    0a E 0a K key 12 F T L 0a P values

So its size says what all that must look like, and comparing is all there is to do. An entry that is written
in another way is read tag by tag and length by length, which takes several times as long. What is accepted
here, the row decoder decodes to the same values.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..wire import BYTES, FLOAT, INT64, UNSET
from . import tuning
from .located import Found, Kinds
from .outline import Entry, prefix_of
from .values import fetch, words_at
from .varint_words import Ints, Mask, Octets, Words, sizes_in

_U = np.uint64
_ONE, TWO_BYTES, _THREE = 1 << 7, 1 << 14, 1 << 21  # from here on, a length takes more bytes than these
_LARGE_HEAD = np.array([[3], [7], [11]])  # what a size that takes three bytes exceeds those in it by


def read_long(octets: Octets, cursor: Ints, ends: Ints, entry: Entry) -> tuple[Found, Ints, Mask]:
    """Read one entry in every record: (what is found, where it ends, in which records it is there).

    The cursors may be anywhere. What is found in other records than those means nothing.
    """
    if entry.kind == UNSET or not cursor.size or not tuning.current.long_entry_table:
        return _read_any(octets, cursor, ends, entry)
    found, stop, valid = _read_usual(octets, cursor, ends, entry)
    rest = np.flatnonzero(~valid)
    if not rest.size:
        return found, stop, valid
    if rest.size == cursor.size:
        return _read_any(octets, cursor, ends, entry)
    others, stop[rest], valid[rest] = _read_any(octets, cursor[rest], ends[rest], entry)
    return mixed(found, others, rest), stop, valid


def mixed(usual: Found, others: Found, rows: Ints, kinds: Kinds | None = None) -> Found:
    """A feature whose entries are ``others`` in the records ``rows``, and ``usual`` elsewhere; ``kinds`` are
    those of all records, if they are not one there. The arrays are changed."""
    begins, sizes = usual.begins, usual.sizes
    if others.listed:  # then one string is a list too, with the tag and the length in front of it
        front = 2 + (sizes >= _ONE).astype(np.int64) + (sizes >= TWO_BYTES)
        begins -= front
        sizes += front
    begins[rows], sizes[rows] = others.begins, others.sizes
    if kinds is None and others.kinds is not None:
        kinds = np.full(begins.size, usual.kind, np.int8)
    if kinds is not None:
        kinds[rows] = others.kind if others.kinds is None else others.kinds
    return Found(others.kind, None, begins, sizes, kinds, others.listed)


def _read_usual(octets: Octets, cursor: Ints, ends: Ints, entry: Entry) -> tuple[Found, Ints, Mask]:
    """The same for entries of the usual form; only these are valid here.

    If that of the first record is so large that its lengths take three bytes, only those as large are.
    """
    begin, stop, words, valid = _open(octets, cursor, ends, entry.key)
    inner = stop - begin
    if words.shape[1] > 1:
        valid &= _large_inside(words, inner, entry.kind)
        begin += _LARGE_HEAD[-1]
    else:
        tags = (b"", bytes((entry.kind << 3 | 2,)), b"\x0a")
        begin += _inside(words[:, 0], inner, valid, tags, 4 if entry.kind == FLOAT else 1)
    return Found(entry.kind, begins=begin, sizes=stop - begin), stop, valid


def read_value(octets: Octets, cursor: Ints, ends: Ints, key: bytes) -> tuple[Ints, Ints, Mask]:
    """Where the values of entries of one key begin and end, whatever they are, and which entries are valid:
    only those of the usual form whose lengths take one or two bytes."""
    begin, stop, words, valid = _open(octets, cursor, ends, key)
    begin += _inside(words[:, 0], stop - begin, valid, (b"",), 1)
    return begin, stop, valid


def _open(octets: Octets, cursor: Ints, ends: Ints, key: bytes) -> tuple[Ints, Ints, Words, Mask]:
    """Entries of one key up to ``12``: (where that ends, where they end, the word that follows it, which are
    valid); if the first one's size takes three bytes, those of all must, and it is two words."""
    heads = fetch(octets, 4, cursor).view("<u4")
    large = int(heads[0]) & 0x808000 == 0x808000
    size = (heads >> np.uint32(8)) & np.uint32(0x7F)
    upper = (heads >> np.uint32(9)) & np.uint32(0x3F80)
    if large:
        size |= upper
        size |= (heads >> np.uint32(10)) & np.uint32(0x1FC000)
        valid = (heads & np.uint32(0x808080FF)) == np.uint32(0x80800A)
        begin = cursor + 4
    else:
        two = (heads >> np.uint32(15)) & np.uint32(1)
        upper *= two
        size |= upper
        valid = (heads & np.uint32(0xFF)) == np.uint32(0x0A)
        begin = cursor + 2
        begin += two
    stop = begin + size
    valid &= stop <= ends
    expected = _key_words(key)
    depth = len(expected)
    begin += len(key) + 3
    # The words in front are the key, right-aligned; those behind are what its size decides.
    words = fetch(octets, 8 * (depth + 2 if large else depth + 1), begin, -8 * depth).view("<u8")
    words = words.reshape(cursor.size, -1)
    for k, (mask, word) in enumerate(expected):
        valid &= (words[:, k] & mask) == word
    return begin, stop, words[:, depth:], valid


@lru_cache(maxsize=1024)
def _key_words(key: bytes) -> list[tuple[np.uint64, np.uint64]]:
    """What is in front of an entry's inner lengths, in words: which bits of them count, and what these are.

    Of the length in front of it all, the one counts that says that it has ended.
    """
    front = b"\0\x0a" + bytes((len(key),)) + key + b"\x12"
    mask = b"\x80" + b"\xff" * (len(front) - 1)
    size = -(-len(front) // 8) * 8
    return list(zip(*(np.frombuffer(row.rjust(size, b"\0"), "<u8") for row in (mask, front)), strict=True))


def _inside(words: Words, inner: Ints, valid: Mask, tags: tuple[bytes, ...], multiple: int) -> Ints:
    """How long the headers are that the words hold, for so many ``inner`` bytes; others are not ``valid``."""
    headers, masks, lengths = _insides(tags, multiple)
    valid &= (words & masks.take(inner, mode="clip")) == headers.take(inner, mode="clip")
    return lengths.take(inner, mode="clip")


@lru_cache(maxsize=8)
def _insides(tags: tuple[bytes, ...], multiple: int) -> tuple[Words, Words, Ints]:
    """By the number of bytes behind the key: how these begin, as a word, which of its bits count, its length.

    That is with the ``tags``, and behind each the length of all that follows: ``F T L 0a P`` for a Feature,
    whose own length has no tag. The last length is a ``multiple``. If there is no header for a number, as for
    the last one here, no word equals it.
    """
    left = np.arange(TWO_BYTES + 3)
    lengths = np.zeros_like(left)
    headers = np.zeros(left.size, _U)
    sound = left < TWO_BYTES + 2
    for tag in tags:
        headers |= int.from_bytes(tag, "little") * _ones(lengths)
        lengths += len(tag)
        left -= len(tag)
        two = left > 0x80
        left -= 1 + two
        sound &= (left >= 0) & (~two | (left >= 0x80))
        code = np.where(two, left & 0x7F | 0x80 | left >> 7 << 8, left)
        headers |= code.astype(_U) * _ones(lengths)
        lengths += 1 + two
    sound &= left % multiple == 0
    masks = np.where(sound, ~_U(0) >> (64 - 8 * lengths).astype(_U), _U(0))
    return np.where(sound, headers, _U(1)), masks, lengths


def _ones(places: Ints) -> Words:
    """A one in the byte at each of these places of a word."""
    ones: Words = _U(1) << (8 * places).astype(_U)
    return ones


def _large_inside(words: Words, inner: Ints, kind: int) -> Mask:
    """Where do the words hold ``F T L 0a P`` for so many bytes behind the key, each length in three bytes?"""
    sizes = inner - _LARGE_HEAD
    codes = (sizes & 0x7F) | (sizes & 0x3F80) << 1 | (sizes & 0x1FC000) << 2 | 0x8080
    first = codes[0] | codes[1] << 32 | (kind << 3 | 2) << 24 | 0x0A << 56
    valid: Mask = words[:, 0].view(np.int64) == first
    valid &= (words[:, 1].view(np.int64) & 0xFFFFFF) == codes[2]
    valid &= (sizes[2] >= TWO_BYTES) & (sizes[0] < _THREE)
    if kind == FLOAT:
        valid &= sizes[2] & 3 == 0
    return valid


def _read_any(octets: Octets, cursor: Ints, ends: Ints, entry: Entry) -> tuple[Found, Ints, Mask]:
    tags, begin, stop, valid = field(octets, cursor, ends)
    valid &= tags == _U(0x0A)
    prefix = prefix_of(entry)
    valid &= matches(octets, begin, prefix)
    tags, begin, end, here = field(octets, begin + len(prefix), ends)
    valid &= here
    valid &= tags == _U(0x12)
    valid &= end == stop
    return _read_feature(octets, begin, stop, valid, entry.kind), stop, valid


def _read_feature(octets: Octets, begin: Ints, stop: Ints, valid: Mask, kind: int) -> Found:
    """Read the Features between ``begin`` and ``stop``; those of another kind cease to be ``valid``."""
    unset = begin == stop
    tags, begin, end, here = field(octets, begin, stop)
    valid &= (here & (end == stop)) | unset
    if kind == UNSET:
        kind = _first_kind(tags[valid & ~unset])
    valid &= (tags == _U(kind << 3 | 2)) | unset
    kinds = np.where(unset, np.int8(UNSET), np.int8(kind)) if unset.any() else None
    empty = (begin == stop) | unset
    tags, inner, end, here = field(octets, begin, stop)
    here &= tags == _U(0x0A)
    here &= end == stop
    if kind == BYTES and not bool(((here & ~empty) | unset | ~valid).all()):
        return Found(kind, begins=begin, sizes=stop - begin, kinds=kinds, listed=True)
    valid &= here | empty
    sizes = np.where(empty, 0, stop - inner)
    if kind == FLOAT:
        valid &= (sizes & 3) == 0
    return Found(kind, begins=inner, sizes=sizes, kinds=kinds)


def _first_kind(tags: Words) -> int:
    known = tags[(tags == _U(0x0A)) | (tags == _U(0x12)) | (tags == _U(0x1A))]
    return int(known[0]) >> 3 if known.size else INT64  # if there is none, then any kind will do


def field(octets: Octets, cursor: Ints, ends: Ints) -> tuple[Words, Ints, Ints, Mask]:
    """The delimited fields at the cursors: (tags, where their contents begin and end, which are valid)."""
    words = words_at(octets, cursor)
    size, width, valid = sizes_in(words >> _U(8))
    begin = cursor + 1 + width
    end = begin + size
    valid &= end <= ends
    return words & _U(0xFF), begin, end, valid


def matches(octets: Octets, begins: Ints, expected: bytes) -> Mask:
    """Where do the expected bytes begin?"""
    depth = -(-len(expected) // 8)
    words = fetch(octets, 8 * depth, begins).view("<u8").reshape(begins.size, depth)
    masks = np.frombuffer((b"\xff" * len(expected)).ljust(8 * depth, b"\0"), "<u8")
    values = np.frombuffer(expected.ljust(8 * depth, b"\0"), "<u8")
    valid = np.ones(begins.size, bool)
    for k in range(depth):
        valid &= words[:, k] & masks[k] == values[k]
    return valid
