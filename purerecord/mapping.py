"""``map``, ``filter``, ``enumerate`` and ``prefetch``: one element at a time.

Threads and processes only ever change when something is computed, never what comes out, nor in which
order. This module does not know where elements come from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .ahead import ParallelCursor, PrefetchCursor
from .cursor import Context, Cursor, Elements, Node, Over, State, Step, Table
from .source import name_of


@dataclass(frozen=True, eq=False)
class Map(Step):
    """``function`` of every element; a tuple is handed to it as several arguments."""

    up: Node
    function: Callable[..., Any]
    parallel: int | None = None
    processes: bool = False

    def open(self, context: Context) -> Cursor:
        up = self.up.open(context)
        if self.parallel is None:
            return _MapCursor(self, up)
        return ParallelCursor(up, context, partial(call, self.function), self.parallel, self.processes)

    def table(self) -> Table | None:
        below = self.up.table()
        return None if below is None else MappedTable(below, self.function)

    def label(self) -> str:
        parallel = "" if self.parallel is None else f", num_parallel_calls={self.parallel}"
        return f"map({name_of(self.function)}{parallel}{', processes=True' if self.processes else ''})"

    def outline(self) -> str:
        return f"{self.up.outline()}.map"


def call(function: Callable[..., Any], element: Any) -> Any:
    """``function`` of an element."""
    return function(*element) if isinstance(element, tuple) else function(element)


@dataclass(frozen=True)
class MappedTable:
    """A table whose elements are mapped when they are fetched."""

    below: Table
    function: Callable[..., Any]

    def __len__(self) -> int:
        return len(self.below)

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        return [call(self.function, element) for element in self.below.fetch(numbers)]


class _MapCursor(Over):
    def __init__(self, node: Map, up: Cursor) -> None:
        super().__init__(up)
        self._function = node.function

    def take(self, count: int) -> Elements:
        return [call(self._function, element) for element in self._up.take(count)]


@dataclass(frozen=True, eq=False)
class Filter(Step):
    """The elements for which ``predicate`` is true."""

    up: Node
    predicate: Callable[..., Any]

    def open(self, context: Context) -> Cursor:
        return _FilterCursor(self, self.up.open(context.free()))

    def size(self) -> int | None:
        return -1 if self.up.size() == -1 else None

    def label(self) -> str:
        return f"filter({name_of(self.predicate)})"

    def outline(self) -> str:
        return f"{self.up.outline()}.filter"


class _FilterCursor(Over):
    def __init__(self, node: Filter, up: Cursor) -> None:
        super().__init__(up)
        self._predicate = node.predicate

    def take(self, count: int) -> Elements:
        while len(elements := self._up.take(count)):
            chosen = [element for element in elements if call(self._predicate, element)]
            if chosen:
                return chosen
        return ()

    def skip(self, count: int) -> int:
        return Cursor.skip(self, count)


@dataclass(frozen=True, eq=False)
class Enumerate(Step):
    """Elements with their numbers."""

    up: Node
    start: int = 0

    def open(self, context: Context) -> Cursor:
        return _EnumerateCursor(self.up.open(context), self.start)

    def label(self) -> str:
        return f"enumerate({self.start or ''})"


class _EnumerateCursor(Over):
    def __init__(self, up: Cursor, start: int) -> None:
        super().__init__(up)
        self.hint = up.hint
        self._next = start

    def take(self, count: int) -> Elements:
        numbered = list(enumerate(self._up.take(count), self._next))
        self._next += len(numbered)
        return numbered

    def skip(self, count: int) -> int:
        passed = self._up.skip(count)
        self._next += passed
        return passed

    def state(self) -> State:
        return {"next": self._next, "up": self._up.state()}

    def restore(self, state: State) -> None:
        self._next = state["next"]
        self._up.restore(state["up"])


@dataclass(frozen=True, eq=False)
class Prefetch(Step):
    """The same elements, fetched by a thread while those before are in use."""

    up: Node
    buffer_size: int

    def open(self, context: Context) -> Cursor:
        return PrefetchCursor(self.up.open(context), context, self.buffer_size)

    def label(self) -> str:
        return f"prefetch({self.buffer_size})"

    def outline(self) -> str:
        return f"{self.up.outline()}.prefetch"
