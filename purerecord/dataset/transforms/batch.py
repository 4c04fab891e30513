"""``batch``, ``padded_batch`` and ``unbatch``: from single elements to batches and back.

Raw records become a ``Records`` batch without becoming Python objects. ``batch`` resumes at the first
element of a batch. ``unbatch`` resumes in the middle of a batch: it makes the batch again and drops the
rows that were handed out. This module must not know files or what a payload means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...memory.recycling import BufferPool
from ...records import Records
from ..engine.node import (
    ELEMENTS_AT_ONCE,
    Allocate,
    Context,
    Cursor,
    DeferredError,
    Elements,
    FailedElement,
    Node,
    PassThroughCursor,
    State,
    Transform,
    UnknownOriginError,
    data_changed,
    first_failed,
    take_exactly,
)
from ..engine.states import count_of, values_of
from ..engine.structure import count_rows, select, stack, stack_padded


@dataclass(frozen=True, eq=False)
class Batch(Transform):
    """``batch_size`` elements at a time; the last batch may be shorter, unless it is dropped."""

    parent: Node
    batch_size: int
    drop_remainder: bool = False
    keeps_rows = True

    def open(self, context: Context) -> Cursor:
        return _BatchCursor(self, self.parent.open(context.batched(self.batch_size)), self.batched)

    def origins(self, context: Context) -> Cursor:
        return _BatchCursor(self, self.parent.origins(context), lambda elements, allocate: list(elements))

    def size(self) -> int | None:
        elements = self.parent.size()
        if elements is None or elements < 0:
            return elements
        return elements // self.batch_size if self.drop_remainder else -(-elements // self.batch_size)

    def batched(self, elements: Elements, allocate: Allocate) -> Any:
        """A batch of these elements; ``allocate`` lends memory for large records."""
        return stack(elements, allocate)

    def label(self) -> str:
        return f"batch({self.batch_size}{', drop_remainder=True' if self.drop_remainder else ''})"


@dataclass(frozen=True, eq=False)
class PaddedBatch(Batch):
    """Like ``Batch``, but shorter arrays are padded."""

    padded_shapes: Any = None
    padding_values: Any = None

    def batched(self, elements: Elements, allocate: Allocate) -> Any:
        return stack_padded(elements, self.padded_shapes, self.padding_values)

    def label(self) -> str:
        return f"padded_{super().label()}"


class _BatchCursor(PassThroughCursor):
    """Batches; a position between two batches is a position of the parent."""

    def __init__(self, node: Batch, parent: Cursor, batched: Callable[[Elements, Allocate], Any]) -> None:
        super().__init__(parent)
        self._node = node
        self._make = batched
        self._buffers = BufferPool()
        self._deferred = DeferredError()

    def take(self, count: int) -> Elements:
        self._deferred.raise_pending()
        batches: list[Any] = []
        begin: State = None
        try:
            while len(batches) < count:
                if batches:
                    begin = self._parent.state()
                elements = take_exactly(self._parent, self._node.batch_size, self._buffers.lend)
                if len(elements) < (self._node.batch_size if self._node.drop_remainder else 1):
                    break
                batches.append(first_failed(elements) or self._batched(elements))
        except Exception as error:
            self._deferred.defer(error, batches, begin)
        return batches

    def _batched(self, elements: Elements) -> Any:
        try:
            return self._make(elements, self._buffers.lend)
        except Exception as error:  # they differ in structure, say
            return FailedElement(error)

    def skip(self, count: int) -> int:
        self._deferred.raise_pending()
        skipped = self._parent.skip(count * self._node.batch_size)
        if self._node.drop_remainder:
            return skipped // self._node.batch_size
        return -(-skipped // self._node.batch_size)

    def state(self) -> State:
        return self._deferred.state if self._deferred.is_pending else super().state()


@dataclass(frozen=True, eq=False)
class Unbatch(Transform):
    """The rows of batches, one by one."""

    parent: Node

    def open(self, context: Context) -> Cursor:
        return _UnbatchCursor(self.parent.open(context.without_pattern()))

    def origins(self, context: Context) -> Cursor:
        if not self.parent.keeps_rows:  # a function may have changed the number of rows
            raise UnknownOriginError(self.label())
        context = context.without_pattern()
        return _UnbatchCursor(_RowOriginsCursor(self.parent.open(context), self.parent.origins(context)))

    def size(self) -> int | None:
        if isinstance(self.parent, Batch) and not self.parent.drop_remainder:
            return self.parent.parent.size()
        return -1 if self.parent.size() == -1 else None

    def label(self) -> str:
        return "unbatch()"


class _UnbatchCursor(Cursor):
    cheap_lookahead = ELEMENTS_AT_ONCE

    def __init__(self, parent: Cursor) -> None:
        self._parent = parent
        self._begin: State = None  # the parent's state before the current batch
        self._batch: Any = None
        self._rows = 0  # in the current batch
        self._next = 0  # the row to hand out next

    def take(self, count: int) -> Elements:
        if not self._load():
            return ()
        begin, self._next = self._next, min(self._next + count, self._rows)
        if isinstance(self._batch, (Records, list)):
            return self._batch[begin : self._next]
        return [select(self._batch, number) for number in range(begin, self._next)]

    def skip(self, count: int) -> int:
        left = count
        while left and self._load():
            skipped = min(left, self._rows - self._next)
            self._next += skipped
            left -= skipped
        return count - left

    def _load(self) -> bool:
        """Have a batch with rows left; False at the end."""
        while self._next == self._rows:
            self._begin = self._parent.state()
            batches = self._parent.take(1)
            if not len(batches):
                self._batch, self._rows, self._next = None, 0, 0
                return False
            self._batch, self._rows = _with_rows(batches[0])
            self._next = 0
        return True

    def state(self) -> State:
        if self._next == self._rows:
            return {"up": self._parent.state(), "row": 0}
        return {"up": self._begin, "row": self._next}

    def restore(self, state: State) -> None:
        up, row = values_of(state, "up", "row")
        self._parent.restore(up)
        if count_of(row) and not (self._load() and row < self._rows):
            raise data_changed("a batch has fewer rows")
        self._next = row

    def close(self) -> None:
        self._parent.close()


class _RowOriginsCursor(PassThroughCursor):
    """The origins of batches; of a batch that failed, as one row. So it computes the batches too."""

    def __init__(self, parent: Cursor, origins: Cursor) -> None:
        super().__init__(parent)
        self._origins = origins

    def take(self, count: int) -> Elements:
        batches, origins = self._parent.take(1), self._origins.take(1)
        failed = first_failed(batches) is not None
        return [list(origins)] if failed else origins

    def skip(self, count: int) -> int:
        self._origins.skip(count)
        return self._parent.skip(count)

    def restore(self, state: State) -> None:
        self._parent.restore(state)
        self._origins.restore(state)

    def close(self) -> None:
        self._parent.close()
        self._origins.close()


def _with_rows(batch: Any) -> tuple[Any, int]:
    """A batch, and the number of its rows. One that failed, or has no rows, is one row that failed."""
    try:
        return ([batch], 1) if isinstance(batch, FailedElement) else (batch, count_rows(batch))
    except Exception as error:
        return [FailedElement(error)], 1
