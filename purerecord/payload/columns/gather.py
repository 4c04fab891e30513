"""Columns: one feature over a whole batch of records.

``gather`` turns records into columns. Records that have the layout of one of them are decoded in
lock-step, those that have the same features in any order too; what does not fit takes the row decoder, and
nobody can tell from the result. This module knows neither feature specs nor defaults nor files: what a
missing feature or a surprising kind means is decided by its callers.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import DecodeError
from ...memory.malloc import retain_freed_memory
from ...records import BytesLike, Records
from ..wire import UNSET, Value, decode_features
from . import tuning
from .any_order import search
from .header_templates import HEAD, Layout, layout_of
from .located import Block, Found, OddError, check, take
from .merge import OneByOne, Part, Piece, Together, merge
from .outline import Entry, common, first_key, has_keys, outline
from .same_layout import follow
from .short_entries import Everything, Wanted
from .tuning import Tuning
from .varint_words import Ints, Mask


class _Lesson(NamedTuple):
    """Entries that most records of a block had, and their layout if they were in this order."""

    entries: tuple[Entry, ...]
    layout: Layout | None
    tuning: Tuning


# What served lately, the latest first. It says what is tried first, and has no part in what comes out.
_lessons: list[_Lesson] = []


class Column(NamedTuple):
    """The values of one feature in ``rows`` records, one row behind the other.

    ``kind`` is BYTES, FLOAT, INT64, or UNSET when no record says. ``kinds`` holds the kind of the feature
    in each record (ABSENT where it is missing); None means that every record has ``kind``. ``values`` is
    flat: int64, float32, or objects that are ``bytes``; a record of another kind adds none. ``uniform`` is
    the number of values of every row, if it is the same for all, else None; ``splits`` is given then.
    """

    kind: int
    kinds: npt.NDArray[np.int8] | None
    values: npt.NDArray[Any]
    rows: int
    uniform: int | None
    splits: npt.NDArray[np.int64] | None

    @property
    def row_splits(self) -> npt.NDArray[np.int64]:
        """Row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``."""
        if self.uniform is None:
            assert self.splits is not None
            return self.splits
        return np.arange(self.rows + 1, dtype=np.int64) * self.uniform


def gather(
    records: Records | Sequence[BytesLike], wanted: Mapping[str, int | None] | None = None
) -> dict[str, Column]:
    """The columns of the ``wanted`` features: name -> kind, or None for the first kind that appears.

    Without ``wanted``, every feature that is found, in the order of the names. All payloads are checked
    as a whole, whatever is wanted of them: the first malformed one is a ``DecodeError``.
    """
    retain_freed_memory()
    batch = Records.of(records)
    keys: Wanted = Everything()
    if wanted is not None:
        keys = {name.encode(errors="surrogatepass") for name in wanted}
    pieces: list[Piece] = []
    step = tuning.current.records_per_block
    for low in range(0, len(batch), step):
        decoder = _Decoder(batch, np.arange(low, min(low + step, len(batch))), keys)
        pieces += decoder.decode()
    if wanted is None:
        wanted = dict.fromkeys(sorted(set(chain.from_iterable(piece.names() for piece in pieces))))
    return {name: column_of(pieces, name, kind, len(batch)) for name, kind in wanted.items()}


def column_of(pieces: list[Piece], name: str, kind: int | None, size: int) -> Column:
    """One feature of all pieces, which together have all ``size`` rows; of the first kind that appears, if
    ``kind`` is None."""
    if kind is None:
        firsts = [first for first in (piece.first(name) for piece in pieces) if first is not None]
        kind = min(firsts)[1] if firsts else UNSET
    part = merge(pieces, name, kind, size)
    kinds: npt.NDArray[np.int8] | None = None
    if isinstance(part.kinds, int):
        kinds = None if part.kinds == kind else np.full(size, part.kinds, np.int8)
    elif bool((part.kinds != kind).any()):
        kinds = part.kinds
    if isinstance(part.counts, int):
        return Column(kind, kinds, part.values, size, part.counts, None)
    if not size or bool((part.counts == part.counts[0]).all()):
        return Column(kind, kinds, part.values, size, int(part.counts[0]) if size else 0, None)
    splits = np.zeros(size + 1, np.int64)
    np.cumsum(part.counts, out=splits[1:])
    return Column(kind, kinds, part.values, size, None, splits)


class _Decoder:
    """Decodes some ``rows`` of a batch, as many as possible together; ``rows`` are those still to do."""

    def __init__(self, batch: Records, rows: Ints, wanted: Wanted) -> None:
        self._tuning = tuning.current
        self._batch = batch
        self._octets = np.frombuffer(batch.buffer, np.uint8)
        self._rows = rows
        self._wanted = wanted
        self._known: dict[bytes, Entry] = {}
        self._pieces: list[Piece] = []

    def decode(self) -> list[Piece]:
        """The pieces that together have all rows."""
        if sys.byteorder == "little":
            self._recall()
            self._follow()
            self._search()
        if self._rows.size:
            examples = [self._decode_row(row) for row in self._rows.tolist()]
            self._pieces.append(OneByOne(self._rows, examples))
        return self._pieces

    def _recall(self) -> None:
        """Decode records as others were before: what they hold need not be learned again."""
        if self._rows.size < self._tuning.least_examples or not self._tuning.remembered_layouts:
            return
        middle = self._rows.size // 2
        some = [0, middle // 2, middle, middle + middle // 2, -1]
        keys = {self._first_key(row) for row in self._rows[some].tolist()}
        for lesson in tuple(_lessons):
            if lesson.tuning is not self._tuning:
                continue
            if lesson.layout is not None and keys == {lesson.entries[0].key}:
                if has_keys(self._batch[self._rows[middle]], lesson.layout.prefixes):
                    self._follow_layout(lesson.layout, sure=True)
                    _remember(lesson)
                    return
            elif lesson.layout is None and len(keys) > 1 and keys <= {entry.key for entry in lesson.entries}:
                self._known.update((entry.key, entry) for entry in lesson.entries)
                self._search_once()
                return

    def _follow(self) -> None:
        """Decode records with the layout of one of them."""
        if self._rows.size < self._tuning.least_examples:
            return
        outlines = [self._learn(self._rows[number]) for number in (0, self._rows.size // 2)]
        if not self._tuning.same_layout:
            return
        first, second = (entries or () for entries in outlines)
        if both := common(first, second):
            self._learn_layout(both)
        elif {entry.key for entry in first} != {entry.key for entry in second}:
            for entries in (first, second):
                if entries and self._rows.size >= self._tuning.least_examples:
                    self._learn_layout(entries)
        # Else the same features are in another order, and there will be more orders.

    def _learn_layout(self, entries: tuple[Entry, ...]) -> None:
        layout = layout_of(entries)
        if self._follow_layout(layout, sure=False):
            _remember(_Lesson(entries, layout, self._tuning))

    def _follow_layout(self, layout: Layout, *, sure: bool) -> bool:
        """Decode the records that have a layout; False if these are not even half of them."""
        block = self._block()
        found = follow(layout, block, self._wanted, sure=sure)
        if found is None:
            return False
        self._take(block, *found)
        return True

    def _search(self) -> None:
        """Decode records that have the features of others, in any order."""
        if not self._tuning.any_order:
            return
        for _ in range(self._tuning.searches_per_block):
            known = len(self._known)
            if self._rows.size < self._tuning.least_examples or not known:
                return
            self._search_once()
            if self._rows.size:
                self._learn(self._rows[0])
            if len(self._known) == known:
                return

    def _search_once(self) -> None:
        block, rows = self._block(), self._rows
        found = search(block, self._known, self._wanted, lambda i: self._learn(rows[i]))
        self._take(block, *found)
        if 2 * self._rows.size < rows.size:
            _remember(_Lesson(tuple(self._known.values()), None, self._tuning))

    def _first_key(self, row: int) -> bytes | None:
        begin, end = int(self._batch.begins[row]), int(self._batch.ends[row])
        return first_key(self._octets[begin : min(end, begin + HEAD)].tobytes())

    def _learn(self, row: int) -> tuple[Entry, ...] | None:
        """The outline of a record; its features are known from now on."""
        entries = outline(self._batch[row])
        self._known.update((entry.key, entry) for entry in entries or ())
        return entries

    def _block(self) -> Block:
        batch = self._batch
        return Block(batch.buffer, self._octets, batch.begins[self._rows], batch.ends[self._rows])

    def _take(self, block: Block, found: dict[bytes, Found], alive: Mask) -> None:
        """Take what was found in the records that are ``alive``, and are done then."""
        for _ in range(self._tuning.attempts_per_block):
            some = alive.nonzero()[0]
            if not some.size:
                return
            try:
                parts = self._parts(block, found, None if some.size == alive.size else some)
            except OddError as error:
                alive[some[error.rows]] = False
                continue
            self._pieces.append(Together(self._rows[some], parts))
            self._rows = self._rows[~alive]
            return

    def _parts(
        self, block: Block, found: dict[bytes, Found], some: Ints | None
    ) -> dict[str, tuple[int, Part]]:
        """What was found, in some records."""
        parts = {}
        if some is not None:
            block = block.pick(some)
            found = {key: one.pick(some) for key, one in found.items()}
        for key, one in found.items():
            if key in self._wanted:
                values, counts = take(one, block)
                parts[key.decode()] = (
                    one.kind,
                    Part(one.kind if one.kinds is None else one.kinds, values, counts),
                )
            else:
                check(one, block)
        return parts

    def _decode_row(self, row: int) -> dict[str, Value]:
        batch = self._batch
        try:
            return decode_features(batch[row])
        except DecodeError as error:
            error.path, error.record, error.offset = batch.origin(row)
            raise


def _remember(lesson: _Lesson) -> None:
    if lesson not in _lessons[:1]:
        others = (other for other in _lessons if other != lesson)
        _lessons[:] = [lesson, *others][: lesson.tuning.layouts_kept]
