"""Writes entries of any content: every size is computed, and every part is scattered separately.

This module does not know what else is in a record.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...bytes_column import BytesColumn
from ...memory.copying import copy_ranges, elements
from ..varint import WORD, varint, varint_edges, varint_sizes, varint_words, varints
from ..wire import ABSENT, BYTES, FLOAT, INT64
from .cells import Cells, lengths_of

Ints = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]

# Strings of at least this mean length, in bytes, are copied one by one. Shorter ones are joined first.
_COPY_ONE_BY_ONE = 256


class GeneralEntryWriter:
    """Writes the entries of one column; ``varying_size`` is the size of each, 0 where the feature is absent.

    0a <entry size> 0a <name> 12 <feature size> [<kind> <list size> [0a <packed size>] values]
    """

    fixed_size = 0
    spill = 0

    def __init__(self, key: bytes, cells: Cells) -> None:
        self.count = len(cells.counts)
        self._name = b"\x0a" + varint(len(key)) + key + b"\x12"
        self._kind, kinds = cells.kind, cells.kinds
        self._values = _Values(cells)
        # The records that have the entry, and among those the ones in which it has a kind, hence a list.
        self._present = slice(None) if kinds is None else np.flatnonzero(kinds != ABSENT)
        self._typed = slice(None) if kinds is None else np.flatnonzero(kinds[self._present] > 0)
        self._content_sizes = self._values.sizes if kinds is None else self._values.sizes[kinds > 0]
        self._list_sizes = self._content_sizes
        if cells.kind != BYTES:  # packed numbers; none at all take no bytes
            self._list_sizes = delimited_sizes(self._content_sizes) * (self._content_sizes > 0)
        if kinds is None:
            self._feature_sizes = delimited_sizes(self._list_sizes)
        else:
            self._feature_sizes = np.zeros(np.count_nonzero(kinds != ABSENT), np.int64)
            self._feature_sizes[self._typed] = delimited_sizes(self._list_sizes)
        self._entry_sizes = len(self._name) - 1 + delimited_sizes(self._feature_sizes)
        self.varying_size = np.zeros(self.count, np.int64)
        self.varying_size[self._present] = delimited_sizes(self._entry_sizes)
        self.in_every_record = kinds is None
        self.smallest = int(self.varying_size.min(initial=0))

    def write(self, at: Ints, spill_limit: int, out: Octets) -> None:
        """Writes the entries to the positions ``at`` of ``out``, and nothing after them."""
        at = write_size(at[self._present], b"\x0a", self._entry_sizes, out)
        at = write_size(at, self._name, self._feature_sizes, out)
        at = write_size(at[self._typed], bytes([self._kind << 3 | 2]), self._list_sizes, out)
        filled = np.flatnonzero(self._content_sizes)
        at = at[filled]
        if self._kind != BYTES:
            at = write_size(at, b"\x0a", self._content_sizes[filled], out)
        self._values.write(at, self._content_sizes[filled], out)


class _Values:
    """Writes the values of one column; ``sizes`` is how many bytes those of each record take."""

    def __init__(self, cells: Cells) -> None:
        self._kind, self._values, self._counts = cells.kind, cells.values, cells.counts
        if cells.kind == FLOAT:
            self.sizes = 4 * cells.counts
            return
        each: npt.NDArray[np.integer[Any]]
        if cells.kind == BYTES:
            self._lengths = lengths_of(self._values)
            each = delimited_sizes(self._lengths)
        elif cells.kind == INT64:
            each = varint_sizes(self._values)
        else:
            each = np.zeros(0, np.int64)
        self._ends = np.append(0, np.cumsum(each, dtype=np.int64))
        self.sizes = np.diff(self._ends[np.append(0, np.cumsum(self._counts))])

    def write(self, at: Ints, sizes: Ints, out: Octets) -> None:
        """Writes the values, ``sizes`` bytes for each record that has any, to positions ``at`` of ``out``."""
        if self._kind == BYTES:
            positions = write_size(self._value_positions(at), b"\x0a", self._lengths, out)
            _scatter_strings(positions, self._values, self._lengths, out)
        elif self._kind in (FLOAT, INT64):
            floats = self._kind == FLOAT
            packed = np.ascontiguousarray(self._values, "<f4") if floats else varints(self._values)
            _scatter_packed(at, packed, sizes, out)

    def _value_positions(self, at: Ints) -> Ints:
        """The position of every single value, if those of a record begin at ``at``."""
        if len(self._values) == len(at):
            return at
        counts = self._counts[self._counts > 0]
        firsts = np.cumsum(counts) - counts
        positions: Ints = np.repeat(at - self._ends[firsts], counts) + self._ends[:-1]
        return positions


def delimited_sizes(sizes: Ints) -> Ints:
    """How many bytes a delimited field takes: its tag, its size, and ``sizes`` bytes of content."""
    whole: Ints = sizes + varint_sizes(sizes)
    whole += 1
    return whole


def write_size(at: Ints, prefix: bytes, sizes: Ints, out: Octets) -> Ints:
    """Writes ``prefix`` and one of ``sizes`` to each position of ``out``; returns the ends."""
    if not len(at):
        return at
    if int(sizes.max()) == int(sizes.min()):
        text = prefix + varint(int(sizes[0]))
        elements(out, len(text))[at] = np.void(text)
        return at + len(text)
    shortest, longest = varint_edges(sizes)
    each = varint_sizes(sizes)
    words = varint_words(sizes, each, longest)
    if len(prefix) == 1 and longest < WORD:  # nearly always: prefix and size fit into one word
        words = words.astype("<u8")
        words <<= np.uint64(8)
        words |= np.uint64(prefix[0])
    else:
        elements(out, len(prefix))[at] = np.void(prefix)
        at = at + len(prefix)
        prefix = b""
    for size in range(shortest, longest + 1):
        here = slice(None) if shortest == longest else np.flatnonzero(each == size)
        octets = np.ndarray(len(words), f"V{len(prefix) + size}", words, strides=words.strides)
        elements(out, len(prefix) + size)[at[here]] = octets[here]
    after: Ints = at + (each + np.uint8(len(prefix)))
    return after


def _scatter_packed(at: Ints, packed: Any, sizes: Ints, out: Octets) -> None:
    """Writes the ``packed`` bytes to ``out``: the next ``sizes`` of them to each position."""
    if not len(at):
        return
    width = int(sizes[0])
    if np.count_nonzero(sizes - width):
        copy_ranges(packed, np.cumsum(sizes) - sizes, out, at, sizes)
    else:  # all of one size: numpy scatters them without an intermediate copy
        elements(out, width)[at] = np.frombuffer(packed, f"V{width}")


def _scatter_strings(at: Ints, values: list[bytes] | BytesColumn, lengths: Ints, out: Octets) -> None:
    """Writes each string to its position in ``out``."""
    if isinstance(values, BytesColumn):
        copy_ranges(values.buffer, values.begins, out, at, lengths)
        return
    if int(lengths.sum()) < _COPY_ONE_BY_ONE * len(values):
        copy_ranges(b"".join(values), np.cumsum(lengths) - lengths, out, at, lengths)
        return
    view = out.data
    for begin, end, value in zip(at.tolist(), (at + lengths).tolist(), values, strict=True):
        view[begin:end] = value
