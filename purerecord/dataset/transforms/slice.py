"""``take``, ``skip`` and ``shard``: the elements from one number to another, or every n-th of them.

Elements that are left out are skipped, not computed. The state holds the position in the parent and how
many of its elements come before the next one. This module must not know what an element is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..engine.node import (
    Context,
    Cursor,
    DeferredError,
    Elements,
    Node,
    PassThroughCursor,
    State,
    Table,
    Transform,
    join,
)
from ..engine.states import count_of, values_of


@dataclass(frozen=True, eq=False)
class Slice(Transform):
    """The elements from ``begin`` to ``end``, every ``step``-th; all that follow if ``end`` is None."""

    parent: Node
    name: str  # how a program writes it
    begin: int
    end: int | None
    step: int = 1

    def open(self, context: Context) -> Cursor:
        return _SliceCursor(self, self.parent.open(context.without_pattern()))

    def origins(self, context: Context) -> Cursor:
        return _SliceCursor(self, self.parent.origins(context))

    def size(self) -> int | None:
        elements = self.parent.size()
        if elements is None or (elements < 0 and self.end is None):
            return elements
        end = self.end if elements < 0 else elements if self.end is None else min(elements, self.end)
        assert end is not None
        return len(range(self.begin, end, self.step))

    def table(self) -> Table | None:
        table = self.parent.table()
        if table is None:
            return None
        return _SlicedTable(table, range(len(table))[self.begin : self.end : self.step])

    def label(self) -> str:
        return self.name


@dataclass(frozen=True)
class _SlicedTable:
    """Some of the elements of a table."""

    parent: Table
    numbers: range

    def __len__(self) -> int:
        return len(self.numbers)

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        return self.parent.fetch(self.numbers.start + numbers * self.numbers.step)

    def locate(self, numbers: npt.NDArray[np.int64]) -> Elements:
        return self.parent.locate(self.numbers.start + numbers * self.numbers.step)


class _SliceCursor(PassThroughCursor):
    def __init__(self, node: Slice, parent: Cursor) -> None:
        super().__init__(parent)
        self.cheap_lookahead = parent.cheap_lookahead
        self._step = node.step
        self._end = node.end
        self._position = 0  # of the parent
        self._before_next = node.begin  # how many elements of the parent come before our next one
        self._deferred = DeferredError()

    def take(self, count: int) -> Elements:
        self._deferred.raise_pending()
        if not self._reach_next() or not (allowed := self._within_end(count)):
            return ()
        if self._step == 1:
            elements = self._parent.take(allowed)
            self._position += len(elements)
            return elements
        parts: list[Elements] = []
        position, begin = self._position, self._parent.state()
        try:
            while (
                len(parts) < count
                and self._reach_next()
                and self._within_end(1)
                and len(one := self._parent.take(1))
            ):
                parts.append(one)
                self._position += 1
                self._before_next = self._step - 1
        except Exception as error:
            wait = self._position - position + self._before_next
            self._deferred.defer(error, parts, {"position": position, "wait": wait, "up": begin})
        return join(parts)

    def skip(self, count: int) -> int:
        self._deferred.raise_pending()
        if not count or not self._reach_next():
            return 0
        skipped = self._parent.skip(self._within_end((count - 1) * self._step + 1))
        self._position += skipped
        elements = -(-skipped // self._step)
        self._before_next = elements * self._step - skipped
        return elements

    def _reach_next(self) -> bool:
        """Move the parent to our next element; False if it ends before."""
        skipped = self._parent.skip(self._within_end(self._before_next)) if self._before_next else 0
        self._position += skipped
        self._before_next -= skipped
        return not self._before_next

    def _within_end(self, count: int) -> int:
        """``count`` elements of the parent, or as many as come before the end of the slice."""
        return count if self._end is None else max(0, min(count, self._end - self._position))

    def state(self) -> State:
        if self._deferred.is_pending:
            return self._deferred.state
        return {"position": self._position, "wait": self._before_next, "up": self._parent.state()}

    def restore(self, state: State) -> None:
        position, wait, up = values_of(state, "position", "wait", "up")
        self._position, self._before_next = count_of(position), count_of(wait)
        self._parent.restore(up)
