"""``shuffle`` and ``global_shuffle``: a window that moves over the elements, or a permutation of all.

Every draw is a function of (seed, epoch, position). It is made from numpy's raw PCG64 stream, which is the
same in every version. So the state of a window is a few numbers, whatever the window holds: to resume, the
draws are made again, and the elements that they leave in the window are read again. This module must not
know what an element is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
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
    Transform,
    data_changed,
    take_singly,
)
from ..engine.states import bad_state, count_of, flag_of, values_of

Numbers = npt.NDArray[np.int64]

# The purposes of draws. Each has its own stream of random numbers, independent of the others.
WINDOW, REST, PERMUTATION, SAMPLE, MAP = range(5)

_DRAWS_AT_ONCE = 1 << 20  # when all draws of an epoch so far are made again
# Elements of a table lie anywhere in the files, so reading one ahead costs more than in order.
_PERMUTED_AT_ONCE = ELEMENTS_AT_ONCE // 4


class Draws:
    """The random numbers of (seed, epoch, purpose), from number ``start`` on."""

    def __init__(self, seed: int, epoch: int, purpose: int, start: int = 0) -> None:
        sequence = np.random.SeedSequence([seed % (1 << 64), epoch, purpose])
        self._bits = np.random.PCG64(sequence)
        self._bits.advance(start)

    def below(self, bound: int, count: int) -> Numbers:
        """``count`` numbers in [0, bound)."""
        high: npt.NDArray[np.uint64] = self._bits.random_raw(count) >> np.uint64(32)
        numbers: Numbers = ((high * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)
        return numbers

    def order(self, count: int) -> Numbers:
        """A permutation of the first ``count`` numbers."""
        return np.argsort(self._bits.random_raw(count), kind="stable")


@dataclass(frozen=True, eq=False)
class Shuffle(Transform):
    """Holds a window of ``window`` elements, and again and again gives a random one of them."""

    parent: Node
    window: int
    seed: int | None
    reshuffle: bool

    def open(self, context: Context) -> Cursor:
        return _WindowCursor(self, context, self.parent.open(context.without_pattern()))

    def origins(self, context: Context) -> Cursor:
        return _WindowCursor(self, context, self.parent.origins(context))

    def label(self) -> str:
        return f"shuffle({self.window}{_arguments(self.seed, self.reshuffle)})"


class _WindowCursor(Cursor):
    """Each new element takes the place of a random one in the window, and that one is handed out."""

    def __init__(self, node: Shuffle, context: Context, parent: Cursor) -> None:
        self._parent = parent
        # If other consumers take most of what leaves the window, large elements are read only when we give
        # them.
        self._lazy = not context.pattern.takes_all
        self._window = node.window
        self._key = (node.seed or 0, context.epoch if node.reshuffle else 0)
        self._draws = Draws(*self._key, WINDOW)
        self._slots: list[Any] = []
        self._numbers: list[int] = []  # the number of the element in each slot, counted in the parent's order
        self._taken = 0  # elements that came from the parent
        self._given = 0
        self._rest: list[Any] | None = None  # the shuffled window, once the parent has ended
        # States of the parent with the number of elements before them. The first one lies before all
        # elements of the window, so that these can be read again.
        self._checkpoints: deque[tuple[int, State]] = deque()

    @property
    def cheap_lookahead(self) -> int:  # type: ignore[override]
        """One by one, where elements are large and other consumers take those between ours."""
        ahead = self._parent.cheap_lookahead
        return 1 if self._lazy and ahead < ELEMENTS_AT_ONCE else ahead

    def take(self, count: int) -> Elements:
        return self._parent.load(self._leave_window(count))

    def skip(self, count: int) -> int:
        left = count
        while left and (skipped := len(self._leave_window(min(left, ELEMENTS_AT_ONCE)))):
            left -= skipped
        return count - left

    def _leave_window(self, count: int) -> list[Any]:
        """The next elements that leave the window, at most ``count``, not loaded yet; none at the end."""
        self._fill()
        while self._rest is None:
            self._add_checkpoint()
            take = self._parent.take_lazy if self._lazy else self._parent.take
            elements = take(min(count, self._window))
            if len(elements):
                return self._exchange(elements)
            self._end()
        rest = self._rest[:count]
        del self._rest[:count]
        self._given += len(rest)
        return rest

    def _fill(self) -> None:
        while self._rest is None and self._taken < self._window:
            self._add_checkpoint()
            elements = take_singly(self._parent, self._window - self._taken, lazy=self._lazy)
            if not len(elements):
                self._end()
            self._slots += elements
            self._numbers += range(self._taken, self._taken + len(elements))
            self._taken += len(elements)

    def _exchange(self, elements: Elements) -> list[Any]:
        """Put each new element into a random slot; returns the elements that were there."""
        slots, numbers, given = self._slots, self._numbers, []
        places = self._draws.below(self._window, len(elements)).tolist()
        for number, (place, element) in enumerate(zip(places, elements, strict=True), self._taken):
            given.append(slots[place])
            slots[place] = element
            numbers[place] = number
        self._taken += len(elements)
        self._given += len(given)
        return given

    def _end(self) -> None:
        """Shuffle what is left in the window."""
        order = Draws(*self._key, REST).order(len(self._slots))
        self._rest = [self._slots[place] for place in order.tolist()]

    def _add_checkpoint(self) -> None:
        """Keep the parent's state if the latest is a window old; drop those that are not needed any more."""
        if self._checkpoints and self._taken - self._checkpoints[-1][0] < self._window:
            return
        self._checkpoints.append((self._taken, self._parent.state()))
        oldest = min(self._numbers, default=0)
        while len(self._checkpoints) > 1 and self._checkpoints[1][0] <= oldest:
            self._checkpoints.popleft()

    def state(self) -> State:
        if not self._checkpoints:
            self._add_checkpoint()
        start, parent = self._checkpoints[0]
        ended = self._rest is not None
        return {"given": self._given, "taken": self._taken, "ended": ended, "start": start, "up": parent}

    def restore(self, state: State) -> None:
        given, taken, start, ended, up = values_of(state, "given", "taken", "start", "ended", "up")
        exchanged = max(0, count_of(taken) - self._window)
        if count_of(given, taken) < exchanged or (given > exchanged and not flag_of(ended)):
            raise bad_state("the numbers of a shuffle contradict each other")
        self._parent.restore(up)
        self._taken = taken
        self._checkpoints.append((start, up))
        self._numbers = self._replay(taken).tolist()
        self._slots = self._reread(count_of(start, min(self._numbers, default=taken)))
        self._draws = Draws(*self._key, WINDOW, exchanged)
        self._given = exchanged
        if flag_of(ended):
            self._end()
            assert self._rest is not None
            del self._rest[: given - exchanged]
            self._given = given

    def _replay(self, taken: int) -> Numbers:
        """The numbers of the elements in the window, after ``taken`` elements have come from the parent."""
        numbers = np.arange(min(taken, self._window))
        exchanged = taken - len(numbers)
        draws = Draws(*self._key, WINDOW)
        for begin in range(0, exchanged, _DRAWS_AT_ONCE):
            count = min(_DRAWS_AT_ONCE, exchanged - begin)
            # If several elements went to one slot, numpy's assignment keeps the last, as the window does.
            numbers[draws.below(self._window, count)] = np.arange(count) + (begin + self._window)
        return numbers

    def _reread(self, position: int) -> list[Any]:
        """The elements of the window, read again from the parent, which stands at number ``position``."""
        slots: list[Any] = [None] * len(self._numbers)
        order = np.argsort(self._numbers, kind="stable")
        wanted = np.asarray(self._numbers, np.int64)[order]
        for run in np.split(np.arange(len(wanted)), np.flatnonzero(np.diff(wanted) != 1) + 1):
            if not len(run):
                continue
            first = int(wanted[run[0]])
            skipped = self._parent.skip(first - position)
            elements = take_singly(self._parent, len(run), lazy=self._lazy)
            if skipped != first - position or len(elements) != len(run):
                raise data_changed("there are fewer elements to shuffle")
            for place, element in zip(order[run].tolist(), elements, strict=True):
                slots[place] = element
            position = first + len(run)
        if self._parent.skip(self._taken - position) != self._taken - position:
            raise data_changed("there are fewer elements to shuffle")
        return slots

    def close(self) -> None:
        self._parent.close()


