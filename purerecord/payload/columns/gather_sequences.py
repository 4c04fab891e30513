"""``gather_sequences``: a batch of serialized SequenceExamples as context columns and feature lists.

Most records are decoded together, the others with the row decoder. The result does not depend on the path.
The context of a record is an Example, so ``gather`` decodes it. ``sequence_maps`` finds the feature lists,
and ``sequence_steps`` reads their steps. This module knows neither feature specs nor files.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ...bytes_column import BytesColumn
from ...errors import DecodeError
from ...records import Records
from ..wire import BYTES, DELIMITED, FLOAT, INT64, UNSET, Value, decode_sequence, fields
from . import tuning
from .arrays import Ints, Mask, Values, ranges_of
from .block_decoder import BlockDecoder, decode_row
from .gather import Column, check_cells, column_of, gather
from .located import Inline, Located, NeedsRowDecoder, RecordBlock, check_values, read_values
from .merge import DTYPES, ColumnPart, DecodedPart, DecodedSingly, DecodedTogether
from .sequence_maps import find_lists, open_maps
from .sequence_steps import read_steps

KindsByName = Mapping[str, int]
# A record's context features and feature lists, as the row decoder gives them.
SequenceRow = tuple[dict[str, Value], dict[str, list[Value]]]

# Records that the row decoder reads to find out which names and kinds there are.
_TELLING = 64


@dataclass(frozen=True)
class FeatureListColumn:
    """The feature lists of one key: a column of all steps, the number of steps of each example, its range of
    the steps, and which examples have the key."""

    column: Column
    lengths: Ints
    splits: Ints
    present: Mask


def gather_sequences(
    records: Records, context: KindsByName, lists: KindsByName
) -> tuple[dict[str, Column], dict[str, FeatureListColumn]]:
    """The context columns and the feature lists of the given names and kinds.

    All payloads are checked completely: the first malformed one raises ``DecodeError``.
    """
    decoded: list[_DecodedSequences] = []
    step = tuning.current.records_per_block
    for low in range(0, len(records), step):
        rows = np.arange(low, min(low + step, len(records)))
        decoded += _SequenceDecoder(records, rows, context, lists).decode()
    parts = [part for one in decoded for part in one.context()]
    return (
        {name: column_of(parts, name, kind, len(records)) for name, kind in context.items()},
        {name: _lists(decoded, name, kind, len(records)) for name, kind in lists.items()},
    )


def gather_all_sequences(records: Records) -> tuple[dict[str, Column], dict[str, FeatureListColumn]]:
    """The columns of all context features and all feature lists, ordered by name.

    The kind of a column is the first that appears, UNSET if there is none. To decode records together, names
    and kinds must be known before: the first records tell them, and the row decoder reads all records where
    that is not enough.
    """
    if (known := _told_by_the_first(records)) is not None:
        return gather_sequences(records, *known)
    rows = [decode_row(records, row, decode_sequence) for row in range(len(records))]
    context, lists = _first_kinds(rows)
    check_cells(len(context) + len(lists), len(records), records.nbytes)
    decoded = _SequencesSingly(np.arange(len(records)), rows)
    parts = decoded.context()
    return (
        {name: column_of(parts, name, context[name], len(records)) for name in sorted(context)},
        {name: _lists([decoded], name, lists[name], len(records)) for name in sorted(lists)},
    )


def _first_kinds(rows: Iterable[SequenceRow]) -> tuple[dict[str, int], dict[str, int]]:
    """The first kind of each context feature and of each feature list; UNSET where there is none."""
    context: dict[str, int] = {}
    lists: dict[str, int] = {}
    for features, sequence in rows:
        for name, (kind, _) in features.items():
            context[name] = context.get(name) or kind
        for name, steps in sequence.items():
            lists[name] = lists.get(name) or next((kind for kind, _ in steps if kind), UNSET)
    return context, lists


def _told_by_the_first(records: Records) -> tuple[dict[str, int], dict[str, int]] | None:
    """The names and first kinds of all records, ordered by name, if the first ones tell them; else None."""
    if len(records) <= _TELLING:
        return None
    try:
        context, lists = _first_kinds(decode_row(records, row, decode_sequence) for row in range(_TELLING))
    except DecodeError:
        return None
    if UNSET in {*context.values(), *lists.values()} or not have_only(records, context, lists):
        return None
    check_cells(len(context) + len(lists), len(records), records.nbytes)
    return dict(sorted(context.items())), dict(sorted(lists.items()))


def has_feature_lists(records: Records) -> bool:
    """Whether a record holds feature lists, which no Example does. False for a malformed record."""
    suspects: Ints = np.arange(len(records))
    if sys.byteorder == "little":
        octets = np.frombuffer(records.buffer, np.uint8)
        maps = open_maps(RecordBlock(records.buffer, octets, records.begins, records.ends))
        if bool((maps.begins < maps.ends)[~maps.odd].any()):
            return True
        suspects = np.flatnonzero(maps.odd)
    return any(_has_field_2(records[row]) for row in suspects.tolist())


def have_only(records: Records, context: Container[str], lists: Container[str]) -> bool:
    """Whether the records surely have no context features and no feature lists but those named.

    False also where only the row decoder could tell, and for malformed records.
    """
    if sys.byteorder != "little":
        return False
    block = RecordBlock(records.buffer, np.frombuffer(records.buffer, np.uint8), records.begins, records.ends)
    maps = open_maps(block)
    try:
        keys = {key.decode() for key in find_lists(block.octets, maps)}
        filled = np.flatnonzero(block.begins < maps.context)
        features = gather(Records(block.buffer, block.begins[filled], maps.context[filled]))
    except (DecodeError, UnicodeDecodeError):
        return False
    known = all(name in lists for name in keys) and all(name in context for name in features)
    return known and not maps.odd.any()


def _has_field_2(payload: bytes) -> bool:
    try:
        return any(
            (field.number, field.type) == (2, DELIMITED) for field in fields(payload, 0, len(payload), 0)
        )
    except DecodeError:
        return False


def _lists(decoded: list[_DecodedSequences], name: str, kind: int, size: int) -> FeatureListColumn:
    counts = np.empty(size, np.int64)
    for one in decoded:
        counts[one.rows] = one.counts(name)
    present = counts >= 0
    counts *= present
    splits = np.zeros(size + 1, np.int64)
    np.cumsum(counts, out=splits[1:])
    if len(decoded) == 1:
        parts = [decoded[0].steps(name, np.arange(splits[-1]))]
    else:
        parts = [one.steps(name, ranges_of(splits[one.rows], counts[one.rows])) for one in decoded]
    return FeatureListColumn(column_of(parts, name, kind, int(splits[-1])), counts, splits, present)


# --- Decoded records --------------------------------------------------------------------------------


class _DecodedSequences(Protocol):
    """The records ``rows`` of a batch, decoded."""

    @property
    def rows(self) -> Ints: ...

    def context(self) -> list[DecodedPart]:
        """The context, as parts that have all ``rows`` together."""

    def counts(self, name: str) -> Ints:
        """The number of steps of each record in the list of that name; -1 if it has no such list."""

    def steps(self, name: str, numbers: Ints) -> DecodedPart:
        """These steps, as the rows ``numbers`` of a part."""


class _SequencesTogether(NamedTuple):
    """Records that were decoded together."""

    rows: Ints
    contexts: list[DecodedPart]
    lists: dict[str, tuple[Ints, ColumnPart]]  # number of steps of each record, and what is in them
    kinds: KindsByName

    def context(self) -> list[DecodedPart]:
        return self.contexts

    def counts(self, name: str) -> Ints:
        return self.lists[name][0]

    def steps(self, name: str, numbers: Ints) -> DecodedPart:
        return DecodedTogether(numbers, {name: (self.kinds[name], self.lists[name][1])})


class _SequencesSingly(NamedTuple):
    """Records that the row decoder decoded."""

    rows: Ints
    decoded: list[tuple[dict[str, Value], dict[str, list[Value]]]]

    def context(self) -> list[DecodedPart]:
        return [DecodedSingly(self.rows, [context for context, _ in self.decoded])]

    def counts(self, name: str) -> Ints:
        return np.array([len(lists[name]) if name in lists else -1 for _, lists in self.decoded], np.int64)

    def steps(self, name: str, numbers: Ints) -> DecodedPart:
        steps = [{name: step} for _, lists in self.decoded for step in lists.get(name, ())]
        return DecodedSingly(numbers, steps)


# --- Decoding ---------------------------------------------------------------------------------------


class _NamedLists(NamedTuple):
    """The lists of one name: the records that have one, its number of steps, and where their values are."""

    rows: Ints
    counts: Ints
    located: Located

    def pick(self, some: Ints, size: int) -> _NamedLists:
        """The same for ``some`` of ``size`` records, with these numbered from 0."""
        if some.size == size:
            return self
        numbers = np.full(size, -1)
        numbers[some] = np.arange(some.size)
        kept = numbers[self.rows] >= 0
        steps = np.flatnonzero(np.repeat(kept, self.counts))
        return _NamedLists(numbers[self.rows[kept]], self.counts[kept], self.located.pick(steps))

    def read(self, block: RecordBlock, kind: int) -> ColumnPart:
        """All steps, with the values of those of this kind; the values of the others are checked.

        Raises NeedsRowDecoder for records that cannot be decoded together with the others.
        """
        kinds = self.located.kinds
        values: Values | BytesColumn = np.empty(0, DTYPES[kind])
        counts: Ints | int = 0
        try:
            for one in self._by_kind():
                if one.kind == kind:
                    values, counts = read_values(one, block)
                else:
                    check_values(one, block)
        except NeedsRowDecoder as error:
            raise NeedsRowDecoder(np.repeat(self.rows, self.counts)[error.rows]) from None
        return ColumnPart(self.located.kind if kinds is None else kinds, values, counts)

    def _by_kind(self) -> list[Located]:
        """The values, once for each kind that steps may have."""
        located = self.located
        if located.kinds is None or isinstance(located, Inline):
            return [located]
        return [located._replace(kind=kind, listed=kind == BYTES) for kind in (BYTES, FLOAT, INT64)]


class _SequenceDecoder(BlockDecoder):
    """Decodes SequenceExamples: together where all is in the usual form, then with the row decoder."""

    def __init__(self, records: Records, rows: Ints, context: KindsByName, lists: KindsByName) -> None:
        super().__init__(records, rows)
        self._context, self._lists = context, lists

    def decode(self) -> list[_DecodedSequences]:
        """Records that have all rows together."""
        decoded: list[_DecodedSequences] = []
        worthwhile = self.tuning.sequences and self.rows.size >= self.tuning.least_sequences
        if worthwhile and sys.byteorder == "little":
            decoded += self._decode_together()
        if self.rows.size:
            decoded.append(_SequencesSingly(self.rows, self.decode_singly(decode_sequence)))
        return decoded

    def _decode_together(self) -> list[_DecodedSequences]:
        """Decode the records that can be decoded together; nothing if that is not worth it."""
        block = self.block()
        maps = open_maps(block)
        found = {}
        for key, lists in find_lists(block.octets, maps).items():
            name = key.decode()
            steps = read_steps(block.octets, lists.begins, lists.ends, self._lists.get(name, UNSET))
            maps.odd[lists.rows[steps.bad]] = True
            found[name] = _NamedLists(lists.rows, steps.counts, steps.located)
        alive = ~maps.odd
        parts = self.read_together(lambda some: self._read(block, found, some), alive)
        if parts is None:
            return []
        some = alive.nonzero()[0]
        try:
            contexts = self._read_contexts(block.pick(some)._replace(ends=maps.context[some]), some)
        except DecodeError:
            return []  # the row decoder will raise it with the right place
        together = _SequencesTogether(self.rows[some], contexts, parts, self._lists)
        self.rows = self.rows[~alive]
        return [together]

    def _read(
        self, block: RecordBlock, found: dict[str, _NamedLists], some: Ints
    ) -> dict[str, tuple[Ints, ColumnPart]]:
        """The wanted lists of some records: number of steps, -1 without a list, and what is in them."""
        size = block.begins.size
        found = {name: lists.pick(some, size) for name, lists in found.items()}
        parts = {name: lists.read(block, self._lists.get(name, UNSET)) for name, lists in found.items()}
        wanted = {}
        for name, kind in self._lists.items():
            counts = np.full(some.size, -1)
            if name in found:
                counts[found[name].rows] = found[name].counts
            wanted[name] = counts, parts.get(name, ColumnPart(kind, np.empty(0, DTYPES[kind]), 0))
        return wanted

    def _read_contexts(self, contexts: RecordBlock, some: Ints) -> list[DecodedPart]:
        """The contexts of some records: one part for those that have one, one for the others."""
        rows, filled = self.rows[some], contexts.begins < contexts.ends
        empty: list[DecodedPart] = []
        if not filled.all():
            empty = [DecodedTogether(rows[~filled], {})]
            rows, contexts = rows[filled], contexts.pick(np.flatnonzero(filled))
        columns = gather(Records(contexts.buffer, contexts.begins, contexts.ends), self._context)
        parts = {name: (column.kind, _part(column)) for name, column in columns.items()}
        return [DecodedTogether(rows, parts), *empty]


def _part(column: Column) -> ColumnPart:
    kinds = column.kind if column.kinds is None else column.kinds
    counts = np.diff(column.row_splits) if column.uniform is None else column.uniform
    return ColumnPart(kinds, column.values, counts)
