"""Writes entries with short content: header and content together, as one row of fixed width.

The header of an entry, which is everything before its content, depends only on the name, the kind and the
size of the content. So a table holds one header for each size that occurs, and every record takes its row
from the table. The content is copied into the row after the header, and numpy scatters whole rows to their
positions. This module does not know what else is in a record.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ...bytes_column import BytesColumn
from ...memory.copying import copy_ranges, elements
from ..varint import WORD, varint, varint_edges, varint_sizes, varint_words
from ..wire import BYTES, FLOAT, INT64
from .cells import Cells, lengths_of

Ints = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]
Sizes = npt.NDArray[np.uint8]

_MAX_CONTENT = 64  # bytes; entries with longer content are left to general_entry


def short_entry_writer(key: bytes, cells: Cells) -> ShortEntryWriter | None:
    """The writer of entries that hold ``cells`` under ``key``; None if not all of them are short."""
    counts = cells.counts
    if cells.kinds is not None or not len(counts) or not counts[0] or np.count_nonzero(counts - counts[0]):
        return None
    writer: ShortEntryWriter | None = None
    if cells.kind == FLOAT and 4 * int(counts[0]) <= _MAX_CONTENT:
        writer = _FloatWriter(key, cells.values, 4 * int(counts[0]))
    elif cells.kind == INT64 and counts[0] == 1 and (edges := varint_edges(cells.values))[1] <= WORD:
        writer = _IntegerWriter(key, cells.values, *edges)
    elif cells.kind == BYTES and counts[0] == 1:
        lengths = lengths_of(cells.values)
        longest = int(lengths.max())
        if longest <= _MAX_CONTENT:
            writer = _StringWriter(key, cells.values, lengths, longest)
    # The content must begin at the same offset in every record, so all headers must be of one size.
    return writer if writer is None or len(writer.headers[0]) == len(writer.headers[-1]) else None


class ShortEntryWriter(ABC):
    """Writes the entries of one column, with ``shortest`` to ``longest`` bytes of content each.

    An entry takes ``fixed_size`` bytes, plus ``varying_size`` unless that is None; at least ``smallest``
    bytes in every record. ``spill`` is how many bytes after its end a row of full width may cover.
    """

    in_every_record = True

    def __init__(self, key: bytes, kind: int, count: int, shortest: int, longest: int) -> None:
        self.count = count
        self.spill = longest - shortest
        self.headers = [entry_header(key, kind, size) for size in range(shortest, longest + 1)]
        self.smallest = len(self.headers[0]) + shortest
        self.fixed_size = len(self.headers[0]) if self.spill else self.smallest
        self.varying_size: Sizes | None = None
        self._shortest, self._longest = shortest, longest

    @abstractmethod
    def _contents(self) -> npt.NDArray[Any]:
        """One element for each record, which begins with the content of its entry."""

    def write(self, at: Ints, spill_limit: int, out: Octets) -> None:
        """Writes the entries to positions ``at`` of ``out``, and at most ``spill_limit`` bytes after each."""
        content, begin = self._contents(), len(self.headers[0])
        rows = self._rows(begin + content.itemsize)
        if self.spill <= spill_limit:
            slots = np.ndarray(content.shape, content.dtype, rows, begin, (rows.itemsize,))
            slots[:] = content
            _scatter(at, rows, begin + self._longest, out)
            return
        assert self.varying_size is not None  # otherwise nothing spills
        _scatter(at, rows, begin, out)
        begins = content.itemsize * np.arange(self.count)
        copy_ranges(content, begins, out, at + begin, self.varying_size.astype(np.int64))

    def _rows(self, width: int) -> npt.NDArray[np.void]:
        """An element of ``width`` bytes for each record, which begins with the header of its entry."""
        table = np.frombuffer(b"".join([header.ljust(width, b"\0") for header in self.headers]), f"V{width}")
        if self.varying_size is None:
            return np.full(self.count, table[0])
        rows: npt.NDArray[np.void] = table.take(self.varying_size - np.uint8(self._shortest))
        return rows


class _FloatWriter(ShortEntryWriter):
    """Entries with the same number of floats each."""

    def __init__(self, key: bytes, values: npt.NDArray[np.float32], width: int) -> None:
        self._values = np.ascontiguousarray(values, "<f4").view(f"V{width}")
        super().__init__(key, FLOAT, len(self._values), width, width)

    def _contents(self) -> npt.NDArray[Any]:
        return self._values


class _IntegerWriter(ShortEntryWriter):
    """Entries with one integer each."""

    def __init__(self, key: bytes, values: Ints, shortest: int, longest: int) -> None:
        super().__init__(key, INT64, len(values), shortest, longest)
        self._values = values
        self._sizes = varint_sizes(values)
        self.varying_size = self._sizes if self.spill else None

    def _contents(self) -> npt.NDArray[Any]:
        return varint_words(self._values, self._sizes, self._longest)


class _StringWriter(ShortEntryWriter):
    """Entries with one string each."""

    def __init__(self, key: bytes, values: list[bytes] | BytesColumn, lengths: Ints, longest: int) -> None:
        super().__init__(key, BYTES, len(lengths), int(lengths.min()), longest)
        self._strings, self._begins = b"".join(values), np.cumsum(lengths) - lengths
        self.varying_size = lengths.astype(np.uint8) if self.spill else None

    def _contents(self) -> npt.NDArray[Any]:
        width = max(1, self._longest)
        octets = np.frombuffer(self._strings + bytes(width), np.uint8)
        contents: npt.NDArray[Any] = elements(octets, width)[self._begins]
        return contents


@lru_cache(maxsize=1 << 12)
def entry_header(key: bytes, kind: int, size: int) -> bytes:
    """All bytes of an entry before its content, which is ``size`` bytes: one string, or packed numbers.

    0a <entry size> 0a <name> 12 <feature size> <kind> <list size> 0a <size>
    """
    header = b""
    for prefix in (b"\x0a", bytes([kind << 3 | 2]), b"\x0a" + varint(len(key)) + key + b"\x12", b"\x0a"):
        header = prefix + varint(len(header) + size) + header
    return header


def _scatter(at: Ints, rows: npt.NDArray[np.void], width: int, out: Octets) -> None:
    """Writes the first ``width`` bytes of each row to its position in ``out``."""
    elements(out, width)[at] = np.ndarray(len(rows), f"V{width}", rows, strides=rows.strides)
