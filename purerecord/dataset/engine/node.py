"""``Node`` and ``Cursor``: what every step of a dataset is, as a description and while it runs.

A ``Node`` is one step of a chain; it is never changed and can be pickled. Opened for an epoch it gives a
``Cursor``, which hands out elements in the one order that (seed, epoch) defines, passes over elements that
somebody else takes, and says in a few JSON values where it is. This module knows neither files nor what an
element is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...errors import CorruptionError
from ...records import Records

Elements = Sequence[Any]
State = Any  # made of what JSON has

# How many elements are taken at once where they are cheap to hold.
MANY = 256


@dataclass
class Tally:
    """How many damaged places were passed over, and the latest of them."""

    skipped: int = 0
    last_error: CorruptionError | None = None


class Pattern(NamedTuple):
    """Of every ``period`` elements, the first ``own`` will be taken and the others passed over."""

    own: int = 1
    period: int = 1


@dataclass(frozen=True)
class Context:
    """What a cursor is opened for: an epoch, where to report damage, what will be asked of it."""

    epoch: int = 0
    tally: Tally = field(default_factory=Tally)
    pattern: Pattern = field(default_factory=Pattern)

    def at(self, epoch: int) -> Context:
        """The same for another epoch."""
        return replace(self, epoch=epoch)

    def batched(self, size: int) -> Context:
        """The same for what is below batches of ``size``."""
        own, period = self.pattern
        return replace(self, pattern=Pattern(own * size, period * size))

    def free(self) -> Context:
        """The same for what is below a step that does not pass the pattern on."""
        return replace(self, pattern=Pattern())


class Cursor(ABC):
    """Goes through the elements of one epoch."""

    hint = 1  # how many elements may be taken ahead at little cost

    @abstractmethod
    def take(self, count: int) -> Elements:
        """The next elements, at most ``count``, which is positive; none only at the end."""

    def skip(self, count: int) -> int:
        """Pass over ``count`` elements; how many there were, fewer only at the end."""
        left = count
        while left and (got := len(self.take(min(left, MANY)))):
            left -= got
        return count - left

    def take_lazy(self, count: int) -> Elements:
        """Like ``take``, but an element may be something that ``load`` makes one of."""
        return self.take(count)

    def load(self, elements: Elements) -> Elements:
        """The elements that ``take_lazy`` gave, or some of them, themselves."""
        return elements

    @abstractmethod
    def state(self) -> State:
        """Where this is, for ``restore``."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Go on where ``state`` was taken; only for a cursor that is newly opened."""

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Let go of files, threads and processes."""


class Over(Cursor):
    """A cursor that gives one element for each of the one below."""

    def __init__(self, up: Cursor) -> None:
        self._up = up

    def skip(self, count: int) -> int:
        return self._up.skip(count)

    def state(self) -> State:
        return self._up.state()

    def restore(self, state: State) -> None:
        self._up.restore(state)

    def close(self) -> None:
        self._up.close()


class Table(Protocol):
    """Elements that can be had in any order."""

    def __len__(self) -> int: ...

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        """The elements with these numbers."""


class Node(ABC):
    """One step of a chain."""

    @abstractmethod
    def open(self, context: Context) -> Cursor:
        """A cursor at the first element."""

    @abstractmethod
    def size(self) -> int | None:
        """How many elements an epoch has; None where that takes running it, -1 where it never ends."""

    def table(self) -> Table | None:
        """The elements in any order, where that is possible."""
        return None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The steps below, the main one first."""
        return ()

    @abstractmethod
    def label(self) -> str:
        """This step as it is written in a program."""

    def chain(self) -> str:
        """All steps as they are written in a program."""
        below = self.inputs
        return f"{below[0].chain()}.{self.label()}" if below else self.label()

    def outline(self) -> str:
        """The chain without what may differ from place to place, such as paths."""
        return ".".join([*(node.outline() for node in self.inputs), self.label()])


class Step(Node):
    """A node with one node below, of which ``up`` is the name."""

    up: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.up,)

    def size(self) -> int | None:
        return self.up.size()


def join(parts: list[Elements], room: Callable[[int], memoryview] | None = None) -> Elements:
    """Several runs of elements as one; records stay Records, and are joined in ``room``."""
    if len(parts) == 1:
        return parts[0]
    if parts and all(isinstance(part, Records) for part in parts):
        return Records.concat(parts, room=room)  # type: ignore[arg-type]
    return [element for part in parts for element in part]


def take_exactly(
    cursor: Cursor, count: int, *, lazy: bool = False, room: Callable[[int], memoryview] | None = None
) -> Elements:
    """``count`` elements, fewer only at the end; ``room`` gives memory to join records in."""
    parts: list[Elements] = []
    take = cursor.take_lazy if lazy else cursor.take
    while count and len(part := take(count)):
        parts.append(part)
        count -= len(part)
    return join(parts, room)


def take_singly(cursor: Cursor, count: int, *, lazy: bool = False) -> list[Any]:
    """The same as single elements, which will part."""
    elements: list[Any] = []
    take = cursor.take_lazy if lazy else cursor.take
    while len(elements) < count and len(part := take(count - len(elements))):
        elements += part
    return elements


def changed(what: str) -> ValueError:
    """The error for a state that does not fit the data any more."""
    return ValueError(f"{what}: the data is not what it was when the state was taken")
