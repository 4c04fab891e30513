"""``filter``: the elements for which a predicate is true.

It must look at every element to know which ones to keep, so skipping costs as much as taking. It resumes
where its parent resumes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..engine.node import Context, Cursor, Elements, FailedElement, Node, PassThroughCursor, State, Transform
from ..engine.origins import Locator, apply_each, attempt
from .map import call
from .sources import name_of


@dataclass(frozen=True, eq=False)
class Filter(Transform):
    """The elements for which ``predicate`` is true."""

    parent: Node
    predicate: Callable[..., Any]

    def open(self, context: Context) -> Cursor:
        context = context.without_pattern()
        return _FilterCursor(self, self.parent.open(context), Locator(self.label(), self.parent, context))

    def origins(self, context: Context) -> Cursor:
        return _FilteredOriginsCursor(self, self.parent.open(context), self.parent.origins(context))

    def size(self) -> int | None:
        return -1 if self.parent.size() == -1 else None

    def label(self) -> str:
        return f"filter({name_of(self.predicate)})"

    def outline(self) -> str:
        return f"{self.parent.outline()}.filter"


def _holds(predicate: Callable[..., Any], element: Any) -> bool:
    return bool(call(predicate, element))


def _chosen(elements: Elements, kept: list[Any]) -> list[Any]:
    """The elements to keep: those that failed, or whose predicate failed, too."""
    pairs = zip(elements, kept, strict=True)
    return [keep if type(keep) is FailedElement else element for element, keep in pairs if keep]


class _FilterCursor(PassThroughCursor):
    def __init__(self, node: Filter, parent: Cursor, locator: Locator) -> None:
        super().__init__(parent)
        self._predicate = partial(_holds, node.predicate)
        self._locator = locator

    def take(self, count: int) -> Elements:
        while True:
            self._locator.before_take(self._parent)
            elements = self._parent.take(count)
            if not len(elements):
                return ()
            chosen = _chosen(elements, apply_each(self._predicate, elements, self._locator))
            if chosen:
                return chosen

    def skip(self, count: int) -> int:
        return Cursor.skip(self, count)

    def restore(self, state: State) -> None:
        self._parent.restore(state)
        self._locator.restored(state)


class _FilteredOriginsCursor(PassThroughCursor):
    """The origins of the elements for which the predicate is true; so it computes the elements too."""

    def __init__(self, node: Filter, parent: Cursor, origins: Cursor) -> None:
        super().__init__(parent)
        self._predicate = partial(_holds, node.predicate)
        self._origins = origins

    def take(self, count: int) -> Elements:
        while len(elements := self._parent.take(1)):
            origins = self._origins.take(1)
            if attempt(self._predicate, elements[0], lambda error: None):  # what failed has a place too
                return origins
        return ()

    def skip(self, count: int) -> int:
        return Cursor.skip(self, count)

    def restore(self, state: State) -> None:
        self._parent.restore(state)
        self._origins.restore(state)

    def close(self) -> None:
        self._parent.close()
        self._origins.close()
