"""``enumerate``: pairs of a number and an element.

Skipped elements are counted too, so every worker sees the same numbers. The state holds the next number.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.node import Context, Cursor, Elements, Node, PassThroughCursor, State, Transform


@dataclass(frozen=True, eq=False)
class Enumerate(Transform):
    """Pairs of a number, counted from ``start``, and an element."""

    parent: Node
    start: int = 0

    def open(self, context: Context) -> Cursor:
        return _EnumerateCursor(self.parent.open(context), self.start)

    def origins(self, context: Context) -> Cursor:
        return _EnumerateCursor(self.parent.origins(context), self.start)

    def label(self) -> str:
        return f"enumerate({self.start or ''})"


class _EnumerateCursor(PassThroughCursor):
    def __init__(self, parent: Cursor, start: int) -> None:
        super().__init__(parent)
        self.cheap_lookahead = parent.cheap_lookahead
        self._next = start

    def take(self, count: int) -> Elements:
        numbered = list(enumerate(self._parent.take(count), self._next))
        self._next += len(numbered)
        return numbered

    def take_lazy(self, count: int) -> Elements:
        numbered = list(enumerate(self._parent.take_lazy(count), self._next))
        self._next += len(numbered)
        return numbered

    def load(self, elements: Elements) -> Elements:
        loaded = self._parent.load([element for _, element in elements])
        return [(number, element) for (number, _), element in zip(elements, loaded, strict=True)]

    def skip(self, count: int) -> int:
        skipped = self._parent.skip(count)
        self._next += skipped
        return skipped

    def state(self) -> State:
        return {"next": self._next, "up": self._parent.state()}

    def restore(self, state: State) -> None:
        self._next = state["next"]
        self._parent.restore(state["up"])
