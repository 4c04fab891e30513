"""Reads entries of any size in all records at once.

After its key, an entry consists of lengths inside lengths that all end where it ends, and of two tags:

    0a E 0a K key 12 F T L 0a P values

So its size alone decides all bytes between key and values, and one comparison checks them. An entry in
another form is read field by field, which takes several times as long. Whatever this module accepts, the row
decoder decodes to the same values.
This module does not know in which order records have their entries.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..wire import BYTES, FLOAT, INT64, UNSET
from . import tuning
from .arrays import Ints, Kinds, Mask, Octets, Words
from .field_walk import begins_with, read_field
from .located import Spans
from .outline import Entry, prefix_of
from .values import gather_bytes

_U = np.uint64
_ONE, TWO_BYTES, _THREE = 1 << 7, 1 << 14, 1 << 21  # from these sizes on, a length takes one byte more
# By how much the size of the rest of an entry exceeds F, L and P, if each takes three bytes.
_LARGE_HEADS = np.array([[3], [7], [11]])


def read_long(octets: Octets, cursor: Ints, ends: Ints, entry: Entry) -> tuple[Spans, Ints, Mask]:
    """One entry in every record: (where its values are, where it ends, which records have it).

    The cursors may be anywhere. What is returned for other records is arbitrary.
    """
    if entry.kind == UNSET or not cursor.size or not tuning.current.long_entry_table:
        return _read_field_by_field(octets, cursor, ends, entry)
    spans, stop, valid = _read_usual(octets, cursor, ends, entry)
    rest = np.flatnonzero(~valid)
    if not rest.size:
        return spans, stop, valid
    if rest.size == cursor.size:
        return _read_field_by_field(octets, cursor, ends, entry)
    others, stop[rest], valid[rest] = _read_field_by_field(octets, cursor[rest], ends[rest], entry)
    return overlay(others, rest, spans), stop, valid


def overlay(others: Spans, rows: Ints, usual: Spans, kinds: Kinds | None = None) -> Spans:
    """A feature that is ``others`` in the records ``rows``, and ``usual`` elsewhere. Overwrites ``usual``
    and ``kinds``.

    ``kinds`` are the kinds of all records but ``rows``, if they differ.
    """
    begins, sizes = usual.begins, usual.sizes
    if others.listed:  # then one string becomes a list too, with its tag and length
        head = 2 + (sizes >= _ONE).astype(np.int64) + (sizes >= TWO_BYTES)
        begins -= head
        sizes += head
    begins[rows], sizes[rows] = others.begins, others.sizes
    if kinds is None and others.kinds is not None:
        kinds = np.full(begins.size, usual.kind, np.int8)
    if kinds is not None:
        kinds[rows] = others.kind if others.kinds is None else others.kinds
    return Spans(others.kind, begins, sizes, kinds, others.listed)


# --- Entries of the usual form ----------------------------------------------------------------------


class _Opened(NamedTuple):
    """Entries of one key, read up to ``12``.

    If the size of the first one takes three bytes, only such entries are valid: they are ``large``.
    """

    begin: Ints  # after ``12``
    stop: Ints  # where the entries end
    words: Words  # what follows ``12``: one word per entry, two if large
    large: bool
    valid: Mask


def _read_usual(octets: Octets, cursor: Ints, ends: Ints, entry: Entry) -> tuple[Spans, Ints, Mask]:
    """The same as ``read_long``, but only entries of the usual form are valid.

    If the size of the first one takes three bytes, only those as large are.
    """
    begin, stop, words, large, valid = _open(octets, cursor, ends, entry.key)
    if large:
        _check_large_header(words, stop - begin, entry.kind, valid)
        begin += _LARGE_HEADS[-1]
    else:
        tags = (b"", bytes((entry.kind << 3 | 2,)), b"\x0a")
        begin += _check_header(words[:, 0], stop - begin, tags, 4 if entry.kind == FLOAT else 1, valid)
    return Spans(entry.kind, begin, stop - begin), stop, valid


def read_value(octets: Octets, cursor: Ints, ends: Ints, key: bytes) -> tuple[Ints, Ints, Mask]:
    """The values, of any type, of entries of one key: (where they begin, where they end, which are valid).

    Only entries of the usual form whose lengths take one or two bytes are valid.
    """
    begin, stop, words, _, valid = _open(octets, cursor, ends, key)
    begin += _check_header(words[:, 0], stop - begin, (b"",), 1, valid)
    return begin, stop, valid


def _open(octets: Octets, cursor: Ints, ends: Ints, key: bytes) -> _Opened:
    heads = gather_bytes(octets, 4, cursor).view("<u4")
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
    # First the words of the key, right-aligned, then those that the size decides.
    words = gather_bytes(octets, 8 * (depth + 2 if large else depth + 1), begin, -8 * depth).view("<u8")
    words = words.reshape(cursor.size, -1)
    for k, (mask, word) in enumerate(expected):
        valid &= (words[:, k] & mask) == word
    return _Opened(begin, stop, words[:, depth:], large, valid)


@lru_cache(maxsize=1024)
def _key_words(key: bytes) -> list[tuple[np.uint64, np.uint64]]:
    """The words before the inner lengths of an entry, each with the mask of the bits that are compared.

    They begin with the last byte of the entry's size, of which only the bit that ends a varint is compared.
    """
    template = b"\0\x0a" + bytes((len(key),)) + key + b"\x12"
    mask = b"\x80" + b"\xff" * (len(template) - 1)
    size = -(-len(template) // 8) * 8
    return list(zip(*(np.frombuffer(row.rjust(size, b"\0"), "<u8") for row in (mask, template)), strict=True))


def _check_header(words: Words, inner: Ints, tags: tuple[bytes, ...], multiple: int, valid: Mask) -> Ints:
    """How long the headers in ``words`` are. Clears ``valid`` where a header does not fit ``inner`` bytes."""
    headers, masks, lengths = _header_table(tags, multiple)
    valid &= (words & masks.take(inner, mode="clip")) == headers.take(inner, mode="clip")
    return lengths.take(inner, mode="clip")


@lru_cache(maxsize=8)
def _header_table(tags: tuple[bytes, ...], multiple: int) -> tuple[Words, Words, Ints]:
    """By the number of bytes after the key: (header as a word, mask of its bits, length in bytes).

    A header is the ``tags``, each with the length of all that follows: ``F T L 0a P`` for a Feature, whose
    own length has no tag. The last length must be a ``multiple``. No word matches the entry of a number
    without a header, such as the last one.
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
    """Words with a one in the byte at each of these places."""
    ones: Words = _U(1) << (8 * places).astype(_U)
    return ones


