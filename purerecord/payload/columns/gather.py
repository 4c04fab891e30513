"""``gather``: a batch of serialized Examples as columns, one feature over all records.

Records that have the layout of a sample record are decoded together, and so are those that have the same
features in any order. All others take the row decoder. The result does not depend on the path.
This module knows neither feature specs nor defaults nor files: its callers decide what a missing feature or
an unexpected kind means.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from ...bytes_column import BytesColumn, BytesLike
from ...errors import SchemaError
from ...memory.malloc import retain_freed_memory
from ...records import Records
from ..wire import ABSENT, UNSET, Value, decode_features
from . import tuning
from .any_order import Search
from .arrays import Ints, Kinds, Mask, Values
from .block_decoder import BlockDecoder
from .header_templates import FIRST_KEY_BYTES, Layout, layout_of
from .located import Located, RecordBlock, check_values, read_values
from .merge import ColumnPart, DecodedPart, DecodedSingly, DecodedTogether, merge
from .outline import Entry, common, first_key, has_keys, outline
from .same_layout import follow
from .short_entries import Everything, Wanted
from .tuning import Tuning


class _RememberedLayout(NamedTuple):
    """The entries of most records of an earlier block, and their layout if they came in this order."""

    entries: tuple[Entry, ...]
    layout: Layout | None
    tuning: Tuning


# Columns may have this many cells, one for each record and name,
_MOST_CELLS = 1 << 24
# or this many for each byte of the records. Records that all have the same features need less than one.
_MOST_CELLS_PER_BYTE = 4

# The most recently used first. They decide what is tried first, and have no influence on results.
_remembered: list[_RememberedLayout] = []


class Column(NamedTuple):
    """The values of one feature in ``rows`` records, row after row.

    ``kind`` is BYTES, FLOAT, INT64, or UNSET if no record has a kind. ``kinds`` holds the kind of the feature
    in each record (ABSENT where it is missing); None means that every record has ``kind``. ``values`` is
    flat: int64, float32, objects that are ``bytes``, or a ``BytesColumn``. A record of another kind has no
    values. ``uniform`` is the number of values of every row if all have the same number. Otherwise it is
    None, and ``splits`` is given.
    """

    kind: int
    kinds: Kinds | None
    values: Values | BytesColumn
    rows: int
    uniform: int | None
    splits: Ints | None

    @property
    def row_splits(self) -> Ints:
        """Row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``."""
        if self.uniform is None:
            assert self.splits is not None
            return self.splits
        return np.arange(self.rows + 1, dtype=np.int64) * self.uniform

    @property
    def is_absent(self) -> bool:
        """Whether no record has the feature."""
        return self.kinds is not None and bool((self.kinds == ABSENT).all())

    @property
    def masks(self) -> tuple[Mask | None, Mask | None]:
        """Masks of the rows without a list, and of those among them that have the feature without a kind;
        None if every row has a list."""
        if self.kinds is not None:
            return self.kinds <= UNSET, self.kinds == UNSET
        return (np.ones(self.rows, bool),) * 2 if self.kind == UNSET else (None, None)


def gather(
    records: Records | Sequence[BytesLike],
    wanted: Mapping[str, int | None] | None = None,
    *,
    in_place: Container[str] = (),
) -> dict[str, Column]:
    """The columns of the ``wanted`` features: name -> kind, or None for the first kind that appears.

    The strings of the features ``in_place`` become a ``BytesColumn``, which shares the memory of the records
    unless it needs little of it. Without ``wanted``, the columns of all features, ordered by name. All
    payloads are checked completely, whatever is wanted of them: the first malformed one raises
    ``DecodeError``.
    """
    retain_freed_memory()
    batch = Records.of(records)
    keys: Wanted = Everything()
    if wanted is not None:
        keys = {name.encode(errors="surrogatepass") for name in wanted}
    parts: list[DecodedPart] = []
    step = tuning.current.records_per_block
    for low in range(0, len(batch), step):
        rows = np.arange(low, min(low + step, len(batch)))
        parts += _ExampleDecoder(batch, rows, wanted, keys, in_place).decode()
    if wanted is None:
        wanted = dict.fromkeys(sorted(set(chain.from_iterable(part.names() for part in parts))))
        check_cells(len(wanted), len(batch), batch.nbytes)
    return {
        name: column_of(parts, name, kind, len(batch), in_place=name in in_place)
        for name, kind in wanted.items()
    }


def rows_to_recognize(records: Records) -> list[int]:
    """The rows in which no feature holds a list, and which may be another message. All payloads are checked
    completely, as by ``gather``."""
    retain_freed_memory()
    found: list[int] = []
    step = tuning.current.records_per_block
    for low in range(0, len(records), step):
        finder = _ListFinder(records, np.arange(low, min(low + step, len(records))))
        finder.decode()  # what it decodes together consists of features
        found += finder.rows[~np.array(finder.has_list, bool)].tolist()
    return found


def check_cells(names: int, rows: int, size: int) -> None:
    """Raise a SchemaError if columns of so many names would be far larger than the records, which have
    ``size`` bytes: every column has a cell for every record, even if few records have the feature."""
    if names * rows > max(_MOST_CELLS, _MOST_CELLS_PER_BYTE * size):
        raise SchemaError(
            f"{rows} records have {names} different features, so columns would need {names * rows} cells, "
            "most of them empty; name the features that you want, or decode fewer records at once"
        )


def column_of(
    parts: list[DecodedPart], name: str, kind: int | None, size: int, *, in_place: bool = False
) -> Column:
    """One feature of all parts, which have ``size`` rows together. If ``kind`` is None, it is the first kind
    that appears. Strings that are ``in_place`` become a ``BytesColumn``."""
    if kind is None:
        firsts = [first for first in (part.first(name) for part in parts) if first is not None]
        kind = min(firsts)[1] if firsts else UNSET
    merged = merge(parts, name, kind, size, in_place=in_place)
    if isinstance(merged.values, BytesColumn):
        merged = merged._replace(values=merged.values.without_waste())
    kinds: Kinds | None = None
    if isinstance(merged.kinds, int):
        kinds = None if merged.kinds == kind else np.full(size, merged.kinds, np.int8)
    elif bool((merged.kinds != kind).any()):
        kinds = merged.kinds
    if isinstance(merged.counts, int):
        return Column(kind, kinds, merged.values, size, merged.counts, None)
    if not size or bool((merged.counts == merged.counts[0]).all()):
        return Column(kind, kinds, merged.values, size, int(merged.counts[0]) if size else 0, None)
    splits = np.zeros(size + 1, np.int64)
    np.cumsum(merged.counts, out=splits[1:])
    return Column(kind, kinds, merged.values, size, None, splits)


class _ExampleDecoder(BlockDecoder):
    """Decodes Examples: with layouts, then by a search in any order, then with the row decoder."""

    def __init__(
        self,
        records: Records,
        rows: Ints,
        names: Iterable[str] | None,
        wanted: Wanted,
        in_place: Container[str] = (),
    ) -> None:
        super().__init__(records, rows)
        self._names = names
        self._in_place = in_place
        self._wanted = wanted  # the same names as the keys that are stored
        self._known: dict[bytes, Entry] = {}
        self._parts: list[DecodedPart] = []

    def decode(self) -> list[DecodedPart]:
        """Parts that have all rows together."""
        if sys.byteorder == "little":
            self._try_remembered_layouts()
            self._try_sample_layouts()
            self._try_any_order()
        if self.rows.size:
            self._parts.append(DecodedSingly(self.rows, self.decode_singly(self._decode_row)))
        return self._parts

    def _decode_row(self, payload: bytes) -> dict[str, Value]:
        """The wanted features of a record. The others are not kept: a record may have a million."""
        found = decode_features(payload)
        if self._names is None:
            return found
        return {name: found[name] for name in self._names if name in found}

    def _is_few(self) -> bool:
        return self.rows.size < self.tuning.least_examples

    def _try_remembered_layouts(self) -> None:
        """Decode records with the features of an earlier block, without reading sample records."""
        if self._is_few() or not self.tuning.remembered_layouts:
            return
        middle = self.rows.size // 2
        some = [0, middle // 2, middle, middle + middle // 2, -1]
        keys = self._first_keys(self.rows[some])
        for remembered in tuple(_remembered):
            if remembered.tuning is not self.tuning:
                continue
            if remembered.layout is not None and keys == {remembered.entries[0].key}:
                if has_keys(self.records[self.rows[middle]], remembered.layout.prefixes):
                    self._follow(remembered.layout, sure=True)
                    _remember(remembered)
                    return
            elif remembered.layout is None and len(keys) > 1:
                known = {entry.key: entry for entry in remembered.entries}
                if keys <= known.keys():
                    self._known.update(known)
                    self._search()
                    return

    def _try_sample_layouts(self) -> None:
        """Decode records that have the layout of the first or the middle one."""
        if self._is_few():
            return
        outlines = [self._learn(self.rows[number]) for number in (0, self.rows.size // 2)]
        if not self.tuning.same_layout:
            return
        first, second = (entries or () for entries in outlines)
        if both := common(first, second):
            self._follow_new(both)
        elif {entry.key for entry in first} != {entry.key for entry in second}:
            for entries in (first, second):
                if entries and not self._is_few():
                    self._follow_new(entries)
        # Else the same features come in different orders, and there will be more orders.

    def _follow_new(self, entries: tuple[Entry, ...]) -> None:
        layout = layout_of(entries)
        if self._follow(layout, sure=False):
            _remember(_RememberedLayout(entries, layout, self.tuning))

    def _follow(self, layout: Layout, *, sure: bool) -> bool:
        """Decode the records that have a layout; False if less than half of them have it."""
        block = self.block()
        followed = follow(layout, block, self._wanted, sure=sure)
        if followed is not None:
            self._take(block, *followed)
        return followed is not None

    def _try_any_order(self) -> None:
        """Decode records whose features are all known, in any order. Learn more features in between."""
        if not self.tuning.any_order:
            return
        for _ in range(self.tuning.searches_per_block):
            known = len(self._known)
            if self._is_few() or not known:
                return
            self._search()
            if self.rows.size:
                self._learn(self.rows[0])
            if len(self._known) == known:
                return

    def _search(self) -> None:
        """Decode the records whose features are all known. Features that it meets become known."""
        block, rows = self.block(), self.rows
        search = Search(block, len(self._known))
        matched = None
        for _ in range(self.tuning.strangers_per_search):
            known = tuple(self._known.values())
            matched = search.match(known)
            if matched is None:
                return
            if matched.stranger is not None:
                self._learn(rows[matched.stranger])
            if len(self._known) == len(known):
                break
        if matched is not None:  # records with the features that were learned last take another path
            self._take(block, search.read(matched, self._wanted), matched.alive)
        if 2 * self.rows.size < rows.size:
            _remember(_RememberedLayout(tuple(self._known.values()), None, self.tuning))

    def _first_keys(self, rows: Ints) -> set[bytes | None]:
        """The first keys of some records."""
        begins = self.records.begins[rows]
        ends = np.minimum(self.records.ends[rows], begins + FIRST_KEY_BYTES)
        ranges = zip(begins.tolist(), ends.tolist(), strict=True)
        return {first_key(self.octets[begin:end].tobytes()) for begin, end in ranges}

    def _learn(self, row: int) -> tuple[Entry, ...] | None:
        """The outline of a record. Its features are known from now on."""
        entries = outline(self.records[row])
        self._known.update((entry.key, entry) for entry in entries or ())
        return entries

    def _take(self, block: RecordBlock, located: dict[bytes, Located], alive: Mask) -> None:
        """Decode the located values of the records that are ``alive``, and finish these."""
        parts = self.read_together(lambda some: self._read(block, located, some), alive)
        if parts is not None:
            self._parts.append(DecodedTogether(self.rows[alive], parts))
            self.rows = self.rows[~alive]

    def _read(
        self, block: RecordBlock, located: dict[bytes, Located], some: Ints
    ) -> dict[str, tuple[int, ColumnPart]]:
        """The located values of some records. Unwanted ones are only checked."""
        if some.size < block.begins.size:
            block = block.pick(some)
            located = {key: one.pick(some) for key, one in located.items()}
        parts = {}
        for key, one in located.items():
            if key in self._wanted:
                name = key.decode()
                values, counts = read_values(one, block, in_place=name in self._in_place)
                kinds = one.kind if one.kinds is None else one.kinds
                parts[name] = one.kind, ColumnPart(kinds, values, counts)
            else:
                check_values(one, block)
        return parts


class _ListFinder(_ExampleDecoder):
    """Checks Examples, and notes for each of the remaining ``rows`` whether a feature holds a list."""

    def __init__(self, records: Records, rows: Ints) -> None:
        super().__init__(records, rows, (), set())
        self.has_list: list[bool] = []

    def _decode_row(self, payload: bytes) -> dict[str, Value]:
        found = decode_features(payload)
        self.has_list.append(any(kind != UNSET for kind, _ in found.values()))
        return {}


def _remember(used: _RememberedLayout) -> None:
    """Puts a layout first in ``_remembered``."""
    if used not in _remembered[:1]:
        others = (other for other in _remembered if other != used)
        _remembered[:] = [used, *others][: used.tuning.layouts_kept]
