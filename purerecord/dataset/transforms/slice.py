"""``take``, ``skip``, ``shard``, ``repeat``, ``concatenate``, ``zip``, ``interleave``, ``sample``.

Steps that choose elements or put those of several datasets together. None of them looks at an element.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..engine.node import Context, Cursor, Elements, Node, State, Step, Table, join

Moved = TypeVar("Moved")


@dataclass(frozen=True, eq=False)
class Slice(Step):
    """The elements from ``begin`` to ``end``, every ``step``-th; ``end`` is None for all."""

    up: Node
    name: str
    begin: int
    end: int | None
    step: int = 1

    def open(self, context: Context) -> Cursor:
        return _SliceCursor(self, self.up.open(context.free()))

    def size(self) -> int | None:
        below = self.up.size()
        if below is None or (below < 0 and self.end is None):
            return below
        end = self.end if below < 0 else below if self.end is None else min(below, self.end)
        assert end is not None
        return len(range(self.begin, end, self.step))

    def table(self) -> Table | None:
        below = self.up.table()
        return (
            None
            if below is None
            else SlicedTable(below, range(len(below))[self.begin : self.end : self.step])
        )

    def label(self) -> str:
        return self.name


@dataclass(frozen=True)
class SlicedTable:
    """Some of the elements of a table."""

    below: Table
    numbers: range

    def __len__(self) -> int:
        return len(self.numbers)

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        return self.below.fetch(self.numbers.start + numbers * self.numbers.step)


class _SliceCursor(Cursor):
    def __init__(self, node: Slice, up: Cursor) -> None:
        self._up = up
        self.hint = up.hint
        self._step = node.step
        self._end = node.end
        self._position = 0  # of what is below
        self._wait = node.begin  # how many below come before the next element
        self._error: Exception | None = None  # that comes behind the elements before it

    def take(self, count: int) -> Elements:
        self._raise()
        if not self._come() or not (room := self._room(count)):
            return ()
        if self._step == 1:
            elements = self._up.take(room)
            self._position += len(elements)
            return elements
        parts: list[Elements] = []
        try:
            while len(parts) < count and self._come() and self._room(1) and len(one := self._up.take(1)):
                parts.append(one)
                self._position += 1
                self._wait = self._step - 1
        except Exception as error:
            if not parts:
                raise
            self._error = error
        return join(parts)

    def _raise(self) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def skip(self, count: int) -> int:
        self._raise()
        if not count or not self._come():
            return 0
        passed = self._up.skip(self._room((count - 1) * self._step + 1))
        self._position += passed
        elements = -(-passed // self._step)
        self._wait = elements * self._step - passed
        return elements

    def _come(self) -> bool:
        """Go to the next element; False where what is below ends before."""
        passed = self._up.skip(self._room(self._wait)) if self._wait else 0
        self._position += passed
        self._wait -= passed
        return not self._wait

    def _room(self, count: int) -> int:
        return count if self._end is None else max(0, min(count, self._end - self._position))

    def state(self) -> State:
        return {"position": self._position, "wait": self._wait, "up": self._up.state()}

    def restore(self, state: State) -> None:
        self._position, self._wait = state["position"], state["wait"]
        self._up.restore(state["up"])

    def close(self) -> None:
        self._up.close()
