"""Sources in memory: ``Dataset.from_tensor_slices``, ``Dataset.range`` and ``Dataset.from_generator``.

Rows and ranges resume at a number, without computing what came before. A generator resumes by running again
and dropping as many elements as were taken. Sources that are files are in ``files``. This module must not
know what an element is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engine.node import (
    ELEMENTS_AT_ONCE,
    Context,
    Cursor,
    Elements,
    Node,
    State,
    Table,
    UnknownOriginError,
    data_changed,
)
from ..engine.states import count_of
from ..engine.structure import count_rows, select


@dataclass(frozen=True, eq=False)
class Slices(Node):
    """The rows of an array, a Ragged, Records, a list, or a structure of those."""

    tensors: Any

    def open(self, context: Context) -> Cursor:
        return _TableCursor(self)

    def size(self) -> int:
        return len(self)

    def __len__(self) -> int:
        return count_rows(self.tensors)

    def table(self) -> Table:
        return self

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        """The rows with these numbers."""
        return [select(self.tensors, number) for number in numbers.tolist()]

    def locate(self, numbers: npt.NDArray[np.int64]) -> Elements:
        """Rows come from no file."""
        raise UnknownOriginError(self.label())

    def label(self) -> str:
        return f"from_tensor_slices(<{len(self)} rows>)"


@dataclass(frozen=True, eq=False)
class Range(Node):
    """Whole numbers."""

    numbers: range

    def open(self, context: Context) -> Cursor:
        return _TableCursor(self)

    def size(self) -> int:
        return len(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def table(self) -> Table:
        return self

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        """The members with these numbers."""
        return [self.numbers[number] for number in numbers.tolist()]

    def locate(self, numbers: npt.NDArray[np.int64]) -> Elements:
        """Numbers come from no file."""
        raise UnknownOriginError(self.label())

    def label(self) -> str:
        begin, end, step = self.numbers.start, self.numbers.stop, self.numbers.step
        return f"range({begin}, {end}{f', {step}' if step != 1 else ''})"


class _TableCursor(Cursor):
    """The elements of a table, from the first to the last."""

    cheap_lookahead = ELEMENTS_AT_ONCE

    def __init__(self, table: Table) -> None:
        self._table = table
        self._size = len(table)
        self._next = 0

    def take(self, count: int) -> Elements:
        begin, self._next = self._next, min(self._next + count, self._size)
        return self._table.fetch(np.arange(begin, self._next))

    def skip(self, count: int) -> int:
        begin, self._next = self._next, min(self._next + count, self._size)
        return self._next - begin

    def state(self) -> State:
        return self._next

    def restore(self, state: State) -> None:
        if count_of(state) > self._size:
            raise data_changed(f"there are {self._size} elements, fewer than {state}")
        self._next = state


@dataclass(frozen=True, eq=False)
class Generated(Node):
    """The elements of an iterable that ``function`` returns anew for each epoch."""

    function: Callable[..., Iterable[Any]]
    args: tuple[Any, ...] = ()

    def open(self, context: Context) -> Cursor:
        return _GeneratedCursor(self)

    def size(self) -> None:
        return None

    def label(self) -> str:
        return f"from_generator({name_of(self.function)})"


class _GeneratedCursor(Cursor):
    def __init__(self, node: Generated) -> None:
        self._elements = iter(node.function(*node.args))
        self._count = 0

    def take(self, count: int) -> Elements:
        elements = list(islice(self._elements, count))
        self._count += len(elements)
        return elements

    def state(self) -> State:
        return self._count

    def restore(self, state: State) -> None:
        if self.skip(count_of(state)) != state:
            raise data_changed(f"the generator gave fewer than {state} elements")


def name_of(function: Any) -> str:
    """The name of a function, for a repr."""
    return str(getattr(function, "__qualname__", None) or type(function).__name__)
