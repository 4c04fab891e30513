"""``concatenate``: the elements of one dataset, then those of another.

The state holds which of the two is current, and its state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..engine.node import Context, Cursor, Elements, Node, State, Table
from ..engine.states import count_of, values_of

_Fetch = Callable[[npt.NDArray[np.int64]], Elements]


@dataclass(frozen=True, eq=False)
class Concatenate(Node):
    """The elements of ``first``, then those of ``second``."""

    first: Node
    second: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.first, self.second)

    def open(self, context: Context) -> Cursor:
        return _ConcatenateCursor([part.open(context.without_pattern()) for part in self.inputs])

    def origins(self, context: Context) -> Cursor:
        return _ConcatenateCursor([part.origins(context) for part in self.inputs])

    def size(self) -> int | None:
        first, second = self.first.size(), self.second.size()
        if -1 in (first, second):
            return -1
        return None if first is None or second is None else first + second

    def table(self) -> Table | None:
        first, second = self.first.table(), self.second.table()
        return None if first is None or second is None else _ConcatenatedTable(first, second)

    def label(self) -> str:
        return f"concatenate({self.second.chain()})"

    def outline(self) -> str:
        return f"({self.first.outline()} + {self.second.outline()})"


@dataclass(frozen=True)
class _ConcatenatedTable:
    """The elements of one table, then those of another."""

    first: Table
    second: Table

    def __len__(self) -> int:
        return len(self.first) + len(self.second)

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        return self._from_both(numbers, self.first.fetch, self.second.fetch)

    def locate(self, numbers: npt.NDArray[np.int64]) -> Elements:
        return self._from_both(numbers, self.first.locate, self.second.locate)

    def _from_both(self, numbers: npt.NDArray[np.int64], first: _Fetch, second: _Fetch) -> Elements:
        border = len(self.first)
        early = numbers < border
        parts = iter(first(numbers[early])), iter(second(numbers[~early] - border))
        return [next(parts[0] if is_early else parts[1]) for is_early in early.tolist()]


class _ConcatenateCursor(Cursor):
    def __init__(self, parts: list[Cursor]) -> None:
        self._parts = parts
        self._current = 0
        self.cheap_lookahead = min(part.cheap_lookahead for part in parts)

    def take(self, count: int) -> Elements:
        while True:
            elements = self._parts[self._current].take(count)
            if len(elements) or self._current + 1 == len(self._parts):
                return elements
            self._current += 1

    def skip(self, count: int) -> int:
        skipped = self._parts[self._current].skip(count)
        while skipped < count and self._current + 1 < len(self._parts):
            self._current += 1
            skipped += self._parts[self._current].skip(count - skipped)
        return skipped

    def state(self) -> State:
        return {"at": self._current, "up": self._parts[self._current].state()}

    def restore(self, state: State) -> None:
        current, up = values_of(state, "at", "up")
        self._current = count_of(current, len(self._parts) - 1)
        self._parts[self._current].restore(up)

    def close(self) -> None:
        for part in self._parts:
            part.close()
