"""``repeat``: one epoch after the other, each shuffled anew.

A repetition is an epoch of the parent: repetition t of epoch e is epoch e * count + t of the parent, or e +
t if it repeats without end. The state holds the repetition and the parent's state in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..engine.node import Context, Cursor, Elements, Node, State, Transform
from ..engine.states import count_of, flag_of, values_of


@dataclass(frozen=True, eq=False)
class Repeat(Transform):
    """``count`` epochs of the parent, one after the other; without end if ``count`` is None."""

    parent: Node
    count: int | None

    def open(self, context: Context) -> Cursor:
        return _RepeatCursor(self, context, self.parent.open)

    def origins(self, context: Context) -> Cursor:
        return _RepeatCursor(self, context, self.parent.origins)

    def size(self) -> int | None:
        elements = self.parent.size()
        if elements is None or elements < 0 or self.count == 0:
            return 0 if self.count == 0 else elements
        if self.count is None:
            return -1 if elements else 0
        return elements * self.count

    def label(self) -> str:
        return f"repeat({'' if self.count is None else self.count})"


class _RepeatCursor(Cursor):
    def __init__(self, node: Repeat, context: Context, open_parent: Callable[[Context], Cursor]) -> None:
        self._node = node
        self._open_parent = open_parent
        self._context = context.without_pattern()
        self._first_epoch = context.epoch if node.count is None else context.epoch * node.count
        self._turn = 0  # the number of the current repetition
        self._has_elements = False  # whether any element has come in this repetition
        self._parent: Cursor | None = None
        self.cheap_lookahead = self._opened().cheap_lookahead if node.count != 0 else 1

    def _opened(self) -> Cursor:
        """The parent's cursor in the current repetition."""
        if self._parent is None:
            context = self._context.for_epoch(self._first_epoch + self._turn)
            self._parent = self._open_parent(context)
        return self._parent

    def take(self, count: int) -> Elements:
        while self._turn != self._node.count:
            elements = self._opened().take(count)
            if len(elements):
                self._has_elements = True
                return elements
            if not self._next_turn():
                break
        return ()

    def skip(self, count: int) -> int:
        left = count
        while left and self._turn != self._node.count:
            skipped = self._opened().skip(left)
            left -= skipped
            self._has_elements = self._has_elements or skipped > 0
            if left and not self._next_turn():
                break
        return count - left

    def _next_turn(self) -> bool:
        """Begin the next repetition; False if an endless repetition has nothing to repeat."""
        self.close()
        self._turn += 1
        had_elements, self._has_elements = self._has_elements, False
        return had_elements or self._node.count is not None

    def state(self) -> State:
        if self._turn == self._node.count:
            return {"turn": self._turn, "given": False, "up": None}
        return {"turn": self._turn, "given": self._has_elements, "up": self._opened().state()}

    def restore(self, state: State) -> None:
        turn, given, up = values_of(state, "turn", "given", "up")
        self.close()
        count = self._node.count
        self._turn = count_of(turn) if count is None else count_of(turn, count)
        self._has_elements = flag_of(given)
        if self._turn != count:
            self._opened().restore(up)

    def close(self) -> None:
        if self._parent is not None:
            self._parent.close()
        self._parent = None
