"""``concatenate``: the elements of several datasets, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..engine.node import Context, Cursor, Elements, Node, State, Table


@dataclass(frozen=True, eq=False)
class Concatenate(Node):
    """The elements of one dataset, then those of another."""

    first: Node
    second: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.first, self.second)

    def open(self, context: Context) -> Cursor:
        return _ConcatenateCursor([part.open(context.free()) for part in self.inputs])

    def size(self) -> int | None:
        first, second = self.first.size(), self.second.size()
        if -1 in (first, second):
            return -1
        return None if first is None or second is None else first + second

    def table(self) -> Table | None:
        first, second = self.first.table(), self.second.table()
        return None if first is None or second is None else JoinedTable(first, second)

    def label(self) -> str:
        return f"concatenate({self.second.chain()})"

    def outline(self) -> str:
        return f"({self.first.outline()} + {self.second.outline()})"


@dataclass(frozen=True)
class JoinedTable:
    """The elements of one table, then those of another."""

    first: Table
    second: Table

    def __len__(self) -> int:
        return len(self.first) + len(self.second)

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        border = len(self.first)
        early = numbers < border
        parts = iter(self.first.fetch(numbers[early])), iter(self.second.fetch(numbers[~early] - border))
        return [next(parts[0] if is_early else parts[1]) for is_early in early.tolist()]


class _ConcatenateCursor(Cursor):
    def __init__(self, parts: list[Cursor]) -> None:
        self._parts = parts
        self._at = 0
        self.hint = min(part.hint for part in parts)

    def take(self, count: int) -> Elements:
        while True:
            elements = self._parts[self._at].take(count)
            if len(elements) or self._at + 1 == len(self._parts):
                return elements
            self._at += 1

    def skip(self, count: int) -> int:
        passed = self._parts[self._at].skip(count)
        while passed < count and self._at + 1 < len(self._parts):
            self._at += 1
            passed += self._parts[self._at].skip(count - passed)
        return passed

    def state(self) -> State:
        return {"at": self._at, "up": self._parts[self._at].state()}

    def restore(self, state: State) -> None:
        self._at = state["at"]
        self._parts[self._at].restore(state["up"])

    def close(self) -> None:
        for part in self._parts:
            part.close()
