"""``batch``, ``padded_batch`` and ``unbatch``: between single elements and batches.

Raw records are batched without becoming Python objects. This module knows neither files nor what a
payload means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...memory.recycling import BufferPool
from ...records import Records
from ..engine.node import MANY, Context, Cursor, Elements, Node, State, Step, changed, take_exactly
from ..engine.structure import count_rows, select, stack, stack_padded


@dataclass(frozen=True, eq=False)
class Batch(Step):
    """``batch_size`` elements at a time; a shorter batch at the end, unless it is dropped."""

    up: Node
    batch_size: int
    drop_remainder: bool = False

    def open(self, context: Context) -> Cursor:
        return _BatchCursor(self, self.up.open(context.batched(self.batch_size)))

    def size(self) -> int | None:
        below = self.up.size()
        if below is None or below < 0:
            return below
        return below // self.batch_size if self.drop_remainder else -(-below // self.batch_size)

    def batched(self, elements: Elements, room: Callable[[int], memoryview]) -> Any:
        """One batch; ``room`` gives memory for large records."""
        return stack(elements, room)

    def label(self) -> str:
        return f"batch({self.batch_size}{', drop_remainder=True' if self.drop_remainder else ''})"


@dataclass(frozen=True, eq=False)
class PaddedBatch(Batch):
    """Like Batch, but shorter arrays are filled up."""

    padded_shapes: Any = None
    padding_values: Any = None

    def batched(self, elements: Elements, room: Callable[[int], memoryview]) -> Any:
        return stack_padded(elements, self.padded_shapes, self.padding_values)

    def label(self) -> str:
        return f"padded_{super().label()}"


class _BatchCursor(Cursor):
    def __init__(self, node: Batch, up: Cursor) -> None:
        self._node = node
        self._up = up
        self._buffers = BufferPool()
        self._error: Exception | None = None  # that comes behind the batches before it

    def take(self, count: int) -> Elements:
        self._raise()
        batches: list[Any] = []
        try:
            while len(batches) < count:
                elements = take_exactly(self._up, self._node.batch_size, room=self._buffers.lend)
                if len(elements) < (self._node.batch_size if self._node.drop_remainder else 1):
                    break
                batches.append(self._node.batched(elements, self._buffers.lend))
        except Exception as error:
            if not batches:
                raise
            self._error = error
        return batches

    def _raise(self) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def skip(self, count: int) -> int:
        self._raise()
        passed = self._up.skip(count * self._node.batch_size)
        if self._node.drop_remainder:
            return passed // self._node.batch_size
        return -(-passed // self._node.batch_size)

    def state(self) -> State:
        return self._up.state()

    def restore(self, state: State) -> None:
        self._up.restore(state)

    def close(self) -> None:
        self._up.close()


@dataclass(frozen=True, eq=False)
class Unbatch(Step):
    """The rows of batches, one by one."""

    up: Node

    def open(self, context: Context) -> Cursor:
        return _UnbatchCursor(self.up.open(context.free()))

    def size(self) -> int | None:
        if isinstance(self.up, Batch) and not self.up.drop_remainder:
            return self.up.up.size()
        return -1 if self.up.size() == -1 else None

    def label(self) -> str:
        return "unbatch()"


class _UnbatchCursor(Cursor):
    hint = MANY

    def __init__(self, up: Cursor) -> None:
        self._up = up
        self._begin: State = None  # where the present batch comes from
        self._batch: Any = None
        self._rows = 0
        self._next = 0

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
            passed = min(left, self._rows - self._next)
            self._next += passed
            left -= passed
        return count - left

    def _load(self) -> bool:
        """Have a batch that has rows left; False at the end."""
        while self._next == self._rows:
            self._begin = self._up.state()
            batches = self._up.take(1)
            if not len(batches):
                self._batch, self._rows, self._next = None, 0, 0
                return False
            self._batch = batches[0]
            self._rows, self._next = count_rows(self._batch), 0
        return True

    def state(self) -> State:
        if self._next == self._rows:
            return {"up": self._up.state(), "row": 0}
        return {"up": self._begin, "row": self._next}

    def restore(self, state: State) -> None:
        self._up.restore(state["up"])
        if self.skip(state["row"]) != state["row"]:
            raise changed("a batch has fewer rows")

    def close(self) -> None:
        self._up.close()
