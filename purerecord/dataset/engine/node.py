"""``Node`` and ``Cursor``: the description of a transform, and its execution.

A ``Node`` describes one transform of a chain. It is immutable and can be pickled. ``Node.open`` returns a
``Cursor`` for one epoch. The cursor hands out elements in the one order that (seed, epoch) defines, skips
elements that belong to another worker or rank, and reports its position as a few JSON values. A cursor pulls
from the cursor of its *parent*: the node that stands before it in the chain.

This module must not know files, processes, or what an element is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ...errors import CorruptionError
from ...payload.parse.rows import ParsedRows
from ...records import Records

Elements = Sequence[Any]
_Kind = TypeVar("_Kind")
State = Any  # consists of JSON values
Allocate = Callable[[int], memoryview]  # lends writable memory of a given size

# How many elements a cursor takes at once where an element costs little memory and little work.
ELEMENTS_AT_ONCE = 256


@dataclass
class SkippedDamage:
    """How many damaged places were skipped, and the error of the latest one."""

    skipped: int = 0
    last_error: CorruptionError | None = None


class Pattern(NamedTuple):
    """Of every ``period`` elements, the consumer takes the first ``own`` and skips the others."""

    own: int = 1
    period: int = 1

    @property
    def takes_all(self) -> bool:
        """Whether the consumer skips nothing."""
        return self.own == self.period


@dataclass(frozen=True)
class Context:
    """What a cursor is opened for: an epoch, the place to report damage to, the pattern of its calls."""

    epoch: int = 0
    damage: SkippedDamage = field(default_factory=SkippedDamage)
    pattern: Pattern = field(default_factory=Pattern)
    again: bool = False  # whether it replaces a cursor that something went wrong with
    shared: bool = False  # whether other workers or ranks open the same chain

    def for_epoch(self, epoch: int) -> Context:
        """The same context for another epoch."""
        return replace(self, epoch=epoch)

    def batched(self, size: int) -> Context:
        """The context for the parent of a transform that makes batches of ``size`` elements."""
        own, period = self.pattern
        return replace(self, pattern=Pattern(own * size, period * size))

    def without_pattern(self) -> Context:
        """The context for the parent of a transform that takes every element, whatever is taken of it."""
        return replace(self, pattern=Pattern())


@dataclass(frozen=True)
class FailedElement:
    """Stands in the place of an element whose computation failed, so that all positions stay as they are.

    A transform hands it on like any other element, and computes nothing from it. The consumer to whom it
    belongs gets the error.
    """

    error: Exception
    trace: str = ""  # the traceback, if it was raised in another process

    def raised(self) -> Exception:
        """The error to raise."""
        if self.trace:
            self.error.__cause__ = RuntimeError(f"in another process:\n{self.trace}")
        if isinstance(self.error, StopIteration):  # which a loop would take for the end of the dataset
            stopped = RuntimeError("a function of the chain raised StopIteration")
            stopped.__cause__ = self.error
            return stopped
        return self.error


def first_failed(elements: Elements) -> FailedElement | None:
    """The first of the elements that failed, if there is one."""
    if isinstance(elements, (Records, ParsedRows)) or FailedElement not in map(type, elements):
        return None
    return next(element for element in elements if isinstance(element, FailedElement))


class UnknownOriginError(Exception):
    """A node cannot tell which files and records its elements come from."""


class Cursor(ABC):
    """Iterates over the elements of one epoch.

    An element that cannot be computed is a ``FailedElement``. If ``take`` or ``skip`` raises an error
    instead, such as one of a disk, the cursor is of no use any more: ``Share`` opens another one.
    """

    cheap_lookahead = 1  # how many elements can be taken ahead at little cost

    @abstractmethod
    def take(self, count: int) -> Elements:
        """The next elements: at least one and at most ``count``, which is positive; none only at the end.

        Elements before an error come first: ``take`` returns them, and the next call raises the error.
        """

    def skip(self, count: int) -> int:
        """Skip ``count`` elements; returns how many there were, fewer only at the end."""
        left = count
        while left and (got := len(self.take(min(left, ELEMENTS_AT_ONCE)))):
            left -= got
        return count - left

    def take_lazy(self, count: int) -> Elements:
        """Like ``take``, but elements may be placeholders. ``load`` turns these into elements."""
        return self.take(count)

    def load(self, elements: Elements) -> Elements:
        """Replaces placeholders from ``take_lazy`` with their elements."""
        return elements

    @abstractmethod
    def state(self) -> State:
        """The position before the next element, for ``restore``."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Continue where ``state`` was taken. Only a newly opened cursor can do this."""

    def close(self) -> None:  # noqa: B027 - most cursors have nothing to close
        """Release files, threads and processes."""