def _check_large_header(words: Words, inner: Ints, kind: int, valid: Mask) -> None:
    """Clears ``valid`` where ``words`` are not ``F T L 0a P`` for ``inner`` bytes, three bytes per length."""
    sizes = inner - _LARGE_HEADS
    codes = (sizes & 0x7F) | (sizes & 0x3F80) << 1 | (sizes & 0x1FC000) << 2 | 0x8080
    first = codes[0] | codes[1] << 32 | (kind << 3 | 2) << 24 | 0x0A << 56
    valid &= words[:, 0].view(np.int64) == first
    valid &= (words[:, 1].view(np.int64) & 0xFFFFFF) == codes[2]
    valid &= (sizes[2] >= TWO_BYTES) & (sizes[0] < _THREE)
    if kind == FLOAT:
        valid &= sizes[2] & 3 == 0


# --- Field by field ---------------------------------------------------------------------------------


def _read_field_by_field(octets: Octets, cursor: Ints, ends: Ints, entry: Entry) -> tuple[Spans, Ints, Mask]:
    tags, begin, stop, valid = read_field(octets, cursor, ends)
    valid &= tags == _U(0x0A)
    prefix = prefix_of(entry)
    valid &= begins_with(octets, begin, prefix)
    tags, begin, end, here = read_field(octets, begin + len(prefix), ends)
    valid &= here
    valid &= tags == _U(0x12)
    valid &= end == stop
    kinds, spans, here = read_features(octets, begin, stop)
    valid &= here
    kind = entry.kind
    if kind == UNSET:
        known = kinds[valid & (kinds != UNSET)]
        kind = int(known[0]) if known.size else INT64  # if no record says, any kind will do
    unset = kinds == UNSET
    valid &= (kinds == kind) | unset
    some_kinds = np.where(unset, kinds, np.int8(kind)) if unset.any() else None
    if kind == BYTES:
        # Lists of exactly one string are not walked: their spans are those of the strings.
        tags, begin, end, here = read_field(octets, spans.begins, stop)
        here &= tags == _U(0x0A)
        here &= end == stop
        if bool((here | unset | ~valid).all()):
            return Spans(kind, begin, stop - begin, some_kinds), stop, valid
    return spans._replace(kind=kind, kinds=some_kinds, listed=kind == BYTES), stop, valid


def read_features(octets: Octets, begin: Ints, stop: Ints) -> tuple[Kinds, Spans, Mask]:
    """The Features between ``begin`` and ``stop``: (kinds, where the values are, which are valid).

    The spans are packed numbers, or all the fields of a BytesList. A Feature without a kind is valid.
    """
    unset = begin == stop
    tags, inner, end, valid = read_field(octets, begin, stop)
    valid &= (tags == _U(0x0A)) | (tags == _U(0x12)) | (tags == _U(0x1A))
    valid &= end == stop
    valid |= unset
    kinds = np.where(unset, np.int8(UNSET), (tags >> _U(3)).astype(np.int8))
    begin = np.where(unset, begin, inner)
    # A list of numbers holds one field, the packed values, or nothing.
    packed = (kinds > BYTES) & (begin < stop)
    tags, inner, end, here = read_field(octets, begin, stop)
    valid &= (here & (tags == _U(0x0A)) & (end == stop)) | ~packed
    begin = np.where(packed, inner, begin)
    sizes = stop - begin
    valid &= (kinds != FLOAT) | (sizes & 3 == 0)
    return kinds, Spans(UNSET, begin, sizes, kinds, listed=True), valid
