"""``Found``: where the values of one feature are, in all records of a block, and how to take them.

This module does not know how they were found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..wire import BYTES, FLOAT, INT64
from . import tuning
from .values import are_integers, floats, integers, single_integers, strings, words_at
from .varint_words import Ints, Octets, sizes_in

Kinds = npt.NDArray[np.int8]
Values = npt.NDArray[Any]

_NOWHERE: Ints = np.empty(0, np.int64)


class OddError(Exception):
    """Some records cannot be decoded together with the others; ``rows`` says which."""

    def __init__(self, rows: Ints) -> None:
        super().__init__()
        self.rows = rows


class Block(NamedTuple):
    """Records that are decoded together: ``octets`` are the bytes of ``buffer``."""

    buffer: Any
    octets: Octets
    begins: Ints
    ends: Ints

    def pick(self, rows: Ints) -> Block:
        """Some of the records."""
        return self._replace(begins=self.begins[rows], ends=self.ends[rows])


class Found(NamedTuple):
    """One feature in every record of a block.

    ``kinds`` holds the kind in each record, None if it is ``kind`` in all. ``values`` is one value for each
    record, if there is just one and it was at hand. Otherwise the packed values, or the one string, are
    ``sizes`` bytes from ``begins`` on; or, where ``listed``, these are all fields of a BytesList. Where the
    kind is another, what is in these arrays means nothing.
    """

    kind: int
    values: Values | None = None
    begins: Ints = _NOWHERE
    sizes: Ints = _NOWHERE
    kinds: Kinds | None = None
    listed: bool = False

    def pick(self, rows: Ints) -> Found:
        """The same for some of the records."""
        kinds = None if self.kinds is None else self.kinds[rows]
        if self.values is not None:
            return self._replace(values=self.values[rows], kinds=kinds)
        return self._replace(begins=self.begins[rows], sizes=self.sizes[rows], kinds=kinds)

    def typed(self) -> tuple[Found, Ints | None]:
        """The same for the records in which it is of ``kind``, and which these are; None for all."""
        if self.kinds is None:
            return self, None
        rows = np.flatnonzero(self.kinds == self.kind)
        return self.pick(rows)._replace(kinds=None), rows


def take(found: Found, block: Block) -> tuple[Values, Ints | int]:
    """(the values of all records, how many each has); OddError if some take the row decoder."""
    if found.values is not None and found.kinds is None:
        return found.values, 1
    own, rows = found.typed()
    try:
        values, numbers = _take(own, block)
    except OddError as error:
        raise OddError(error.rows if rows is None else rows[error.rows]) from None
    if rows is None:
        return values, numbers
    assert found.kinds is not None
    counts = np.zeros(found.kinds.size, np.int64)
    counts[rows] = numbers
    return values, counts


def check(found: Found, block: Block) -> None:
    """OddError if the values of a feature that nobody wants take the row decoder in some records."""
    own, rows = found.typed()
    try:
        if own.values is not None:
            return
        if own.listed:
            _elements(block.octets, own.begins, own.sizes)
        elif own.kind == INT64 and not are_integers(block.octets, own.begins, own.sizes):
            raise OddError(np.arange(own.sizes.size))
    except OddError as error:
        raise OddError(error.rows if rows is None else rows[error.rows]) from None


def _take(found: Found, block: Block) -> tuple[Values, Ints | int]:
    if found.values is not None:
        return found.values, 1
    begins, sizes = found.begins, found.sizes
    if found.kind == FLOAT:
        return floats(block.octets, begins, sizes), sizes >> 2
    if found.kind == BYTES:
        counts: Ints | int = 1
        if found.listed:
            begins, sizes, counts = _elements(block.octets, begins, sizes)
        return strings(block.buffer, block.octets, begins, sizes), counts
    single = single_integers(block.octets, begins, sizes)
    if single is not None:
        return single, 1
    lists = integers(block.octets, begins, sizes)
    if lists is None:
        raise OddError(np.arange(sizes.size))
    return lists


def _elements(octets: Octets, begins: Ints, sizes: Ints) -> tuple[Ints, Ints, Ints]:
    """The strings in lists of bytes: (where they begin, their sizes, how many are in each list)."""
    few = tuning.current.least_lists_per_step
    lists = np.flatnonzero(sizes)
    cursor, stops = begins[lists], (begins + sizes)[lists]
    owners, places, lengths = [lists[:0]], [begins[:0]], [sizes[:0]]
    while lists.size:
        if lists.size < few < len(owners):
            raise OddError(lists)
        words = words_at(octets, cursor)
        size, width, valid = sizes_in(words >> np.uint64(8))
        cursor = cursor + 1 + width
        owners.append(lists)
        places.append(cursor)
        lengths.append(size)
        cursor = cursor + size
        valid &= (words & np.uint64(0xFF)) == np.uint64(0x0A)
        valid &= cursor <= stops
        if not valid.all():
            raise OddError(lists[~valid])
        on = np.flatnonzero(cursor < stops)
        lists, cursor, stops = lists[on], cursor[on], stops[on]
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=sizes.size)
    return np.concatenate(places)[order], np.concatenate(lengths)[order], counts
