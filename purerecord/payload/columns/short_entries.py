"""Short entries, of which all lengths are single bytes: what the values are, once it is known where.

Here it does not matter how they were found, nor in which order they stand in the records.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import NamedTuple

import numpy as np

from ..wire import FLOAT, INT64
from . import tuning
from .located import Found
from .outline import Entry
from .varint_words import Ints, Mask, Octets, Words, scalars

_U = np.uint64

Wanted = Container[bytes]


class Everything:
    """Contains everything: what is wanted when nothing is said."""

    def __contains__(self, key: object) -> bool:
        return True


def cells(number: int) -> int:
    """Of how many records this number of entries is handled at once, or the other way round."""
    return max(1, tuning.current.entries_per_pass // max(1, number))


class Short(NamedTuple):
    """Short entries in all records: (entries, records) arrays."""

    entries: Sequence[Entry]
    words: Words  # the first eight bytes of the values
    sizes: Words | Octets  # of the values, in bytes
    valid: Mask  # is the header as expected?
    begins: Callable[[int], Ints]  # of the values of one entry


def take_short(short: Short, alive: Mask, wanted: Wanted) -> dict[bytes, Found]:
    """What short entries hold in the records that are ``alive``; those in which it is odd cease to be.

    Of those that are not ``wanted``, only what has to be checked later. What is not valid does not matter.
    """
    columns: dict[bytes, Found] = {}
    dead = ~(short.valid & alive)
    integers = [k for k, entry in enumerate(short.entries) if entry.kind == INT64]
    some = [k for k in integers if short.entries[k].key in wanted]
    if some:
        columns.update(_take_integers(short, some, dead))
    if len(some) < len(integers):
        columns.update(_check_integers(short, sorted({*integers} - {*some}), dead, alive))
    for k, entry in enumerate(short.entries):
        if entry.kind == FLOAT:
            if np.count_nonzero((short.sizes[k] == _U(4)) | dead[k]) == dead.shape[1]:
                if entry.key in wanted:
                    columns[entry.key] = Found(FLOAT, short.words[k].view("<f4")[::2].astype(np.float32))
                continue
            alive &= ((short.sizes[k] & _U(3)) == _U(0)) | dead[k]
        if entry.kind != INT64 and entry.key in wanted:
            columns[entry.key] = short_span(short, k)
    return columns


def _take_integers(short: Short, which: list[int], dead: Mask) -> dict[bytes, Found]:
    columns: dict[bytes, Found] = {}
    step = cells(dead.shape[1])
    for low in range(0, len(which), step):
        some = which[low : low + step]
        chosen = as_slice(some)
        values, single = scalars(short.words[chosen], short.sizes[chosen].astype(_U, copy=False))
        single |= dead[chosen]
        everywhere: Mask = np.logical_and.reduce(single, axis=1)
        for k, row, one in zip(some, values, everywhere.tolist(), strict=True):
            columns[short.entries[k].key] = Found(INT64, row.copy()) if one else short_span(short, k)
    return columns


def as_slice(places: list[int]) -> slice | list[int]:
    """The same places, as a slice if they are next to each other: that takes them without a copy."""
    if places and len(places) == places[-1] + 1 - places[0]:
        return slice(places[0], places[-1] + 1)
    return places


def _check_integers(short: Short, which: list[int], dead: Mask, alive: Mask) -> dict[bytes, Found]:
    """Up to eight bytes are packed integers if the last byte is the last of one; longer ones remain."""
    sizes = short.sizes[which].astype(_U)
    shift = _U(8) - sizes
    shift <<= _U(3)
    last = np.left_shift(short.words[which], shift, out=shift).view(np.int64)
    alive &= ((last >= 0) | dead[which]).all(axis=0)
    longer = sizes.max(axis=1, initial=0) > _U(8)
    return {short.entries[k].key: short_span(short, k) for i, k in enumerate(which) if longer[i]}


def short_span(short: Short, k: int) -> Found:
    """Where the values of one entry are."""
    sizes = short.sizes[k].astype(np.int64)
    return Found(short.entries[k].kind, begins=short.begins(k), sizes=sizes)
