"""Decodes short entries, those of which all lengths are single bytes, once their headers have been checked.

The paths that find short entries (``same_layout``, ``wide_layout``, ``any_order``) hand them over as
``ShortEntries``. This module does not know how they were found, nor in which order records have them.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

import numpy as np

from ..wire import FLOAT, INT64
from . import tuning
from .arrays import Ints, Mask, Octets, Words
from .located import Inline, Located, Spans
from .outline import Entry
from .varint_words import decode_single

_U = np.uint64

Wanted = Container[bytes]


class Everything:
    """Contains every key: what is wanted if the caller names no features."""

    def __contains__(self, key: object) -> bool:
        return True


def per_pass(other: int) -> int:
    """How many records one pass handles if each has ``other`` entries, or entries of ``other`` records."""
    return max(1, tuning.current.entries_per_pass // max(1, other))


class ValueBegins:
    """Where the values of short entries begin: ``offsets[k]`` bytes after ``places[k]`` for entry ``k``."""

    def __init__(self, places: Ints, offsets: Sequence[int]) -> None:
        self._places, self._offsets = places, offsets

    def __getitem__(self, k: int) -> Ints:
        begins: Ints = self._places[k] + self._offsets[k]
        return begins


class SummedValueBegins(ValueBegins):
    """The same if only the place of the first entry is known: the ``sizes`` of all values before are added.

    The sums are computed when the first position is asked for: mostly none is. ``chosen`` are the rows of
    ``sizes`` that belong to the entries.
    """

    def __init__(self, first: Ints, offsets: Sequence[int], sizes: Octets, chosen: list[int]) -> None:
        super().__init__(first, offsets)
        self._sizes, self._chosen = sizes, chosen

    def __getitem__(self, k: int) -> Ints:
        if self._places.ndim == 1:
            before = np.zeros(self._sizes.shape, np.int64)
            np.cumsum(self._sizes[:-1], axis=0, out=before[1:])
            before += self._places
            self._places = before
        return super().__getitem__(self._chosen[k])


class ShortEntries(NamedTuple):
    """Short entries in all records: (entries, records) arrays."""

    entries: Sequence[Entry]
    words: Words  # the first eight bytes of the values
    sizes: Words | Octets  # of the values, in bytes
    valid: Mask  # is the header as expected?
    begins: ValueBegins


class CheckedRun(NamedTuple):
    """A run of segments, read in all records."""

    short: ShortEntries  # the last entries of the segments, at least those that are wanted or to be checked
    floats: dict[bytes, Inline]  # the wanted single floats
    valid: Mask  # records in which all headers are as expected
    ends: Ints  # where the run ends


def values_of_short_entries(short: ShortEntries, wanted: Wanted, alive: Mask) -> dict[bytes, Located]:
    """What short entries hold. Clears ``alive`` in records in which an entry is malformed.

    Features that are not ``wanted`` are returned only if their values have to be checked later. What is
    returned for a record whose entry is not valid is arbitrary.
    """
    columns: dict[bytes, Located] = {}
    ignored = ~(short.valid & alive)
    integers = [k for k, entry in enumerate(short.entries) if entry.kind == INT64]
    some = [k for k in integers if short.entries[k].key in wanted]
    if some:
        columns.update(_read_integers(short, some, ignored))
    if len(some) < len(integers):
        columns.update(_check_integers(short, sorted({*integers} - {*some}), ignored, alive))
    for k, entry in enumerate(short.entries):
        if entry.kind == FLOAT:
            if np.count_nonzero((short.sizes[k] == _U(4)) | ignored[k]) == ignored.shape[1]:
                if entry.key in wanted:
                    columns[entry.key] = Inline(FLOAT, short.words[k].view("<f4")[::2].astype(np.float32))
                continue
            alive &= ((short.sizes[k] & _U(3)) == _U(0)) | ignored[k]
        if entry.kind != INT64 and entry.key in wanted:
            columns[entry.key] = spans_of(short, k)
    return columns


def _read_integers(short: ShortEntries, which: list[int], ignored: Mask) -> dict[bytes, Located]:
    columns: dict[bytes, Located] = {}
    step = per_pass(ignored.shape[1])
    for low in range(0, len(which), step):
        some = which[low : low + step]
        chosen = as_slice(some)
        values, single = decode_single(short.words[chosen], short.sizes[chosen].astype(_U, copy=False))
        single |= ignored[chosen]
        everywhere: Mask = np.logical_and.reduce(single, axis=1)
        for k, row, one in zip(some, values, everywhere.tolist(), strict=True):
            columns[short.entries[k].key] = Inline(INT64, row.copy()) if one else spans_of(short, k)
    return columns


def as_slice(places: list[int]) -> slice | list[int]:
    """The same places, as a slice if they are adjacent: numpy then makes a view instead of a copy."""
    if places and len(places) == places[-1] + 1 - places[0]:
        return slice(places[0], places[-1] + 1)
    return places


def _check_integers(
    short: ShortEntries, which: list[int], ignored: Mask, alive: Mask
) -> dict[bytes, Located]:
    """The integers that have to be checked later. Clears ``alive`` where integers end inside a varint.

    Up to eight bytes are packed integers if the last byte ends a varint. Only longer ones remain to check.
    """
    sizes = short.sizes[which].astype(_U)
    shift = _U(8) - sizes
    shift <<= _U(3)
    last = np.left_shift(short.words[which], shift, out=shift).view(np.int64)
    alive &= ((last >= 0) | ignored[which]).all(axis=0)
    longer = sizes.max(axis=1, initial=0) > _U(8)
    return {short.entries[k].key: spans_of(short, k) for i, k in enumerate(which) if longer[i]}


def spans_of(short: ShortEntries, k: int) -> Spans:
    """Where the values of one entry are."""
    return Spans(short.entries[k].kind, short.begins[k], short.sizes[k].astype(np.int64))
