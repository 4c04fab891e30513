"""``filter``: the elements for which a function says yes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..engine.node import Context, Cursor, Elements, Node, Over, Step
from .map import call
from .sources import name_of


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
