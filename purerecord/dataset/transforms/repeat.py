"""``repeat``: the same elements several times."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.node import Context, Cursor, Elements, Node, State, Step


@dataclass(frozen=True, eq=False)
class Repeat(Step):
    """The elements of one epoch after the other; ``count`` of them, or without end."""

    up: Node
    count: int | None

    def open(self, context: Context) -> Cursor:
        return _RepeatCursor(self, context)

    def size(self) -> int | None:
        below = self.up.size()
        if below is None or below < 0 or self.count == 0:
            return 0 if self.count == 0 else below
        if self.count is None:
            return -1 if below else 0
        return below * self.count

    def label(self) -> str:
        return f"repeat({'' if self.count is None else self.count})"


class _RepeatCursor(Cursor):
    def __init__(self, node: Repeat, context: Context) -> None:
        self._node = node
        self._context = context.free()
        self._first = context.epoch if node.count is None else context.epoch * node.count
        self._turn = 0
        self._given = False  # whether any element has come in this turn
        self._up: Cursor | None = None
        self.hint = self._opened().hint if node.count != 0 else 1

    def _opened(self) -> Cursor:
        if self._up is None:
            self._up = self._node.up.open(self._context.at(self._first + self._turn))
        return self._up

    def take(self, count: int) -> Elements:
        while self._turn != self._node.count:
            elements = self._opened().take(count)
            if len(elements):
                self._given = True
                return elements
            if not self._next_turn():
                break
        return ()

    def skip(self, count: int) -> int:
        left = count
        while left and self._turn != self._node.count:
            passed = self._opened().skip(left)
            left -= passed
            self._given = self._given or passed > 0
            if left and not self._next_turn():
                break
        return count - left

    def _next_turn(self) -> bool:
        """Begin the next epoch; False where there is nothing to repeat."""
        self.close()
        self._turn += 1
        given, self._given = self._given, False
        return given or self._node.count is not None

    def state(self) -> State:
        if self._turn == self._node.count:
            return {"turn": self._turn, "given": False, "up": None}
        return {"turn": self._turn, "given": self._given, "up": self._opened().state()}

    def restore(self, state: State) -> None:
        self.close()
        self._turn, self._given = state["turn"], state["given"]
        if state["up"] is not None:
            self._opened().restore(state["up"])

    def close(self) -> None:
        if self._up is not None:
            self._up.close()
        self._up = None
