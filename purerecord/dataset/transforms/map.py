"""``map``: a function of every element, in this thread, in threads or in processes.

Threads and processes change when an element is computed, never which elements come or in which order. ``map``
resumes where its parent resumes: elements before that point are not computed again. This module must not know
where elements come from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engine.lookahead import MapAheadCursor
from ..engine.node import Context, Cursor, Elements, Node, PassThroughCursor, Table, Transform, apply_to_each
from .sources import name_of


@dataclass(frozen=True, eq=False)
class Map(Transform):
    """``function`` of every element; a tuple is passed as several arguments."""

    parent: Node
    function: Callable[..., Any]
    parallel: int | None = None
    processes: bool = False

    def open(self, context: Context) -> Cursor:
        parent, function = self.parent.open(context), partial(call, self.function)
        if self.parallel is None:
            return MapCursor(parent, function)
        return MapAheadCursor(parent, context, function, self.parallel, self.processes)

    def table(self) -> Table | None:
        table = self.parent.table()
        return None if table is None else MappedTable(table, partial(call, self.function))

    def label(self) -> str:
        parallel = "" if self.parallel is None else f", num_parallel_calls={self.parallel}"
        return f"map({name_of(self.function)}{parallel}{', processes=True' if self.processes else ''})"

    def outline(self) -> str:
        return f"{self.parent.outline()}.map"


def call(function: Callable[..., Any], element: Any) -> Any:
    """``function`` of an element; of its members if it is a tuple."""
    return function(*element) if isinstance(element, tuple) else function(element)


@dataclass(frozen=True)
class MappedTable:
    """A table that maps its elements when they are fetched."""

    parent: Table
    function: Callable[[Any], Any]

    def __len__(self) -> int:
        return len(self.parent)

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        return apply_to_each(self.function, self.parent.fetch(numbers))


class MapCursor(PassThroughCursor):
    """Maps elements when they are taken; skipped elements are not mapped."""

    def __init__(self, parent: Cursor, function: Callable[[Any], Any]) -> None:
        super().__init__(parent)
        self._function = function

    def take(self, count: int) -> Elements:
        return apply_to_each(self._function, self._parent.take(count))
