"""``interleave`` and ``sample``: elements of several datasets in turn, in a fixed or a drawn order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..engine.node import Context, Cursor, Elements, Node, State, Step, changed
from .map import call
from .sources import name_of


@dataclass(frozen=True, eq=False)
class Interleave(Step):
    """Elements of the datasets that ``function`` makes of each element below: ``block`` of each in turn.

    ``cycle`` of them are open at a time; one that has ended makes room for the next.
    """

    up: Node
    function: Callable[..., Node]
    cycle: int
    block: int

    def open(self, context: Context) -> Cursor:
        return _InterleaveCursor(self, context.free())

    def size(self) -> int | None:
        return None

    def label(self) -> str:
        return f"interleave({name_of(self.function)}, cycle_length={self.cycle}, block_length={self.block})"


@dataclass
class _Lane:
    """One of the datasets that are open: where the element that it was made of comes from, and itself."""

    origin: State
    cursor: Cursor


class _InterleaveCursor(Cursor):
    def __init__(self, node: Interleave, context: Context) -> None:
        self._node = node
        self._context = context
        self._up = node.up.open(context)
        self._lanes: list[_Lane | None] = [None] * node.cycle
        self._at = 0  # the lane whose turn it is
        self._used = 0  # how many elements it has given in this turn
        self._ended = False  # whether nothing more comes from below

    def take(self, count: int) -> Elements:
        elements = self._work(count, lambda cursor, most: cursor.take(most))
        return elements if elements is not None else ()

    def skip(self, count: int) -> int:
        left = count
        while left:
            passed = self._work(left, lambda cursor, most: range(cursor.skip(most)))
            if passed is None:
                break
            left -= len(passed)
        return count - left

    def _work(self, count: int, take: Callable[[Cursor, int], Elements]) -> Elements | None:
        """What ``take`` gets from the lane whose turn it is, or the next that has some; None at the end."""
        idle = 0
        while idle <= len(self._lanes):
            lane = self._lane(self._at)
            elements = take(lane.cursor, min(count, self._node.block - self._used)) if lane else ()
            if len(elements):
                self._used += len(elements)
                if self._used == self._node.block:
                    self._turn()
                return elements
            if lane is not None:
                lane.cursor.close()
                self._lanes[self._at] = None
                idle = 0
            else:
                idle += 1
            self._turn()
        return None

    def _turn(self) -> None:
        self._at, self._used = (self._at + 1) % len(self._lanes), 0

    def _lane(self, number: int) -> _Lane | None:
        if self._lanes[number] is None and not self._ended:
            origin = self._up.state()
            elements = self._up.take(1)
            if len(elements):
                self._lanes[number] = _Lane(origin, self._opened(elements[0]))
            else:
                self._ended = True
        return self._lanes[number]

    def _opened(self, element: Any) -> Cursor:
        node: Node = call(self._node.function, element)
        return node.open(self._context)

    def state(self) -> State:
        lanes = [None if lane is None else [lane.origin, lane.cursor.state()] for lane in self._lanes]
        return {"at": self._at, "used": self._used, "lanes": lanes, "up": self._up.state()}

    def restore(self, state: State) -> None:
        self._at, self._used = state["at"], state["used"]
        for number, lane in enumerate(state["lanes"]):
            if lane is None:
                continue
            up = self._node.up.open(self._context)
            up.restore(lane[0])
            elements = up.take(1)
            up.close()
            if not len(elements):
                raise changed("there are fewer datasets to interleave")
            cursor = self._opened(elements[0])
            cursor.restore(lane[1])
            self._lanes[number] = _Lane(lane[0], cursor)
        self._up.restore(state["up"])

    def close(self) -> None:
        for lane in self._lanes:
            if lane is not None:
                lane.cursor.close()
        self._up.close()