class PassThroughCursor(Cursor):
    """A cursor whose position is its parent's position, whatever it makes of the elements."""

    def __init__(self, parent: Cursor) -> None:
        self._parent = parent

    def skip(self, count: int) -> int:
        return self._parent.skip(count)

    def state(self) -> State:
        return self._parent.state()

    def restore(self, state: State) -> None:
        self._parent.restore(state)

    def close(self) -> None:
        self._parent.close()


class DeferredError:
    """Holds an error back until the elements before it have been handed out.

    A call that collects several elements may fail after some of them. It returns those, and the next call
    raises the error, so that the error comes exactly where the next element would have come. Meanwhile
    ``state`` is that of the cursor before the next element.
    """

    def __init__(self) -> None:
        self._error: Exception | None = None
        self.state: State = None

    def defer(self, error: Exception, elements: Sized, state: State) -> None:
        """Keep an error for the next call if there are ``elements`` before it; else raise it now.

        Call it in an ``except`` clause. A context manager reads better, but costs microseconds a batch.
        """
        if not len(elements):
            raise error
        self._error = error
        self.state = state

    @property
    def is_pending(self) -> bool:
        """Whether an error waits to be raised."""
        return self._error is not None

    def raise_pending(self) -> None:
        """Raise the error that waits, once."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error


class Table(Protocol):
    """Elements with random access."""

    def __len__(self) -> int: ...

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        """The elements with these numbers."""

    def locate(self, numbers: npt.NDArray[np.int64]) -> Elements:
        """Where the elements with these numbers come from, or UnknownOriginError."""


# What a pickled chain consists of, by the name that its pickle holds.
PICKLED: dict[str, type] = {}


def pickled(kind: type[_Kind]) -> type[_Kind]:
    """Make pickles refer to ``kind`` as a member of ``purerecord.dataset``, which finds it in ``PICKLED``."""
    assert kind.__name__ not in PICKLED, "two classes of a chain have the same name"
    kind.__module__ = "purerecord.dataset"
    PICKLED[kind.__name__] = kind
    return kind


class Node(ABC):
    """One transform or source of a chain."""

    def __init_subclass__(cls) -> None:
        if cls.__module__.partition(".")[0] == "purerecord":  # a test may define nodes of its own
            pickled(cls)

    @abstractmethod
    def open(self, context: Context) -> Cursor:
        """A cursor at the first element."""

    # Whether each element is a batch, and its rows are the elements of the parent, in order.
    keeps_rows = False

    def origins(self, context: Context) -> Cursor:
        """A cursor that reads the same states, and gives where each element comes from instead of it.

        An origin is an ``Origin``, or a list or tuple of origins. UnknownOriginError if the node cannot tell.
        """
        raise UnknownOriginError(self.label())

    @abstractmethod
    def size(self) -> int | None:
        """The number of elements in an epoch; -1 if it never ends, None if only a run can tell."""

    def table(self) -> Table | None:
        """Random access to the elements; None if they can only be read in order."""
        return None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The parents, the main one first."""
        return ()

    @abstractmethod
    def label(self) -> str:
        """This node as a program writes it."""

    def chain(self) -> str:
        """The whole chain as a program writes it."""
        parents = self.inputs
        return f"{parents[0].chain()}.{self.label()}" if parents else self.label()

    def outline(self) -> str:
        """The chain without anything that may differ between machines, such as paths; states hold it."""
        return ".".join([*(node.outline() for node in self.inputs), self.label()])


class Transform(Node):
    """A node with exactly one parent."""

    parent: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.parent,)

    def size(self) -> int | None:
        return self.parent.size()


def join(parts: list[Elements], allocate: Allocate | None = None) -> Elements:
    """Several sequences of elements as one; Records stay Records, copied into memory of ``allocate``."""
    if len(parts) == 1:
        return parts[0]
    if parts and all(isinstance(part, Records) for part in parts):
        return Records.concat(parts, allocate=allocate)  # type: ignore[arg-type]
    return [element for part in parts for element in part]


def take_exactly(cursor: Cursor, count: int, allocate: Allocate | None = None) -> Elements:
    """The next ``count`` elements, fewer only at the end; ``allocate`` lends memory to join Records in."""
    parts: list[Elements] = []
    while count and len(part := cursor.take(count)):
        parts.append(part)
        count -= len(part)
    return join(parts, allocate)


def take_singly(cursor: Cursor, count: int, *, lazy: bool = False) -> list[Any]:
    """Like ``take_exactly``, but as a list of separate elements, for callers that reorder them."""
    elements: list[Any] = []
    take = cursor.take_lazy if lazy else cursor.take
    while len(elements) < count and len(part := take(count - len(elements))):
        elements += part
    return elements


def data_changed(problem: str) -> ValueError:
    """The error for a state that does not fit the data any more."""
    return ValueError(f"{problem}: the data is not what it was when the state was taken")
