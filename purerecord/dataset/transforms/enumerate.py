"""``enumerate``: pairs of a number and an element.

Skipped elements are counted too, so every worker sees the same numbers. The state holds the next number.
"""

from __future__ import annotations

from collections.abc import Sequence
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

    def origins(self, context: Context) -> Cursor:
        return _EnumerateCursor(self.parent.origins(context), self.start)

    def label(self) -> str:
        return f"enumerate({self.start or ''})"


class _EnumerateCursor(PassThroughCursor):
    def __init__(self, parent: Cursor, start: int) -> None:
        super().__init__(parent)
        self.cheap_lookahead = parent.cheap_lookahead
        self._start = self._next = start

    def take(self, count: int) -> Elements:
        return self._numbered(self._parent.take(count))

    def take_lazy(self, count: int) -> Elements:
        return self._numbered(self._parent.take_lazy(count))

    def _numbered(self, elements: Elements) -> list[Any]:
        begin, self._next = self._next, self._next + len(elements)
        return _pairs(range(begin, self._next), elements)

    def load(self, elements: Elements) -> Elements:
        pairs = [(0, pair) if isinstance(pair, FailedElement) else pair for pair in elements]
        return _pairs([number for number, _ in pairs], self._parent.load([element for _, element in pairs]))

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


def _pairs(numbers: Sequence[int], elements: Elements) -> list[Any]:
    """Pairs of a number and an element; of an element that failed, only that."""
    pairs: list[Any] = list(zip(numbers, elements, strict=True))
    if first_failed(elements) is not None:
        return [pair[1] if isinstance(pair[1], FailedElement) else pair for pair in pairs]
    return pairs
