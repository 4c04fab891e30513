"""Where an element came from: the file and the record, for errors of a user's function.

Elements do not carry their origin, because that would cost something for every element. It is looked for only
after an error: ``Node.origins`` opens the chain a second time, at a state before the element, with cursors
that give ``Origin`` objects where ``Node.open`` gives elements. No function of a user is called for that,
except those that ``filter`` and ``unbatch`` need. This module must not know which transforms exist.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import PureRecordError
from ...printable import printable
from .node import (
    Context,
    Cursor,
    Elements,
    FailedElement,
    Node,
    PassThroughCursor,
    Pattern,
    SkippedDamage,
    State,
)

# After so many elements a cursor takes a new state, so that an origin is never far from one.
_STATE_EVERY = 256
_SHOWN = 8  # records of a batch that a note lists


@dataclass(frozen=True)
class Origin:
    """Record number ``record`` of the file ``path``."""

    path: str
    record: int


class Locator:
    """Notes on an error in a function where the element came from; ``node`` makes its elements.

    A cursor that calls a user's function has one. It tells it about every move, which costs an addition.
    """

    def __init__(self, what: str, node: Node, context: Context) -> None:
        self._what = what
        self._node = node
        self._context = replace(context, pattern=Pattern(), damage=SkippedDamage())
        self._begin: State = None  # a state of the node's cursor; None for the beginning of the epoch
        self._passed = 0  # elements after it that were taken or skipped
        self._position: int | None = 0  # of the next element; None if the cursor was restored

    def restored(self, state: State) -> None:
        """The cursor was restored."""
        self._begin, self._passed, self._position = state, 0, None

    def moved(self, count: int) -> None:
        """The cursor has taken or skipped ``count`` elements."""
        self._passed += count
        if self._position is not None:
            self._position += count

    def before_take(self, cursor: Cursor) -> None:
        """Take a state of the cursor if the latest is old."""
        if self._passed >= _STATE_EVERY:
            self._begin, self._passed = cursor.state(), 0

    def place(self, number: int) -> tuple[State, int, int | None]:
        """The arguments of ``note_at`` for the element that comes ``number`` elements after the next."""
        return self._begin, self._passed + number, None if self._position is None else self._position + number

    def note(self, error: Exception, number: int) -> None:
        """Note on ``error`` the origin of the element that comes ``number`` elements after the next."""
        self.note_at(error, *self.place(number))

    def note_at(
        self, error: Exception, begin: State, ahead: int, position: int | None = None, row: int | None = None
    ) -> None:
        """Note on ``error`` the origin of the element that comes ``ahead`` elements after state ``begin``.

        If it is not known, the note says the position of the element. ``row`` is the row of the element that
        is at fault, if it is a batch and this is known.
        """
        origins = self.find(begin, ahead)
        if row is not None and row < len(origins):
            origins = [origins[row]]
        in_batch = "" if row is None else f"row {row} of "
        number = "an element" if position is None else f"element {position}"
        unknown = f"{in_batch}{number} of epoch {self._context.epoch}"
        add_note(error, f"{self._what}: {origins_text(origins) or unknown}")

    def find(self, begin: State, ahead: int) -> list[Origin]:
        """The origins of the element that comes ``ahead`` elements after state ``begin``, as far as known."""
        return known_origins(lambda: self._find(begin, ahead))

    def _find(self, begin: State, ahead: int) -> Elements:
        cursor = self._node.origins(self._context)
        try:
            if begin is not None:
                cursor.restore(begin)
            return cursor.take(1) if cursor.skip(ahead) == ahead else ()
        finally:
            cursor.close()


def known_origins(find: Callable[[], Elements]) -> list[Origin]:
    """The origins in the structure that ``find`` gives; none if it fails."""
    try:
        return list(_flat(find()))
    except Exception:  # the chain cannot tell, or the files have changed; the user's error matters more
        return []


def attempt(function: Callable[[Any], Any], element: Any, note: Callable[..., None], *arguments: Any) -> Any:
    """``function`` of an element. Where it fails, ``note(error, *arguments)``, then a ``FailedElement``."""
    if type(element) is FailedElement:
        return element
    try:
        return function(element)
    except Exception as error:
        note(error, *arguments)
        return FailedElement(error)


def apply_each(function: Callable[[Any], Any], elements: Elements, locator: Locator) -> list[Any]:
    """``function`` of each of the elements, or a ``FailedElement`` with a note about its element."""
    results = [attempt(function, element, locator.note, number) for number, element in enumerate(elements)]
    locator.moved(len(elements))
    return results


class AheadOriginsCursor(PassThroughCursor):
    """The origins of a look-ahead cursor: it reads the same states, but takes nothing ahead."""

    def take(self, count: int) -> Elements:
        return self._parent.take(count)

    def restore(self, state: State) -> None:
        self._parent.restore(state["up"])
        self._parent.skip(state["ahead"])


def add_note(error: BaseException, text: str) -> None:
    """Add ``text`` to ``error``, so that its traceback shows it."""
    if sys.version_info >= (3, 11):
        error.add_note(text)
        return
    # Python 3.10 shows no notes, but it shows causes.
    error.__notes__ = [  # type: ignore[attr-defined]
        *getattr(error, "__notes__", ()),
        text,
    ]
    if error.__cause__ is None:
        cause = PureRecordError(text)
        cause.__context__ = error.__context__
        error.__cause__ = cause


def _flat(elements: Any) -> Iterator[Origin]:
    """All origins in a structure of lists and tuples."""
    if isinstance(elements, Origin):
        yield elements
    elif isinstance(elements, (list, tuple)):
        for part in elements:
            yield from _flat(part)


def origins_text(origins: Sequence[Origin]) -> str:
    """The origins, by file: ``a.tfrecord: record 3``; "" if there are none."""
    if not origins:
        return ""
    parts: dict[str, list[int]] = {}
    for origin in origins[:_SHOWN]:
        parts.setdefault(origin.path, []).append(origin.record)
    first, last = origins[0], origins[-1]
    if len(origins) > _SHOWN and all(
        origin == Origin(first.path, first.record + number) for number, origin in enumerate(origins)
    ):
        return f"{printable(first.path)}: records {first.record} to {last.record}"
    texts = [
        f"{printable(path)}: record{'s' if len(records) > 1 else ''} {', '.join(map(str, records))}"
        for path, records in parts.items()
    ]
    more = f" and {len(origins) - _SHOWN} more" if len(origins) > _SHOWN else ""
    return "; ".join(texts) + more
