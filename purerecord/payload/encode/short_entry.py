"""Entries of a record's map that are short, and in all records nearly the same: each written as one piece.

Everything in front of the content depends on nothing but the name, the kind and the content's size. So a
table of one such head per size that occurs is made, from which every record takes its own; the content goes
behind it, and head and content are scattered together. This module does not know what else is in a record.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ...memory.copying import copy_ranges, elements
from ..varint import WORD, varint, varint_edges, varint_sizes, varint_words
from ..wire import BYTES, FLOAT, INT64
from .cells import Cells

Ints = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]
Sizes = npt.NDArray[np.uint8]

# The longest content, in bytes, that is put together with its head.
_SHORT = 64


def short_entry(key: bytes, cells: Cells) -> ShortEntry | None:
    """The entry with the name ``key`` that holds ``cells``, if it is a short one."""
    counts = cells.counts
    if cells.kinds is not None or not len(counts) or not counts[0] or np.count_nonzero(counts - counts[0]):
        return None
    entry: ShortEntry | None = None
    if cells.kind == FLOAT and 4 * int(counts[0]) <= _SHORT:
        entry = _Floats(key, cells.values, 4 * int(counts[0]))
    elif cells.kind == INT64 and counts[0] == 1 and (edges := varint_edges(cells.values))[1] <= WORD:
        entry = _Integers(key, cells.values, *edges)
    elif cells.kind == BYTES and counts[0] == 1:
        lengths = np.fromiter(map(len, cells.values), np.int64, len(counts))
        longest = int(lengths.max())
        if longest <= _SHORT:
            entry = _Strings(key, cells.values, lengths, longest)
    # The content must begin at the same place in every record.
    return entry if entry is None or len(entry.heads[0]) == len(entry.heads[-1]) else None


class ShortEntry(ABC):
    """An entry that holds ``shortest`` to ``longest`` bytes of content in each of ``count`` records.

    Its size in a record is ``fixed`` bytes, and ``varying`` besides where that is not None. ``spill`` is
    how many bytes behind its end it would like to write to.
    """

    everywhere = True

    def __init__(self, key: bytes, kind: int, count: int, shortest: int, longest: int) -> None:
        self.count = count
        self.spill = longest - shortest
        self.heads = [head(key, kind, size) for size in range(shortest, longest + 1)]
        self.least = len(self.heads[0]) + shortest
        self.fixed = len(self.heads[0]) if self.spill else self.least
        self.varying: Sizes | None = None
        self._shortest, self._longest = shortest, longest

    @abstractmethod
    def _contents(self) -> npt.NDArray[Any]:
        """An element for each record; its content is the first bytes of that."""

    def write(self, out: Octets, at: Ints, room: int) -> None:
        """Write the entry of every record at its place in ``out``, and up to ``room`` bytes behind it."""
        content, begin = self._contents(), len(self.heads[0])
        rows = self._rows(begin + content.itemsize)
        if self.spill <= room:
            slots = np.ndarray(content.shape, content.dtype, rows, begin, (rows.itemsize,))
            slots[:] = content
            _put(out, at, rows, begin + self._longest)
            return
        assert self.varying is not None  # else there is nothing to spill
        _put(out, at, rows, begin)
        begins = content.itemsize * np.arange(self.count)
        copy_ranges(content, begins, out, at + begin, self.varying.astype(np.int64))

    def _rows(self, width: int) -> npt.NDArray[np.void]:
        """The head of each record at the beginning of an element of ``width`` bytes."""
        table = np.frombuffer(b"".join([text.ljust(width, b"\0") for text in self.heads]), f"V{width}")
        if self.varying is None:
            return np.full(self.count, table[0])
        rows: npt.NDArray[np.void] = table.take(self.varying - np.uint8(self._shortest))
        return rows


class _Floats(ShortEntry):
    def __init__(self, key: bytes, values: npt.NDArray[np.float32], width: int) -> None:
        self._values = np.ascontiguousarray(values, "<f4").view(f"V{width}")
        super().__init__(key, FLOAT, len(self._values), width, width)

    def _contents(self) -> npt.NDArray[Any]:
        return self._values


class _Integers(ShortEntry):
    def __init__(self, key: bytes, values: Ints, shortest: int, longest: int) -> None:
        super().__init__(key, INT64, len(values), shortest, longest)
        self._values = values
        self._sizes = varint_sizes(values)
        self.varying = self._sizes if self.spill else None

    def _contents(self) -> npt.NDArray[Any]:
        return varint_words(self._values, self._sizes, self._longest)


class _Strings(ShortEntry):
    def __init__(self, key: bytes, values: list[bytes], lengths: Ints, longest: int) -> None:
        super().__init__(key, BYTES, len(lengths), int(lengths.min()), longest)
        self._joined, self._begins = b"".join(values), np.cumsum(lengths) - lengths
        self.varying = lengths.astype(np.uint8) if self.spill else None

    def _contents(self) -> npt.NDArray[Any]:
        width = max(1, self._longest)
        octets = np.frombuffer(self._joined + bytes(width), np.uint8)
        contents: npt.NDArray[Any] = elements(octets, width)[self._begins]
        return contents


@lru_cache(maxsize=1 << 12)
def head(key: bytes, kind: int, size: int) -> bytes:
    """What comes in front of the ``size`` bytes that are the one string or the packed numbers of a feature.

    0a <entry size> 0a <name> 12 <feature size> <kind> <list size> 0a <size>
    """
    whole = b""
    for before in (b"\x0a", bytes([kind << 3 | 2]), b"\x0a" + varint(len(key)) + key + b"\x12", b"\x0a"):
        whole = before + varint(len(whole) + size) + whole
    return whole


def _put(out: Octets, at: Ints, rows: npt.NDArray[np.void], width: int) -> None:
    """The first ``width`` bytes of each row to its place."""
    elements(out, width)[at] = np.ndarray(len(rows), f"V{width}", rows, strides=rows.strides)
