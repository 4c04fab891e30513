"""``filter``: the elements for which a predicate is true.

It must look at every element to know which ones to keep, so skipping costs as much as taking. It resumes
where its parent resumes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..engine.node import Context, Cursor, Elements, FailedElement, Node, PassThroughCursor, Transform
from .map import call
from .sources import name_of


@dataclass(frozen=True, eq=False)
class Filter(Transform):
    """The elements for which ``predicate`` is true."""

    parent: Node
    predicate: Callable[..., Any]

    def open(self, context: Context) -> Cursor:
        return _FilterCursor(self, self.parent.open(context.without_pattern()))

    def size(self) -> int | None:
        return -1 if self.parent.size() == -1 else None

    def label(self) -> str:
        return f"filter({name_of(self.predicate)})"

    def outline(self) -> str:
        return f"{self.parent.outline()}.filter"


class _FilterCursor(PassThroughCursor):
    def __init__(self, node: Filter, parent: Cursor) -> None:
        super().__init__(parent)
        self._predicate = node.predicate

    def take(self, count: int) -> Elements:
        while len(elements := self._parent.take(count)):
            chosen: list[Any] = []
            for element in elements:
                try:
                    if type(element) is FailedElement or call(self._predicate, element):
                        chosen.append(element)
                except Exception as error:
                    chosen.append(FailedElement(error))
            if chosen:
                return chosen
        return ()

    def skip(self, count: int) -> int:
        return Cursor.skip(self, count)
