"""Entries of any length in lock-step: tag by tag and length by length, in all records at once.

This takes several times as long as comparing a whole header, but the values are long then. What is
accepted here, the row decoder decodes to the same values.
"""

from __future__ import annotations

import numpy as np

from .found import Found
from .layout import MAX_KEY, Entry, prefix_of, read_size
from .septets import Ints, Mask, Octets, Words, sizes_in
from .spans import fetch, words_at
from .wire import BYTES, FLOAT, INT64, MAX_SIZE, UNSET

_U = np.uint64
_HEADER = MAX_KEY + 32  # bytes, which no header of an entry exceeds
_SAMPLE = 32  # records that tell whether it is worth while to look at all


def read_long(octets: Octets, cursor: Ints, ends: Ints, entry: Entry) -> tuple[Found, Ints, Mask]:
    """Read one entry in every record: (what is found, where it ends, in which records it is there).

    The cursors may be anywhere. What is found in other records than those means nothing.
    """
    return _read_equal(octets, cursor, ends, entry) or _read_any(octets, cursor, ends, entry)


def _read_equal(octets: Octets, cursor: Ints, ends: Ints, entry: Entry) -> tuple[Found, Ints, Mask] | None:
    """The same if the entry has the same size in all records, as vectors mostly have; else None.

    Then all headers are equal, and one look at each is enough.
    """
    first = int(cursor[0]) if cursor.size else octets.size
    header, size = _header(octets[max(first, 0) : max(first, 0) + _HEADER].tobytes(), entry)
    if not header or not matches(octets, cursor[:_SAMPLE], header).all():
        return None
    begin = cursor + len(header)
    stop = begin + size
    valid = matches(octets, cursor, header)
    valid &= stop <= ends
    if not valid.all():
        return None
    return Found(entry.kind, begins=begin, sizes=np.full(cursor.size, size)), stop, valid


def _header(head: bytes, entry: Entry) -> tuple[bytes, int]:
    """The header of the entry that ``head`` begins with, and the size of its values; b"" if it is none."""
    key = prefix_of(entry) + b"\x12"
    try:
        size, at = read_size(head, 1)
        stop = at + size
        size, feature = read_size(head, at + len(key))
        sound = head[at : at + len(key)] == key and feature + size == stop
        size, at = read_size(head, feature + 1)
        sound &= head[feature] == entry.kind << 3 | 2 and at + size == stop
        size, begin = read_size(head, at + 1)
        sound &= head[0] == head[at] == 0x0A and begin + size == stop <= MAX_SIZE
    except IndexError:
        return b"", 0
    return head[:begin] if sound and (entry.kind != FLOAT or size % 4 == 0) else b"", size


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
