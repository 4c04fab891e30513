"""Pieces: a batch is decoded in parts, by whichever way fits each record; here they become one again.

A piece holds the features of some records of the batch. This module does not know how they were decoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..wire import ABSENT, BYTES, FLOAT, INT64, UNSET, Value
from . import tuning
from .varint_words import Ints

Kinds = npt.NDArray[np.int8]
DTYPES: dict[int, Any] = {UNSET: np.int64, BYTES: object, FLOAT: np.float32, INT64: np.int64}


class Part(NamedTuple):
    """One feature in the records of a piece: its kind in each, all values, how many each record has.

    A single number stands for the same in all records.
    """

    kinds: Kinds | int
    values: npt.NDArray[Any]
    counts: Ints | int


class Piece(Protocol):
    """The features of the records ``rows`` of a batch."""

    rows: Ints

    def names(self) -> Iterable[str]: ...

    def first(self, name: str) -> tuple[int, int] | None:
        """(record, kind) of the first record in which the feature has a kind."""

    def part(self, name: str, kind: int) -> Part:
        """The feature, with the values of the records in which it is of this kind."""


class Together:
    """Records that were decoded together: each feature is of one kind, wherever it has any."""

    def __init__(self, rows: Ints, parts: Mapping[str, tuple[int, Part]]) -> None:
        self.rows = rows
        self._parts = parts

    def names(self) -> Iterable[str]:
        return [name for name, (_, part) in self._parts.items() if np.any(part.kinds != ABSENT)]

    def first(self, name: str) -> tuple[int, int] | None:
        if name not in self._parts:
            return None
        kind, part = self._parts[name]
        own = np.flatnonzero(np.broadcast_to(part.kinds, self.rows.shape) == kind)
        return (int(self.rows[own[0]]), kind) if own.size and kind != UNSET else None

    def part(self, name: str, kind: int) -> Part:
        if name not in self._parts:
            return Part(ABSENT, np.empty(0, DTYPES[kind]), 0)
        own, part = self._parts[name]
        return part if own == kind else Part(part.kinds, np.empty(0, DTYPES[kind]), 0)


class OneByOne:
    """Records that were decoded one by one."""

    def __init__(self, rows: Ints, examples: list[dict[str, Value]]) -> None:
        self.rows = rows
        self._examples = examples

    def names(self) -> Iterable[str]:
        return set().union(*self._examples)

    def first(self, name: str) -> tuple[int, int] | None:
        for row, example in zip(self.rows.tolist(), self._examples, strict=True):
            if name in example and example[name][0] != UNSET:
                return row, example[name][0]
        return None

    def part(self, name: str, kind: int) -> Part:
        found = [example.get(name, (ABSENT, None)) for example in self._examples]
        lists = [values if own == kind and values is not None else () for own, values in found]
        counts = np.array([len(values) for values in lists], np.int64)
        if kind == BYTES:
            values = np.fromiter(chain.from_iterable(lists), object, int(counts.sum()))
        else:
            values = np.concatenate([np.empty(0, DTYPES[kind]), *(part for part in lists if len(part))])
        return Part(np.array([own for own, _ in found], np.int8), values, counts)


def merge(pieces: list[Piece], name: str, kind: int, size: int) -> Part:
    """One feature of all pieces, in the order of the records; together they have all ``size`` of them."""
    if len(pieces) == 1 and len(pieces[0].rows) == size:
        return pieces[0].part(name, kind)
    parts = [(piece.rows, piece.part(name, kind)) for piece in pieces]
    kinds = np.empty(size, np.int8)
    counts = np.empty(size, np.int64)
    for rows, part in parts:
        kinds[rows] = part.kinds
        counts[rows] = part.counts
    begins = np.cumsum(counts) - counts
    values = np.empty(int(counts.sum()), DTYPES[kind])
    for rows, part in parts:
        if part.values.size:
            _put(part.values, values, begins[rows], counts[rows])
    return Part(kinds, values, counts)


def _put(part: npt.NDArray[Any], values: npt.NDArray[Any], begins: Ints, counts: Ints) -> None:
    """Put a part into all values: its rows begin there at ``begins`` and have ``counts`` of them."""
    ends = begins + counts
    own = np.cumsum(counts)
    gaps = np.flatnonzero(begins[1:] != ends[:-1])
    if gaps.size * tuning.current.values_per_copied_run > part.size:
        values[_places(begins, counts, part.size)] = part
        return
    # Most rows are one behind the other there too: a few pieces are copied as they are.
    lows, highs = [0, *own[gaps].tolist()], [*own[gaps].tolist(), part.size]
    places = [int(begins[0]), *begins[gaps + 1].tolist()]
    for place, low, high in zip(places, lows, highs, strict=True):
        values[place : place + high - low] = part[low:high]


def _places(begins: Ints, counts: Ints, total: int) -> Ints:
    """Where the values go whose rows begin at ``begins`` and have ``counts`` of them, ``total`` in all."""
    if total == counts.size and bool((counts == 1).all()):
        return begins
    own = np.cumsum(counts) - counts
    return np.repeat(begins - own, counts) + np.arange(total)
