"""``enumerate``: pairs of a number and an element.

Skipped elements are counted too, so every worker sees the same numbers. The state holds the next number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..engine.node import (
    Context,
    Cursor,
    Elements,
    FailedElement,
    Node,
    PassThroughCursor,
    State,
    Transform,
    first_failed,
)
from ..engine.states import count_of, values_of


@dataclass(frozen=True, eq=False)
class Enumerate(Transform):
    """Pairs of a number, counted from ``start``, and an element."""

    parent: Node
    start: int = 0

    def open(self, context: Context) -> Cursor:
        return _EnumerateCursor(self.parent.open(context), self.start)

    def label(self) -> str:
        return f"enumerate({self.start or ''})"


class _EnumerateCursor(PassThroughCursor):
    def __init__(self, parent: Cursor, start: int) -> None:
        super().__init__(parent)
        self.cheap_lookahead = parent.cheap_lookahead
        self._start = self._next = start

    def take(self, count: int) -> Elements:
        elements = self._parent.take(count)
        numbered: list[Any] = list(enumerate(elements, self._next))
        self._next += len(elements)
        if first_failed(elements) is not None:
            return [pair[1] if isinstance(pair[1], FailedElement) else pair for pair in numbered]
        return numbered

    def skip(self, count: int) -> int:
        skipped = self._parent.skip(count)
        self._next += skipped
        return skipped

    def state(self) -> State:
        return {"next": self._next, "up": self._parent.state()}

    def restore(self, state: State) -> None:
        number, up = values_of(state, "next", "up")
        self._next = self._start + count_of(number - self._start if isinstance(number, int) else number)
        self._parent.restore(up)
