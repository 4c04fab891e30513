"""Records that are parsed together, although a program parses them one by one.

A dataset makes a ``Block`` of the records that it is about to hand out. The first ``parse_single_example``
of one of them parses all of them, and every call gives a ``Row`` of the result: a dictionary whose tensors
are made when they are asked for. Rows and their tensors know their place in the columns, so a batch of them
is a slice of each column, and a feature that nobody asks for costs nothing. If any record of a block does
not fit, all of them are parsed one by one: results and errors are the same either way.

A block is released when its dataset is two blocks further. Rows that are still in use then get copies of
their own values, so that one row never keeps the memory of a block. This module knows neither datasets nor
files.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from ...payload.parse.examples import kinds_by_key
from ...payload.parse.rows import DenseRows, OneRow, Rows, parse_rows
from ...records import Records
from .convert import Array
from .ragged_sparse import wrap
from .tensor import EagerTensor

# One function may parse a record by several specs. Those after these are parsed one by one.
_SPECS_PER_BLOCK = 4


class RecordTensor(EagerTensor):
    """A record of a file as a scalar string, which may be a record of a block."""

    __slots__ = ("_bytes", "_place")

    def __init__(self, record: bytes) -> None:
        self._bytes = record
        self._place: tuple[Block, int] | None = None

    @property
    def _array(self) -> Array:  # type: ignore[override]
        scalar = np.empty((), object)
        scalar[()] = self._bytes
        return scalar

    def parsed(self, specs: Mapping[str, Any]) -> Row | None:
        """The record parsed by the core's ``specs`` with its block; None if it must be parsed alone."""
        if self._place is None:
            return None
        block, number = self._place
        return block.row(number, specs)


class _Columns:
    """The columns of a block by the names of ``specs``."""

    __slots__ = ("by_name", "pending", "specs")

    def __init__(self, specs: Mapping[str, Any], by_name: Mapping[str, Rows]) -> None:
        self.specs = specs
        self.by_name = by_name
        self.pending = dict.fromkeys(by_name, _PENDING)


class Block:
    """Records that a dataset hands out one after the other. Several threads may parse them."""

    __slots__ = ("_lock", "_parsed", "_records", "_users")

    def __init__(self, records: Sequence[RecordTensor]) -> None:
        """Tells ``records`` their places in this block."""
        self._lock = threading.Lock()
        self._records: list[bytes] | None = [record._bytes for record in records]
        self._parsed: list[tuple[Any, _Columns | None]] = []
        self._users: list[weakref.ref[Any]] | None = []  # what reads the columns, until they are given up
        for number, record in enumerate(records):
            record._place = self, number

    def row(self, number: int, specs: Mapping[str, Any]) -> Row | None:
        """Record ``number``, parsed by the core's ``specs``; None if it must be parsed alone."""
        with self._lock:
            columns = self._columns(specs)
            if columns is None:
                return None
            return Row._of(self, columns, number)

    def _columns(self, specs: Mapping[str, Any]) -> _Columns | None:
        for known, columns in self._parsed:
            if known is specs:
                return columns
        if self._records is None or len(self._parsed) == _SPECS_PER_BLOCK:
            return None
        by_name = parse_rows(Records.of(self._records), specs, kinds_by_key(specs))
        made = None if by_name is None else _Columns(specs, by_name)
        self._parsed.append((specs, made))
        return made

    def used_by(self, user: Row | RowTensor) -> None:
        """Have ``release`` give copies to ``user``, which reads the columns."""
        users = self._users
        if users is not None:
            users.append(weakref.ref(user))

    def release(self) -> None:
        """Gives up the records and the columns. What still reads these gets copies."""
        with self._lock:
            users, self._users = self._users, None
            self._records, self._parsed = None, []
        for user in users or ():
            found = user()
            if found is not None:
                found._detach()


class RowTensor(EagerTensor):
    """A row of a column."""

    __slots__ = ("_own", "_place")

    def __init__(self, column: Array, number: int) -> None:
        self._place = column, number
        self._own: Array | None = None

    @property
    def _array(self) -> Array:  # type: ignore[override]
        own = self._own
        if own is None:
            column, number = self._place
            own = self._own = column[number, ...].copy()  # an operation may keep a view of it
        return own

    def _detach(self) -> None:
        self._place = self._array[None], 0


class _Pending:
    """Stands for a value that has not been made yet."""


_PENDING: Any = _Pending()


