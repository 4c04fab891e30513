"""Entries of a record's map that hold anything: each size is computed, and each part scattered by itself.

This module does not know what else is in a record.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...memory.copying import copy_ranges, elements
from ..varint import WORD, varint, varint_edges, varint_sizes, varint_words, varints
from ..wire import ABSENT, BYTES, FLOAT, INT64
from .cells import Cells

Ints = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]

# Strings of this mean length are copied one by one, shorter ones together first.
_LONG = 256


class AnyEntry:
    """One feature as an entry of the map in every record: its sizes, and how it is written.

    0a <entry size> 0a <name> 12 <feature size> [<kind> <list size> [0a <packed size>] values]
    """

    fixed = 0
    spill = 0

    def __init__(self, key: bytes, cells: Cells) -> None:
        self.count = len(cells.counts)
        self._key = b"\x0a" + varint(len(key)) + key + b"\x12"
        self._kind, kinds = cells.kind, cells.kinds
        self._values = _Values(cells)
        # Of the records that have the entry, those in which it has a kind, and so a list.
        self._present = slice(None) if kinds is None else np.flatnonzero(kinds != ABSENT)
        self._typed = slice(None) if kinds is None else np.flatnonzero(kinds[self._present] > 0)
        self._content = self._values.sizes if kinds is None else self._values.sizes[kinds > 0]
        packed = cells.kind != BYTES
        self._list = delimited_sizes(self._content) * (self._content > 0) if packed else self._content
        if kinds is None:
            self._feature = delimited_sizes(self._list)
        else:
            self._feature = np.zeros(np.count_nonzero(kinds != ABSENT), np.int64)
            self._feature[self._typed] = delimited_sizes(self._list)
        self._entry = len(self._key) - 1 + delimited_sizes(self._feature)
        self.varying = np.zeros(self.count, np.int64)
        self.varying[self._present] = delimited_sizes(self._entry)
        self.everywhere = kinds is None
        self.least = int(self.varying.min(initial=0))

    def write(self, out: Octets, at: Ints, room: int) -> None:
        """Write the entry of every record at its place in ``out``."""
        at = put_size(out, at[self._present], b"\x0a", self._entry)
        at = put_size(out, at, self._key, self._feature)
        at = put_size(out, at[self._typed], bytes([self._kind << 3 | 2]), self._list)
        filled = np.flatnonzero(self._content)
        at = at[filled]
        if self._kind != BYTES:
            at = put_size(out, at, b"\x0a", self._content[filled])
        self._values.write(out, at, self._content[filled])


class _Values:
    """The values of a feature in every record: how many bytes they take, and how they are written."""

    def __init__(self, cells: Cells) -> None:
        self._kind, self._values, self._counts = cells.kind, cells.values, cells.counts
        if cells.kind == FLOAT:
            self.sizes = 4 * cells.counts
            return
        each: npt.NDArray[np.integer[Any]]
        if cells.kind == BYTES:
            self._lengths = np.fromiter(map(len, self._values), np.int64, len(self._values))
            each = delimited_sizes(self._lengths)
        elif cells.kind == INT64:
            each = varint_sizes(self._values)
        else:
            each = np.zeros(0, np.int64)
        self._ends = np.append(0, np.cumsum(each, dtype=np.int64))
        self.sizes = np.diff(self._ends[np.append(0, np.cumsum(self._counts))])

    def write(self, out: Octets, at: Ints, sizes: Ints) -> None:
        """Write the values of the records that have any, which take ``sizes`` bytes there."""
        if self._kind == BYTES:
            places = put_size(out, self._each_place(at), b"\x0a", self._lengths)
            _put_strings(out, places, self._values, self._lengths)
        elif self._kind in (FLOAT, INT64):
            floats = self._kind == FLOAT
            packed = np.ascontiguousarray(self._values, "<f4") if floats else varints(self._values)
            _put_packed(out, at, packed, sizes)

    def _each_place(self, at: Ints) -> Ints:
        """Where each single value goes, if those of a record go to ``at``."""
        if len(self._values) == len(at):
            return at
        counts = self._counts[self._counts > 0]
        firsts = np.cumsum(counts) - counts
        places: Ints = np.repeat(at - self._ends[firsts], counts) + self._ends[:-1]
        return places


def delimited_sizes(sizes: Ints) -> Ints:
    """How many bytes a field takes whose content takes ``sizes``: a tag, the size, the content."""
    whole: Ints = sizes + varint_sizes(sizes)
    whole += 1
    return whole


def put_size(out: Octets, at: Ints, before: bytes, sizes: Ints) -> Ints:
    """Write ``before`` and a size to each place; the places behind."""
    if not len(at):
        return at
    if int(sizes.max()) == int(sizes.min()):
        text = before + varint(int(sizes[0]))
        elements(out, len(text))[at] = np.void(text)
        return at + len(text)
    shortest, longest = varint_edges(sizes)
    each = varint_sizes(sizes)
    words = varint_words(sizes, each, longest)
    if len(before) == 1 and longest < WORD:  # as with almost all: both fit into a word
        words = words.astype("<u8")
        words <<= np.uint64(8)
        words |= np.uint64(before[0])
    else:
        elements(out, len(before))[at] = np.void(before)
        at = at + len(before)
        before = b""
    for size in range(shortest, longest + 1):
        here = slice(None) if shortest == longest else np.flatnonzero(each == size)
        octets = np.ndarray(len(words), f"V{len(before) + size}", words, strides=words.strides)
        elements(out, len(before) + size)[at[here]] = octets[here]
    behind: Ints = at + (each + np.uint8(len(before)))
    return behind


def _put_packed(out: Octets, at: Ints, packed: Any, sizes: Ints) -> None:
    """Write to each place the next of the ``packed`` bytes."""
    if not len(at):
        return
    width = int(sizes[0])
    if np.count_nonzero(sizes - width):
        copy_ranges(packed, np.cumsum(sizes) - sizes, out, at, sizes)
    else:  # from where they are, without a copy in between
        elements(out, width)[at] = np.frombuffer(packed, f"V{width}")


def _put_strings(out: Octets, at: Ints, values: list[bytes], lengths: Ints) -> None:
    if int(lengths.sum()) < _LONG * len(values):
        copy_ranges(b"".join(values), np.cumsum(lengths) - lengths, out, at, lengths)
        return
    view = out.data
    for place, end, value in zip(at.tolist(), (at + lengths).tolist(), values, strict=True):
        view[place:end] = value
