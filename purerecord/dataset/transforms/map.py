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

from ..engine.lookahead import ParallelCursor
from ..engine.node import Context, Cursor, Elements, Node, Over, Step, Table
from .sources import name_of


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
