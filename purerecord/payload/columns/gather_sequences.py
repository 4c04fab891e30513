"""Columns of SequenceExamples: the context, and the feature lists.

``gather_sequences`` decodes most records in lock-step and the rest with the row decoder, and puts both
together in the order of the records; nobody can tell from the result which took which. The context of a
record is an Example, and ``columns`` decodes it as one; the lists are found with ``maps`` and read with
``steps``. This module knows neither feature specs nor files.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ...errors import DecodeError
from ...records import Records
from ..wire import BYTES, FLOAT, INT64, UNSET, Value, decode_sequence
from . import tuning
from .gather import Column, column_of, gather
from .located import Block, Found, OddError, Values, check, take
from .merge import DTYPES, OneByOne, Part, Piece, Together
from .sequence_maps import find_lists, open_maps
from .sequence_steps import read_steps
from .varint_words import Ints, Mask

Kinds = Mapping[str, int]


@dataclass(frozen=True)
class Lists:
    """The feature lists of one key: a column of all steps, how many each example has, and its range of them,
    and which examples have the key at all."""

    column: Column
    lengths: Ints
    splits: Ints
    present: Mask


class Some(Protocol):
    """The records ``rows`` of a batch, decoded."""

    @property
    def rows(self) -> Ints: ...

    def context(self) -> list[Piece]:
        """The context: together, the pieces have all ``rows``."""

    def counts(self, name: str) -> Ints:
        """How many steps each record has in the list of that name; -1 if it has no such list."""

    def steps(self, name: str, numbers: Ints) -> Piece:
        """Those steps, as the rows ``numbers`` of a piece."""


def gather_sequences(
    records: Records, context: Kinds, lists: Kinds
) -> tuple[dict[str, Column], dict[str, Lists]]:
    """The context columns and the feature lists of the given names and kinds.

    All payloads are checked as a whole: the first malformed one is a ``DecodeError``.
    """
    parts: list[Some] = []
    step = tuning.current.records_per_block
    for low in range(0, len(records), step):
        parts += _decode(records, np.arange(low, min(low + step, len(records))), context, lists)
    pieces = [piece for part in parts for piece in part.context()]
    return (
        {name: column_of(pieces, name, kind, len(records)) for name, kind in context.items()},
        {name: _lists(parts, name, kind, len(records)) for name, kind in lists.items()},
    )


def find_kinds(records: Records) -> tuple[dict[str, int], dict[str, int]]:
    """The context features and the feature lists that are there, by name, each with the first kind that it
    has anywhere; UNSET if it never has one."""
    found: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for row in range(len(records)):
        context, lists = _decode_row(records, row)
        steps = {name: [value] for name, value in context.items()}
        for kinds, part in zip(found, (steps, lists), strict=True):
            for name, values in part.items():
                kinds[name] = kinds.get(name) or next((kind for kind, _ in values if kind), UNSET)
    return found


def _lists(parts: list[Some], name: str, kind: int, size: int) -> Lists:
    counts = np.empty(size, np.int64)
    for part in parts:
        counts[part.rows] = part.counts(name)
    present = counts >= 0
    counts *= present
    splits = np.zeros(size + 1, np.int64)
    np.cumsum(counts, out=splits[1:])
    pieces = [part.steps(name, _between(splits, part.rows)) for part in parts]
    return Lists(column_of(pieces, name, kind, int(splits[-1])), counts, splits, present)


def _between(splits: Ints, rows: Ints) -> Ints:
    """The numbers from ``splits[i]`` to ``splits[i + 1]``, for all rows."""
    if rows.size == splits.size - 1:
        return np.arange(splits[-1])
    counts = splits[rows + 1] - splits[rows]
    return np.repeat(splits[rows] - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))


def _decode(records: Records, rows: Ints, context: Kinds, lists: Kinds) -> list[Some]:
    """Some records of a batch."""
    parts: list[Some] = []
    current = tuning.current
    if current.sequences and rows.size >= current.least_sequences and sys.byteorder == "little":
        together = _decode_together(records, rows, context, lists)
        if together is not None:
            parts.append(together)
            rows = rows[~np.isin(rows, together.rows)] if together.rows.size < rows.size else rows[:0]
    if rows.size:
        parts.append(_Rows(rows, [_decode_row(records, row) for row in rows.tolist()]))
    return parts


# --- In lock-step -----------------------------------------------------------------------------------


class _Named(NamedTuple):
    """The lists of one name: the records that have one, how many steps it has, and what these hold."""

    rows: Ints
    counts: Ints
    found: Found

    def without(self, odd: Mask) -> _Named:
        """The same without the records that are odd."""
        odd = odd[self.rows]
        if not odd.any():
            return self
        steps = np.flatnonzero(~np.repeat(odd, self.counts))
        return _Named(self.rows[~odd], self.counts[~odd], self.found.pick(steps))

    def take(self, block: Block, kind: int) -> Part:
        """What is in all steps, with the values of those of this kind; the others are checked.

        OddError if records take the row decoder.
        """
        try:
            return self._take(block, kind)
        except OddError as error:
            raise OddError(np.repeat(self.rows, self.counts)[error.rows]) from None

    def _take(self, block: Block, kind: int) -> Part:
        kinds = self.found.kinds
        values: Values = np.empty(0, DTYPES[kind])
        counts: Ints | int = 0
        for one in self._by_kind():
            if one.kind == kind:
                values, counts = take(one, block)
            else:
                check(one, block)
        return Part(self.found.kind if kinds is None else kinds, values, counts)

    def _by_kind(self) -> list[Found]:
        """What is found, once for each kind that may be there."""
        if self.found.kinds is None:
            return [self.found]
        return [self.found._replace(kind=kind, listed=kind == BYTES) for kind in (BYTES, FLOAT, INT64)]


class _Together(NamedTuple):
    """Records that were decoded together."""

    rows: Ints
    contexts: list[Piece]
    lists: dict[str, tuple[Ints, Part]]  # how many steps each record has, and what is in them
    kinds: Kinds

    def context(self) -> list[Piece]:
        return self.contexts

    def counts(self, name: str) -> Ints:
        return self.lists[name][0]

    def steps(self, name: str, numbers: Ints) -> Piece:
        return Together(numbers, {name: (self.kinds[name], self.lists[name][1])})


def _decode_together(records: Records, rows: Ints, context: Kinds, lists: Kinds) -> _Together | None:
    """Those records that can be decoded together; None if that is not worth while."""
    octets = np.frombuffer(records.buffer, np.uint8)
    block = Block(records.buffer, octets, records.begins[rows], records.ends[rows])
    maps = open_maps(block)
    found = {}
    for key, spans in find_lists(octets, maps).items():
        name = key.decode()
        steps = read_steps(octets, spans.begins, spans.ends, lists.get(name, UNSET))
        maps.odd[spans.rows[steps.bad]] = True
        found[name] = _Named(spans.rows, steps.counts, steps.found)
    parts = _take_all(found, block, maps.odd, lists)
    some = np.flatnonzero(~maps.odd)
    try:
        contexts = _contexts(block, rows[some], block.begins[some], maps.context[some], context)
    except DecodeError:
        return None  # the row decoder will come to it
    return _Together(
        rows[some], contexts, {name: (counts[some], part) for name, (counts, part) in parts.items()}, lists
    )


def _take_all(
    found: dict[str, _Named], block: Block, odd: Mask, wanted: Kinds
) -> dict[str, tuple[Ints, Part]]:
    """The wanted lists: how many steps each record has, -1 without a list, and what is in those of records
    that are not odd. More of them turn out to be odd, and are marked."""
    most = tuning.current.attempts_per_block
    for attempt in range(most + 1):
        if attempt == most:
            odd[:] = True
        found = {name: named.without(odd) for name, named in found.items()}
        try:
            parts = {name: named.take(block, wanted.get(name, UNSET)) for name, named in found.items()}
            break
        except OddError as error:
            odd[error.rows] = True
    taken = {}
    for name, kind in wanted.items():
        counts = np.full(odd.size, -1)
        if name in found:
            counts[found[name].rows] = found[name].counts
        taken[name] = counts, parts.get(name, Part(kind, np.empty(0, DTYPES[kind]), 0))
    return taken


def _contexts(block: Block, rows: Ints, begins: Ints, ends: Ints, wanted: Kinds) -> list[Piece]:
    """The contexts of some records, as one piece, and those that have none as another."""
    filled = begins < ends
    nothing: list[Piece] = []
    if not filled.all():
        nothing = [Together(rows[~filled], {})]
        rows, begins, ends = rows[filled], begins[filled], ends[filled]
    columns = gather(Records(block.buffer, begins, ends), wanted)
    parts = {name: (column.kind, _part(column)) for name, column in columns.items()}
    return [Together(rows, parts), *nothing]


def _part(column: Column) -> Part:
    kinds = column.kind if column.kinds is None else column.kinds
    counts = np.diff(column.row_splits) if column.uniform is None else column.uniform
    return Part(kinds, column.values, counts)


# --- Row by row -------------------------------------------------------------------------------------


class _Rows(NamedTuple):
    """Records that were decoded one by one."""

    rows: Ints
    decoded: list[tuple[dict[str, Value], dict[str, list[Value]]]]

    def context(self) -> list[Piece]:
        return [OneByOne(self.rows, [context for context, _ in self.decoded])]

    def counts(self, name: str) -> Ints:
        return np.array([len(lists[name]) if name in lists else -1 for _, lists in self.decoded], np.int64)

    def steps(self, name: str, numbers: Ints) -> Piece:
        return OneByOne(numbers, [{name: step} for _, lists in self.decoded for step in lists.get(name, ())])


def _decode_row(records: Records, row: int) -> tuple[dict[str, Value], dict[str, list[Value]]]:
    try:
        return decode_sequence(records[row])
    except DecodeError as error:
        error.path, error.record, error.offset = records.origin(row)
        raise
