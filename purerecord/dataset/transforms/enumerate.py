"""``enumerate``: each element with its number."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.node import Context, Cursor, Elements, Node, Over, State, Step


@dataclass(frozen=True, eq=False)
class Enumerate(Step):
    """Elements with their numbers."""

    up: Node
    start: int = 0

    def open(self, context: Context) -> Cursor:
        return _EnumerateCursor(self.up.open(context), self.start)

    def label(self) -> str:
        return f"enumerate({self.start or ''})"


class _EnumerateCursor(Over):
    def __init__(self, up: Cursor, start: int) -> None:
        super().__init__(up)
        self.hint = up.hint
        self._next = start

    def take(self, count: int) -> Elements:
        numbered = list(enumerate(self._up.take(count), self._next))
        self._next += len(numbered)
        return numbered

    def skip(self, count: int) -> int:
        passed = self._up.skip(count)
        self._next += passed
        return passed

    def state(self) -> State:
        return {"next": self._next, "up": self._up.state()}

    def restore(self, state: State) -> None:
        self._next = state["next"]
        self._up.restore(state["up"])