class Row(dict[str, Any]):
    """The features of one record. As a dictionary like any other, it can be changed.

    Values are made when they are asked for. ``Row(...)`` is a plain dictionary, so code that makes a mapping
    of the type of another one need not know rows.
    """

    # ``_place`` is replaced as a whole, because another thread may release the block. ``_intact`` is false
    # once a value may be another one than that of the record.
    __slots__ = ("__weakref__", "_block", "_intact", "_place")

    _block: Block
    _intact: bool
    _place: tuple[_Columns, int]

    def __new__(cls, *args: Any, **named: Any) -> Any:
        return dict(*args, **named)

    @classmethod
    def _of(cls, block: Block, columns: _Columns, number: int) -> Row:
        return cls._made(columns.pending, block, (columns, number), True)

    @classmethod
    def alone(cls, specs: Mapping[str, Any], values: Mapping[str, Any]) -> Row:
        """A record that was parsed alone: the core's ``values`` for the core's ``specs``."""
        return cls._of(_NO_BLOCK, _Columns(specs, {key: OneRow(values[key]) for key in specs}), 0)

    @classmethod
    def _made(cls, values: dict[str, Any], block: Block, place: tuple[_Columns, int], intact: bool) -> Row:
        row: Row = dict.__new__(cls)
        dict.update(row, values)
        row._block, row._place, row._intact = block, place, intact
        block.used_by(row)
        return row

    def alias(self) -> Row:
        """Another dictionary of the same values, which are not made for it; only for a row that is intact."""
        columns = self._place[0]
        values = columns.pending if len(self) == len(columns.by_name) else dict(dict.items(self))
        return Row._made(values, self._block, self._place, self._intact)

    def _detach(self) -> None:
        columns, number = self._place
        by_name = columns.by_name
        own = {key: by_name[key].only(number) for key, value in list(dict.items(self)) if value is _PENDING}
        self._place = _Columns(columns.specs, own), 0

    def __getitem__(self, key: str) -> Any:
        value = dict.__getitem__(self, key)
        if value is _PENDING:
            columns, number = self._place
            column = columns.by_name[key]
            if type(column) is DenseRows:
                value = RowTensor(column.array, number)
                self._block.used_by(value)
            else:
                value = wrap(column[number])
            dict.__setitem__(self, key, value)
        return value

    # --- What dict reads without asking for values ----------------------------------------------

    def _all(self) -> Row:
        """This row with all of its values made."""
        for key in dict.keys(self):
            self[key]
        return self

    def __iter__(self) -> Iterator[str]:
        # dict's own functions ask a dictionary for its values only if it has an __iter__ of its own.
        return dict.__iter__(self)

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - this is ``get``

    def items(self) -> Any:
        return dict.items(self._all())

    def values(self) -> Any:
        return dict.values(self._all())

    def copy(self) -> dict[str, Any]:
        return dict(dict.items(self._all()))

    def __eq__(self, other: object) -> bool:
        return dict.__eq__(self._all(), other._all() if isinstance(other, Row) else other)

    def __ne__(self, other: object) -> bool:
        return dict.__ne__(self._all(), other._all() if isinstance(other, Row) else other)

    __hash__ = None

    def __or__(self, other: Any) -> Any:
        return self.copy() | other if isinstance(other, dict) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return other | self.copy() if isinstance(other, dict) else NotImplemented

    def __repr__(self) -> str:
        return dict.__repr__(self._all())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (self.copy(),)

    # --- Changes --------------------------------------------------------------------------------

    def __setitem__(self, key: str, value: Any) -> None:
        self._intact = False
        dict.__setitem__(self, key, value)

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *args: Any, **named: Any) -> None:
        self._intact = False
        dict.update(self, *args, **named)

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def pop(self, key: str, *default: Any) -> Any:
        if key in self:
            self[key]
        return dict.pop(self, key, *default)

    def popitem(self) -> tuple[str, Any]:
        return dict.popitem(self._all())


_NO_BLOCK = Block([])
_NO_BLOCK.release()


# --- Batches ----------------------------------------------------------------------------------------


def stacked_tensors(tensors: Sequence[Any]) -> Array | None:
    """The rows as an array; None if some are no rows, or differ in shape or dtype."""
    if set(map(type, tensors)) != {RowTensor}:
        return None
    places = [tensor._place for tensor in tensors]
    first = places[0][0]
    if any(
        column is not first and (column.shape[1:] != first.shape[1:] or column.dtype != first.dtype)
        for column, _ in places
    ):
        return None
    return _joined([(column, _index(numbers)) for column, numbers in _runs(places)])


def stacked_rows(rows: Sequence[Any]) -> dict[str, Array | None] | None:
    """For each key of the rows their values as an array, or None if they are not dense.

    None if some rows are no rows of one form, as parsing gave them.
    """
    if set(map(type, rows)) != {Row} or not all(row._intact for row in rows):
        return None
    places = [row._place for row in rows]
    specs, keys = places[0][0].specs, list(rows[0])
    if any(columns.specs is not specs for columns, _ in places) or any(list(row) != keys for row in rows):
        return None
    runs = [(columns.by_name, _index(numbers)) for columns, numbers in _runs(places)]
    stacked: dict[str, Array | None] = {}
    for key in keys:
        columns = [(by_name.get(key), index) for by_name, index in runs]
        dense = all(type(column) is DenseRows for column, _ in columns)
        stacked[key] = _joined([(column.array, index) for column, index in columns]) if dense else None
    return stacked


def _runs(places: Sequence[tuple[Any, int]]) -> Iterator[tuple[Any, list[int]]]:
    """Consecutive places in the same columns: the columns and the numbers."""
    for _, run in groupby(places, lambda place: id(place[0])):
        found = list(run)
        yield found[0][0], [number for _, number in found]


def _index(numbers: list[int]) -> Any:
    begin, end = numbers[0], numbers[0] + len(numbers)
    return slice(begin, end) if numbers == list(range(begin, end)) else numbers


def _joined(parts: list[tuple[Array, Any]]) -> Array:
    """The chosen rows of all columns. A batch owns its memory, so it does not keep that of its block."""
    if len(parts) > 1:
        return np.concatenate([column[index] for column, index in parts])
    column, index = parts[0]
    chosen: Array = column[index]
    return chosen.copy() if isinstance(index, slice) else chosen
