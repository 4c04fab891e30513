"""``map``: a function of every element, in this thread, in threads or in processes.

Threads and processes change when an element is computed, never which elements come or in which order. ``map``
resumes where its parent resumes: elements before that point are not computed again. With a seed, the function
also gets a random generator, which depends on (seed, epoch, number of the element) and on nothing else. This
module must not know where elements come from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...payload.parse.announced import announced
from ...payload.parse.rows import gains_from_others, parse_each
from ..engine.lookahead import MapAheadCursor
from ..engine.node import Context, Cursor, Elements, Node, PassThroughCursor, State, Table, Transform
from ..engine.origins import (
    AheadOriginsCursor,
    Locator,
    add_note,
    apply_each,
    attempt,
    known_origins,
    origins_text,
)
from .enumerate import Enumerate
from .shuffle import MAP
from .sources import name_of


@dataclass(frozen=True, eq=False)
class Map(Transform):
    """``function`` of every element; a tuple is passed as several arguments.

    With a ``seed``, the last argument is a random generator.
    """

    parent: Node
    function: Callable[..., Any]
    parallel: int | None = None
    processes: bool = False
    seed: int | None = None

    @property
    def _source(self) -> Node:
        """What the function is called with: with a seed, pairs of a number and an element."""
        return self.parent if self.seed is None else Enumerate(self.parent)

    def open(self, context: Context) -> Cursor:
        source = self._source
        parent, function = source.open(context), partial(call, self.function)
        if self.seed is not None:
            function = partial(_call_seeded, self.function, self.seed, context.epoch)
        locator = Locator(self.label(), source, context)
        if self.parallel is None:
            return MapCursor(parent, function, locator)
        return MapAheadCursor(parent, context, function, self.parallel, self.processes, locator=locator)

    def origins(self, context: Context) -> Cursor:
        parent = self._source.origins(context)
        return parent if self.parallel is None else AheadOriginsCursor(parent)

    def table(self) -> Table | None:
        table = self.parent.table() if self.seed is None else None  # a table does not know the epoch
        return None if table is None else MappedTable(table, partial(call, self.function), self.label())

    def label(self) -> str:
        parallel = "" if self.parallel is None else f", num_parallel_calls={self.parallel}"
        seed = "" if self.seed is None else f", seed={self.seed}"
        return f"map({name_of(self.function)}{parallel}{', processes=True' if self.processes else ''}{seed})"

    def outline(self) -> str:
        seed = "" if self.seed is None else f"(seed={self.seed})"
        return f"{self.parent.outline()}.map{seed}"


def call(function: Callable[..., Any], element: Any) -> Any:
    """``function`` of an element; of its members if it is a tuple."""
    return function(*element) if isinstance(element, tuple) else function(element)


def _call_seeded(function: Callable[..., Any], seed: int, epoch: int, numbered: tuple[int, Any]) -> Any:
    """Like ``call``, with a random generator as last argument."""
    number, element = numbered
    random = np.random.Generator(np.random.PCG64([seed % (1 << 64), epoch, MAP, number]))
    return function(*(element if isinstance(element, tuple) else (element,)), random)


@dataclass(frozen=True)
class MappedTable:
    """A table that maps its elements when they are fetched."""

    parent: Table
    function: Callable[[Any], Any]
    name: str  # of the transform, for errors

    def __len__(self) -> int:
        return len(self.parent)

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        elements = zip(self.parent.fetch(numbers), range(len(numbers)), strict=True)
        return [
            attempt(self.function, element, self._note, numbers[place : place + 1])
            for element, place in elements
        ]

    def _note(self, error: Exception, number: npt.NDArray[np.int64]) -> None:
        origins = known_origins(lambda: self.parent.locate(number))
        add_note(error, f"{self.name}: {origins_text(origins) or f'element {number[0]}'}")

    def locate(self, numbers: npt.NDArray[np.int64]) -> Elements:
        return self.parent.locate(numbers)


@dataclass(frozen=True)
class _Unmapped:
    """The placeholder of an element that is mapped when it is loaded."""

    element: Any
    place: tuple[State, int, int | None]  # for ``Locator``


class MapCursor(PassThroughCursor):
    """Maps elements when they are taken or loaded; skipped elements are not mapped."""

    def __init__(self, parent: Cursor, function: Callable[[Any], Any], locator: Locator) -> None:
        super().__init__(parent)
        self._function = function
        self._locator = locator

    def take(self, count: int) -> Elements:
        self._locator.before_take(self._parent)
        elements = self._parent.take(count)
        if not gains_from_others(elements):
            return apply_each(self._function, elements, self._locator)
        elements = list(elements)  # the function gets these objects
        with announced(elements, parse_each):
            return apply_each(self._function, elements, self._locator)

    def take_lazy(self, count: int) -> Elements:
        """Nothing is mapped; ``load`` does it. So a shuffle window maps only what its consumer takes."""
        self._locator.before_take(self._parent)
        elements = self._parent.take_lazy(count)
        unmapped = [_Unmapped(element, self._locator.place(n)) for n, element in enumerate(elements)]
        self._locator.moved(len(unmapped))
        return unmapped

    def load(self, elements: Elements) -> Elements:
        return [self._mapped(item) if isinstance(item, _Unmapped) else item for item in elements]

    def _mapped(self, unmapped: _Unmapped) -> Any:
        (element,) = self._parent.load([unmapped.element])
        return attempt(self._function, element, self._locator.note_at, *unmapped.place)

    def skip(self, count: int) -> int:
        skipped = self._parent.skip(count)
        self._locator.moved(skipped)
        return skipped

    def restore(self, state: State) -> None:
        self._parent.restore(state)
        self._locator.restored(state)