@dataclass(frozen=True, eq=False)
class GlobalShuffle(Transform):
    """All elements in random order; every permutation is equally likely."""

    parent: Node
    seed: int | None
    reshuffle: bool

    def open(self, context: Context) -> Cursor:
        table = self._table()
        return _PermutedCursor(self, context, len(table), table.fetch)

    def origins(self, context: Context) -> Cursor:
        table = self._table()
        return _PermutedCursor(self, context, len(table), table.locate)

    def _table(self) -> Table:
        table = self.parent.table()
        if table is None:
            raise ValueError(
                f"global_shuffle needs elements that can be read in any order, and {self.parent.label()} "
                f"gives them one after the other; put it directly after the source, or shuffle(buffer_size) "
                f"here"
            )
        return table

    def label(self) -> str:
        return f"global_shuffle({_arguments(self.seed, self.reshuffle)[2:]})"


class _PermutedCursor(Cursor):
    cheap_lookahead = _PERMUTED_AT_ONCE

    def __init__(
        self, node: GlobalShuffle, context: Context, size: int, fetch: Callable[[Numbers], Elements]
    ) -> None:
        self._fetch = fetch
        epoch = context.epoch if node.reshuffle else 0
        self._order = Draws(node.seed or 0, epoch, PERMUTATION).order(size)
        self._next = 0

    def take(self, count: int) -> Elements:
        numbers = self._order[self._next : self._next + count]
        try:
            elements = self._fetch(numbers)
        except Exception:
            if len(numbers) < 2:
                raise
            elements = self._fetch(numbers[:1])  # elements before an error come first
        self._next += len(elements)
        return elements

    def skip(self, count: int) -> int:
        begin, self._next = self._next, min(self._next + count, len(self._order))
        return self._next - begin

    def state(self) -> State:
        return {"position": self._next, "size": len(self._order)}

    def restore(self, state: State) -> None:
        position, size = values_of(state, "position", "size")
        if count_of(size) != len(self._order):
            raise data_changed(f"there are {len(self._order)} elements to shuffle, not {size}")
        self._next = count_of(position, size)


def _arguments(seed: int | None, reshuffle: bool) -> str:
    text = "" if seed is None else f", seed={seed}"
    return text + ("" if reshuffle else ", reshuffle_each_iteration=False")
