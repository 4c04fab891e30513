"""``interleave``: a dataset for each element of the parent, several of them read in turn.

The state holds the state of every open dataset, and the state of the parent before the element that it was
made from. To resume, that element is read again and its dataset made again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..engine.node import Context, Cursor, Elements, FailedElement, Node, State, Transform, data_changed
from ..engine.states import count_of, list_of, values_of
from .map import call
from .sources import Slices, name_of


@dataclass(frozen=True, eq=False)
class Interleave(Transform):
    """``block`` elements in turn of each of the datasets that ``function`` makes from the parent's elements.

    ``cycle`` datasets are open at a time. Where one ends, the next one takes its slot.
    """

    parent: Node
    function: Callable[..., Node]
    cycle: int
    block: int

    def open(self, context: Context) -> Cursor:
        return _InterleaveCursor(self, context.without_pattern())

    def size(self) -> int | None:
        return None

    def label(self) -> str:
        return f"interleave({name_of(self.function)}, cycle_length={self.cycle}, block_length={self.block})"


@dataclass
class _OpenDataset:
    """A dataset that is open: its cursor, and the parent's state before the element that it was made from."""

    origin: State
    cursor: Cursor


class _InterleaveCursor(Cursor):
    def __init__(self, node: Interleave, context: Context) -> None:
        self._node = node
        self._context = context
        self._parent = node.parent.open(context)
        self._slots: list[_OpenDataset | None] = [None] * node.cycle
        self._current = 0  # the slot whose turn it is
        self._used = 0  # how many elements it has given in this turn
        self._parent_ended = False

    def take(self, count: int) -> Elements:
        elements = self._in_turn(count, lambda cursor, most: cursor.take(most))
        return elements if elements is not None else ()

    def skip(self, count: int) -> int:
        left = count
        while left:
            skipped = self._in_turn(left, lambda cursor, most: range(cursor.skip(most)))
            if skipped is None:
                break
            left -= len(skipped)
        return count - left

    def _in_turn(self, count: int, take: Callable[[Cursor, int], Elements]) -> Elements | None:
        """The result of ``take`` for the current slot, or the next that has elements; None at the end."""
        empty_slots = 0  # in a row
        while empty_slots <= len(self._slots):
            dataset = self._dataset_in(self._current)
            elements = take(dataset.cursor, min(count, self._node.block - self._used)) if dataset else ()
            if len(elements):
                self._used += len(elements)
                if self._used == self._node.block:
                    self._next_slot()
                return elements
            if dataset is not None:
                dataset.cursor.close()
                self._slots[self._current] = None
                empty_slots = 0
            else:
                empty_slots += 1
            self._next_slot()
        return None

    def _next_slot(self) -> None:
        self._current, self._used = (self._current + 1) % len(self._slots), 0

    def _dataset_in(self, slot: int) -> _OpenDataset | None:
        """The dataset in a slot; an empty slot is filled from the parent's next element."""
        if self._slots[slot] is None and not self._parent_ended:
            origin = self._parent.state()
            elements = self._parent.take(1)
            if len(elements):
                self._slots[slot] = _OpenDataset(origin, self._opened(elements[0]))
            else:
                self._parent_ended = True
        return self._slots[slot]

    def _opened(self, element: Any) -> Cursor:
        """The dataset made from ``element``. If that fails, it is a dataset of one element that failed."""
        if isinstance(element, FailedElement):
            return Slices([element]).open(self._context)
        try:
            node: Node = call(self._node.function, element)
        except Exception as error:
            node = Slices([FailedElement(error)])
        return node.open(self._context)

    def state(self) -> State:
        slots = [None if opened is None else [opened.origin, opened.cursor.state()] for opened in self._slots]
        return {"at": self._current, "used": self._used, "lanes": slots, "up": self._parent.state()}

    def restore(self, state: State) -> None:
        current, used, slots, up = values_of(state, "at", "used", "lanes", "up")
        self._current = count_of(current, len(self._slots) - 1)
        self._used = count_of(used, self._node.block - 1)
        for number, slot in enumerate(list_of(slots, len(self._slots))):
            if slot is None:
                continue
            origin, own = list_of(slot, 2)
            parent = self._node.parent.open(self._context)
            parent.restore(origin)
            elements = parent.take(1)
            parent.close()
            if not len(elements):
                raise data_changed("there are fewer datasets to interleave")
            cursor = self._opened(elements[0])
            cursor.restore(own)
            self._slots[number] = _OpenDataset(origin, cursor)
        self._parent.restore(up)

    def close(self) -> None:
        for opened in self._slots:
            if opened is not None:
                opened.cursor.close()
        self._parent.close()
