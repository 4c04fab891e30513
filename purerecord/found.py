"""``Found``: where the values of one feature are, in all records of a block, and how to take them.

This module does not know how they were found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .records import Offsets
from .septets import Ints, Octets, sizes_in
from .spans import are_integers, floats, integers, single_integers, strings, words_at
from .wire import BYTES, FLOAT, INT64

Kinds = npt.NDArray[np.int8]
_FEW = 8  # records: fewer are not worth a step together


class OddError(Exception):
    """Some records cannot be decoded together with the others; ``rows`` says which."""

    def __init__(self, rows: Ints) -> None:
        super().__init__()
        self.rows = rows


class Block(NamedTuple):
    """Records that are decoded together, each with a margin around it."""

    buffer: Any
    octets: Octets
    begins: Offsets
    ends: Offsets

    def pick(self, rows: Ints) -> Block:
        return self._replace(begins=self.begins[rows], ends=self.ends[rows])


@dataclass(frozen=True)
class Found:
    """One feature in every record of a block.

    ``kinds`` holds the kind in each record, None if it is ``kind`` in all. ``values`` is one value for each
    record, if there is just one and it was at hand. Otherwise the packed values, or the one string, are
    ``sizes`` bytes from ``begins`` on; or, where ``listed``, these are all fields of a BytesList. Where the
    kind is another, what is in these arrays means nothing.
    """

    kind: int
    values: npt.NDArray[Any] | None = None
    begins: Ints | None = None
    sizes: Ints | None = None
    kinds: Kinds | None = None
    listed: bool = False

    def pick(self, rows: Ints) -> Found:
        """The same for some of the records."""
        arrays = ("values", "begins", "sizes", "kinds")
        picked = {name: None if getattr(self, name) is None else getattr(self, name)[rows] for name in arrays}
        return replace(self, **picked)


def take(found: Found, block: Block) -> tuple[npt.NDArray[Any], Ints | int]:
    """(the values of all records, the number of values in each); OddError if it takes the row decoder."""
    if found.kinds is None:
        return _take(found, block, np.arange(len(block.begins)))
    rows = np.flatnonzero(found.kinds == found.kind)
    values, numbers = _take(found.pick(rows), block, rows)
    counts = np.zeros(found.kinds.size, np.int64)
    counts[rows] = numbers
    return values, counts


def check(found: Found, block: Block) -> None:
    """OddError if the values of a feature that nobody wants take the row decoder."""
    rows = np.arange(len(block.begins))
    if found.kinds is not None:
        rows = np.flatnonzero(found.kinds == found.kind)
        found = found.pick(rows)
    if found.values is None:
        assert found.begins is not None
        assert found.sizes is not None
        if found.kind == INT64 and not are_integers(block.octets, found.begins, found.sizes):
            raise OddError(rows)
        if found.listed:
            _elements(block.octets, found.begins, found.sizes, rows)


def _take(found: Found, block: Block, rows: Ints) -> tuple[npt.NDArray[Any], Ints | int]:
    if found.values is not None:
        return found.values, 1
    begins, sizes = found.begins, found.sizes
    assert begins is not None
    assert sizes is not None
    if found.kind == FLOAT:
        return floats(block.octets, begins, sizes), sizes >> 2
    if found.kind == BYTES:
        counts: Ints | int = 1
        if found.listed:
            begins, sizes, counts = _elements(block.octets, begins, sizes, rows)
        return strings(block.buffer, block.octets, begins, sizes), counts
    single = single_integers(block.octets, begins, sizes)
    if single is not None:
        return single, 1
    lists = integers(block.octets, begins, sizes)
    if lists is None:
        raise OddError(rows)
    return lists


def _elements(octets: Octets, begins: Ints, sizes: Ints, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """The strings in lists of bytes: (where they begin, their sizes, how many in each list)."""
    lists = np.flatnonzero(sizes)
    cursor, stops = begins[lists], (begins + sizes)[lists]
    owners, places, lengths = [lists[:0]], [begins[:0]], [sizes[:0]]
    while lists.size:
        if lists.size < _FEW < len(owners):
            raise OddError(rows[lists])
        words = words_at(octets, cursor)
        size, width, valid = sizes_in(words >> np.uint64(8))
        cursor = cursor + 1 + width
        owners.append(lists)
        places.append(cursor)
        lengths.append(size)
        cursor = cursor + size
        valid &= (words & np.uint64(0xFF)) == 0x0A
        valid &= cursor <= stops
        if not valid.all():
            raise OddError(rows[lists[~valid]])
        on = np.flatnonzero(cursor < stops)
        lists, cursor, stops = lists[on], cursor[on], stops[on]
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=sizes.size)
    return np.concatenate(places)[order], np.concatenate(lengths)[order], counts
