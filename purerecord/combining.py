"""``take``, ``skip``, ``shard``, ``repeat``, ``concatenate``, ``zip``, ``interleave``, ``sample``.

Steps that choose elements or put those of several datasets together. None of them looks at an element.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .cursor import Context, Cursor, Elements, Node, State, Step, Table, join, take_exactly

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


@dataclass(frozen=True, eq=False)
class Zip(Node):
    """Tuples of one element of each dataset, as long as all have one."""

    parts: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts

    def open(self, context: Context) -> Cursor:
        return _ZipCursor([part.open(context) for part in self.parts])

    def size(self) -> int | None:
        sizes = [size for part in self.parts if (size := part.size()) != -1]
        if None in sizes:
            return None
        return min(size for size in sizes if size is not None) if sizes else -1

    def chain(self) -> str:
        return self.label()

    def label(self) -> str:
        return f"zip({', '.join(part.chain() for part in self.parts)})"

    def outline(self) -> str:
        return f"zip({', '.join(part.outline() for part in self.parts)})"


class _ZipCursor(Cursor):
    def __init__(self, parts: list[Cursor]) -> None:
        self._parts = parts
        self.hint = min(part.hint for part in parts)
        self._error: Exception | None = None

    def take(self, count: int) -> Elements:
        return self._together(lambda: self._take(count))

    def _together(self, move: Callable[[], Moved]) -> Moved:
        """What ``move`` gives; after an error in one part never again, since the parts are not in step."""
        if self._error is not None:
            raise self._error
        try:
            return move()
        except Exception as error:
            self._error = error
            raise

    def _take(self, count: int) -> Elements:
        return list(zip(*(take_exactly(part, count) for part in self._parts), strict=False))

    def skip(self, count: int) -> int:
        return self._together(lambda: min(part.skip(count) for part in self._parts))

    def state(self) -> State:
        return [part.state() for part in self._parts]

    def restore(self, state: State) -> None:
        for part, own in zip(self._parts, state, strict=True):
            part.restore(own)

    def close(self) -> None:
        for part in self._parts:
            part.close()
