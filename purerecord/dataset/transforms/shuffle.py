"""Shuffling: a window that moves over the elements, or a permutation of them all.

Every draw is a function of (seed, epoch, position), made from numpy's raw PCG64 stream, which never changes
between versions. So the state of a window is a few numbers, whatever is in it: the draws are made
again, and the few elements that they leave in the window are read again. This module does not know
what an element is.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engine.node import MANY, Context, Cursor, Elements, Node, State, Step, changed, take_singly

Numbers = npt.NDArray[np.int64]

# What draws are for, so that those of one purpose tell nothing of another's.
WINDOW, REST, PERMUTATION, SAMPLE = range(4)


class Draws:
    """Random numbers that (seed, epoch, purpose) define."""

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
class Shuffle(Step):
    """Fills a window of ``window`` elements and gives a random one of them, again and again."""

    up: Node
    window: int
    seed: int | None
    reshuffle: bool

    def open(self, context: Context) -> Cursor:
        return _WindowCursor(self, context)

    def label(self) -> str:
        return f"shuffle({self.window}{_arguments(self.seed, self.reshuffle)})"


class _WindowCursor(Cursor):
    def __init__(self, node: Shuffle, context: Context) -> None:
        self._up = node.up.open(context.free())
        # Where others take most of what goes through the window, large elements are read when we give them.
        self._lazy = context.pattern.own < context.pattern.period
        self._window = node.window
        self._key = (node.seed or 0, context.epoch if node.reshuffle else 0)
        self._draws = Draws(*self._key, WINDOW)
        self._slots: list[Any] = []
        self._numbers: list[int] = []  # which of the elements below each slot holds
        self._taken = 0  # elements from below
        self._given = 0
        self._rest: list[Any] | None = None  # what is still to be given when no more comes from below
        # States of what is below, one of them from before any element in the window: to read them again.
        self._marks: deque[tuple[int, State]] = deque()

    @property
    def hint(self) -> int:  # type: ignore[override]
        """Large elements are not loaded for nothing: where others take those between, one by one."""
        hint = self._up.hint
        return 1 if self._lazy and hint < MANY else hint

    def take(self, count: int) -> Elements:
        return self._up.load(self._move(count))

    def skip(self, count: int) -> int:
        left = count
        while left and (passed := len(self._move(min(left, MANY)))):
            left -= passed
        return count - left

    def _move(self, count: int) -> list[Any]:
        """What comes out of the window next, at most ``count`` elements; none at the end."""
        self._fill()
        while self._rest is None:
            self._mark()
            elements = take_singly(self._up, min(count, self._window), lazy=self._lazy)
            if len(elements):
                return self._exchange(elements)
            self._end()
        rest = self._rest[:count]
        del self._rest[:count]
        self._given += len(rest)
        return rest

    def _fill(self) -> None:
        while self._rest is None and self._taken < self._window:
            self._mark()
            elements = take_singly(self._up, self._window - self._taken, lazy=self._lazy)
            if not len(elements):
                self._end()
            self._slots += elements
            self._numbers += range(self._taken, self._taken + len(elements))
            self._taken += len(elements)

    def _exchange(self, elements: Elements) -> list[Any]:
        """For each new element the one whose place it takes."""
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
        order = Draws(*self._key, REST).order(len(self._slots))
        self._rest = [self._slots[place] for place in order.tolist()]

    def _mark(self) -> None:
        if self._marks and self._taken - self._marks[-1][0] < self._window:
            return
        self._marks.append((self._taken, self._up.state()))
        oldest = min(self._numbers, default=0)
        while len(self._marks) > 1 and self._marks[1][0] <= oldest:
            self._marks.popleft()

    def state(self) -> State:
        if not self._marks:
            self._mark()
        start, up = self._marks[0]
        ended = self._rest is not None
        return {"given": self._given, "taken": self._taken, "ended": ended, "start": start, "up": up}

    def restore(self, state: State) -> None:
        self._up.restore(state["up"])
        self._taken = state["taken"]
        self._marks.append((state["start"], state["up"]))
        self._numbers = self._replay(self._taken).tolist()
        self._slots = self._reread(state["start"])
        exchanged = max(0, self._taken - self._window)
        self._draws = Draws(*self._key, WINDOW, exchanged)
        self._given = exchanged
        if state["ended"]:
            self._end()
            assert self._rest is not None
            del self._rest[: state["given"] - exchanged]
            self._given = state["given"]

    def _replay(self, taken: int) -> Numbers:
        """Which elements are in the window after so many have come from below."""
        numbers = np.arange(min(taken, self._window))
        exchanged = taken - len(numbers)
        draws = Draws(*self._key, WINDOW)
        for begin in range(0, exchanged, 1 << 20):
            count = min(1 << 20, exchanged - begin)
            # Of several that went to one place, the assignment keeps the last, as it should.
            numbers[draws.below(self._window, count)] = np.arange(count) + (begin + self._window)
        return numbers

    def _reread(self, position: int) -> list[Any]:
        """The elements with the numbers in the window, from what is below, which is at ``position``."""
        slots: list[Any] = [None] * len(self._numbers)
        order = np.argsort(self._numbers, kind="stable")
        wanted = np.asarray(self._numbers, np.int64)[order]
        for run in np.split(np.arange(len(wanted)), np.flatnonzero(np.diff(wanted) != 1) + 1):
            if not len(run):
                continue
            first = int(wanted[run[0]])
            skipped = self._up.skip(first - position)
            elements = take_singly(self._up, len(run), lazy=self._lazy)
            if skipped != first - position or len(elements) != len(run):
                raise changed("there are fewer elements to shuffle")
            for place, element in zip(order[run].tolist(), elements, strict=True):
                slots[place] = element
            position = first + len(run)
        if self._up.skip(self._taken - position) != self._taken - position:
            raise changed("there are fewer elements to shuffle")
        return slots

    def close(self) -> None:
        self._up.close()


@dataclass(frozen=True, eq=False)
class GlobalShuffle(Step):
    """All elements, in an order in which every permutation is as likely as any other."""

    up: Node
    seed: int | None
    reshuffle: bool

    def open(self, context: Context) -> Cursor:
        return _PermutedCursor(self, context)

    def label(self) -> str:
        return f"global_shuffle({_arguments(self.seed, self.reshuffle)[2:]})"


class _PermutedCursor(Cursor):
    hint = MANY // 4

    def __init__(self, node: GlobalShuffle, context: Context) -> None:
        table = node.up.table()
        if table is None:
            raise ValueError(
                f"global_shuffle needs elements that can be read in any order, and {node.up.label()} gives "
                f"them one after the other; put it directly after the source, or shuffle(buffer_size) here"
            )
        self._table = table
        epoch = context.epoch if node.reshuffle else 0
        self._order = Draws(node.seed or 0, epoch, PERMUTATION).order(len(table))
        self._next = 0

    def take(self, count: int) -> Elements:
        begin = self._next
        elements = self._table.fetch(self._order[begin : begin + count])
        self._next += len(elements)
        return elements

    def skip(self, count: int) -> int:
        begin, self._next = self._next, min(self._next + count, len(self._order))
        return self._next - begin

    def state(self) -> State:
        return {"position": self._next, "size": len(self._order)}

    def restore(self, state: State) -> None:
        if state["size"] != len(self._order):
            raise changed(f"there are {len(self._order)} elements to shuffle, not {state['size']}")
        self._next = state["position"]


def _arguments(seed: int | None, reshuffle: bool) -> str:
    text = "" if seed is None else f", seed={seed}"
    return text + ("" if reshuffle else ", reshuffle_each_iteration=False")
