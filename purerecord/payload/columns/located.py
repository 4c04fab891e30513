"""``Located``: where the values of one feature are in all records of a block, and how to decode them.

A path (a layout, a search in any order) locates the values of a feature: ``Inline`` if it decoded one value
per record on the way, otherwise ``Spans`` of the buffer. ``read_values`` turns either into an array. This
module does not know which path located them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar, Union

import numpy as np

from ...bytes_column import BytesColumn
from ..wire import BYTES, FLOAT, INT64
from .arrays import Ints, Kinds, Octets, Values
from .field_walk import broken_lists, read_field, walk
from .values import are_integers, floats, integers, single_integers, strings


class NeedsRowDecoder(Exception):  # noqa: N818 - not an error: a slower decoder takes these records
    """Some records cannot be decoded together with the others: ``rows`` of the block."""

    def __init__(self, rows: Ints) -> None:
        super().__init__()
        self.rows = rows


class RecordBlock(NamedTuple):
    """Records that are decoded together: ``octets`` are the bytes of ``buffer``."""

    buffer: Any
    octets: Octets
    begins: Ints
    ends: Ints

    def pick(self, rows: Ints) -> RecordBlock:
        """Some of the records."""
        return self._replace(begins=self.begins[rows], ends=self.ends[rows])


class Inline(NamedTuple):
    """One feature in every record of a block: one value per record, decoded already.

    ``kinds`` holds the kind in each record, None if it is ``kind`` in all. The value of a record of another
    kind is arbitrary.
    """

    kind: int
    values: Values
    kinds: Kinds | None = None

    def pick(self, rows: Ints) -> Inline:
        """The same feature in some of the records."""
        return self._replace(values=self.values[rows], kinds=_pick(self.kinds, rows))


class Spans(NamedTuple):
    """One feature in every record of a block: its values are ``sizes[i]`` bytes from ``begins[i]`` on.

    A span holds the packed values, or the one string. If ``listed``, it holds all fields of a BytesList
    instead. ``kinds`` is as in ``Inline``, and so are the spans of records of another kind.
    """

    kind: int
    begins: Ints
    sizes: Ints
    kinds: Kinds | None = None
    listed: bool = False

    def pick(self, rows: Ints) -> Spans:
        """The same feature in some of the records."""
        return self._replace(begins=self.begins[rows], sizes=self.sizes[rows], kinds=_pick(self.kinds, rows))


Located = Union[Inline, Spans]
_Either = TypeVar("_Either", Inline, Spans)


def _pick(kinds: Kinds | None, rows: Ints) -> Kinds | None:
    return None if kinds is None else kinds[rows]


def _of_own_kind(located: _Either) -> tuple[_Either, Ints | None]:
    """The same feature in the records in which it has ``kind``, and which these are; None for all."""
    if located.kinds is None:
        return located, None
    rows = np.flatnonzero(located.kinds == located.kind)
    return located.pick(rows)._replace(kinds=None), rows


def read_values(
    located: Located, block: RecordBlock, *, in_place: bool = False
) -> tuple[Values | BytesColumn, Ints | int]:
    """(the values of all records, how many each has). Strings stay ``in_place``, or become objects.

    Raises NeedsRowDecoder for records whose values cannot be decoded together with the others.
    """
    if isinstance(located, Inline):
        if located.kinds is None:
            return located.values, 1
        own, rows = _of_own_kind(located)
        return _with_counts(own.values, 1, located.kinds, rows)
    spans, rows = _of_own_kind(located)
    try:
        values, counts = _read_spans(spans, block, in_place)
    except NeedsRowDecoder as error:
        raise NeedsRowDecoder(error.rows if rows is None else rows[error.rows]) from None
    return _with_counts(values, counts, located.kinds, rows)


def _with_counts(
    values: Values | BytesColumn, counts: Ints | int, kinds: Kinds | None, rows: Ints | None
) -> tuple[Values | BytesColumn, Ints | int]:
    """(values, how many each record has): ``counts`` in the records ``rows``, none elsewhere."""
    if kinds is None or rows is None:
        return values, counts
    every = np.zeros(kinds.size, np.int64)
    every[rows] = counts
    return values, every


def check_values(located: Located, block: RecordBlock) -> None:
    """Raises NeedsRowDecoder if the values of an unwanted feature may be malformed in some records."""
    if isinstance(located, Inline):
        return
    spans, rows = _of_own_kind(located)
    try:
        if spans.listed:
            _elements(block.octets, spans.begins, spans.sizes)
        elif spans.kind == INT64 and not are_integers(block.octets, spans.begins, spans.sizes):
            raise NeedsRowDecoder(np.arange(spans.sizes.size))
    except NeedsRowDecoder as error:
        raise NeedsRowDecoder(error.rows if rows is None else rows[error.rows]) from None


def _read_spans(spans: Spans, block: RecordBlock, in_place: bool) -> tuple[Values | BytesColumn, Ints | int]:
    begins, sizes = spans.begins, spans.sizes
    if spans.kind == FLOAT:
        return floats(block.octets, begins, sizes), sizes >> 2
    if spans.kind == BYTES:
        counts: Ints | int = 1
        if spans.listed:
            begins, sizes, counts = _elements(block.octets, begins, sizes)
        if in_place:
            return BytesColumn(block.buffer, begins, begins + sizes), counts
        return strings(block.buffer, block.octets, begins, sizes), counts
    single = single_integers(block.octets, begins, sizes)
    if single is not None:
        return single, 1
    lists = integers(block.octets, begins, sizes)
    if lists is None:
        raise NeedsRowDecoder(np.arange(sizes.size))
    return lists


def _elements(octets: Octets, begins: Ints, sizes: Ints) -> tuple[Ints, Ints, Ints]:
    """The strings of BytesLists: (where they begin, their sizes, how many each list has)."""
    ends = begins + sizes
    places, counts = walk(octets, begins, ends)
    tags, starts, stops, valid = read_field(octets, places, np.repeat(ends, counts))
    valid &= tags == 0x0A
    broken = broken_lists(~valid, (places, counts), stops, (begins, ends))
    if broken.any():
        raise NeedsRowDecoder(np.flatnonzero(broken))
    return starts, stops - starts, counts
