"""``Share``: the elements of one worker of one rank, out of the one order that all of them share.

A *consumer* is a worker process of a rank. Of n consumers, number k takes the elements k, k + n, k + 2n ...
of the order that (seed, epoch) defines. So every element goes to exactly one consumer, however many files,
workers and ranks there are. Worker w of rank r is consumer number r + ranks * w: a rank then gets its
elements in the same order from any number of workers.

A *round* is n consecutive elements, one for each consumer. A state is taken where a round begins. Consumers
in lock-step therefore have the same state, and any other number of consumers can continue from it.

This module must not know files or what an element is.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from operator import length_hint
from typing import Any
from weakref import WeakSet

from .node import Cursor, Elements, FailedElement, Pattern, SkippedDamage, State, data_changed, join

_EVEN = ("uneven", "drop", "pad")
_SHARE = ("elements", "files")


def check_even(even: str) -> None:
    """Raise unless ``even`` is one of the ways to end the last round."""
    if even not in _EVEN:
        raise ValueError(f"even must be one of {', '.join(_EVEN)}, not {even!r}")


def check_share(share: str) -> None:
    """Raise unless ``share`` is something that consumers can share."""
    if share not in _SHARE:
        raise ValueError(f"share must be one of {', '.join(_SHARE)}, not {share!r}")


@dataclass(frozen=True)
class Consumer:
    """Worker ``worker`` of ``workers`` of rank ``rank`` of ``ranks``."""

    rank: int = 0
    ranks: int = 1
    worker: int = 0
    workers: int = 1

    def __post_init__(self) -> None:
        if not (0 <= self.rank < self.ranks and 0 <= self.worker < self.workers):
            raise ValueError(
                f"rank {self.rank} of {self.ranks} and worker {self.worker} of {self.workers}: "
                f"they are counted from 0"
            )

    @property
    def number(self) -> int:
        """The position of its element in a round."""
        return self.rank + self.ranks * self.worker

    @property
    def count(self) -> int:
        """The number of all consumers: the length of a round."""
        return self.ranks * self.workers

    @property
    def pattern(self) -> Pattern:
        """What it takes of the order, counted from its first element."""
        return Pattern(1, self.count)


class _Rounds:
    """Rounds that are loaded. A share replaces them as a whole, by the rounds that follow."""

    begin: State = None  # the cursor's state where they begin; None at the beginning of an epoch
    skipped = 0  # how many damaged places were skipped before that
    number = 0  # how many rounds this share had finished before them
    total: int | None = 0  # how many elements of all consumers they have; None if that is not known
    unskipped = 0  # elements in them, after ours, that the cursor has not skipped yet
    last = False  # whether nothing follows for this consumer
    padded = False  # whether our last element in them is one from the beginning of the epoch
    error: Exception | None = None  # comes after them
    failed = 0  # the number of the latest of our elements whose error was raised, counted from 1

    def __init__(self, own: list[Any], total: int | None) -> None:
        self.size = len(own)  # how many elements of this consumer they have
        self.total = total
        self._set(own)

    def _set(self, elements: list[Any]) -> None:
        """Have these elements left."""
        kinds = list(map(type, elements))
        place = kinds.index(FailedElement) if FailedElement in kinds else len(elements)
        self.ready = iter(elements[:place])  # once it is exhausted, it refers to no element any more
        self.rest = elements[place:]  # begins with an element that failed, unless it is empty

    @property
    def used(self) -> int:
        """How many of our elements have been handed out, or their errors raised."""
        return self.size - length_hint(self.ready) - len(self.rest)

    def after_failed(self) -> _Rounds:
        """The same rounds after the element that failed, which comes next."""
        after = copy(self)
        after._set(self.rest[1:])
        after.failed = after.used
        return after

    @property
    def finished(self) -> int:
        """How many rounds this share has finished: one for each element that it has handed out."""
        return self.number + self.used


class Share:
    """The elements of one consumer.

    ``even`` decides about a last round in which some rank would get no element: "uneven" hands out the
    elements that there are, "drop" leaves them out, "pad" adds the first elements of the epoch.

    Elements are loaded ahead: many rounds at once where the cursor reads cheaply (``cheap_lookahead``),
    else one round at a time, in which the elements of other consumers are skipped and never computed.

    After an error, an interrupt (Ctrl-C) or a fork, a share continues exactly where it was. ``_rounds``
    always says where that is, whatever was going on. ``_exact`` says whether the cursor stands behind these
    rounds. It is false while the cursor moves. If it is still false at the next call, something went wrong,
    and a new cursor is opened at the right place. Threads may use a share together.
    """

    def __init__(
        self, open_cursor: Callable[[bool], Cursor], consumer: Consumer, even: str, damage: SkippedDamage
    ) -> None:
        check_even(even)
        self._open = open_cursor  # its argument says whether the cursor replaces another one
        self._consumer = consumer
        self._count = consumer.count
        self._even = even
        self._damage = damage
        self._base = 0  # the position in the order where this share began
        self._rounds = _Rounds([], 0)
        self._ended = False
        self._cursor: Cursor | None = open_cursor(False)
        self._exact = True
        self._loading = False
        self._lock = threading.RLock()
        _shares.add(self)

    def next(self) -> Any:
        """The next element; raises StopIteration at the end."""
        while True:
            # From here to the caller no thread and no signal handler comes in between: a step of a built-in
            # iterator is atomic, and Python handles signals at calls and at the end of a loop's body.
            for element in self._rounds.ready:
                return element
            with self._lock:
                rounds = self._rounds
                if length_hint(rounds.ready):
                    continue  # another thread was faster
                if not rounds.rest:
                    self._load()
                    continue
                error, after = rounds.rest[0].raised(), rounds.after_failed()
                # There is no call between these two, so no signal handler loses the error.
                self._rounds = after
                raise error

    def latest(self) -> tuple[State, int, int]:
        """The arguments of ``Locator.note_at`` for the latest element."""
        own, rounds = self._consumer, self._rounds
        position = self._base + (rounds.finished - 1) * own.count + own.number
        if not rounds.used:  # it was in the rounds before these
            return None, position, position
        return rounds.begin, (rounds.used - 1) * own.count + own.number, position

    def _load(self) -> None:
        """Load our elements of one round, or of several where the elements of others cost little."""
        if self._loading:
            raise RuntimeError("the iterator is asked for an element while it computes one")
        before = self._rounds
        if before.last or self._ended:
            self._ended = True
            raise StopIteration
        if before.error is not None and self._count == 1:
            error, before.error = before.error, None
            raise error
        try:
            self._loading = True
            cursor = self._go_to_next_round()
            begin, skipped = cursor.state(), self._damage.skipped
            if self._count > cursor.cheap_lookahead:
                rounds = self._load_one_round(cursor)
            else:
                rounds = self._load_rounds(cursor)
            rounds.begin, rounds.skipped, rounds.number = begin, skipped, before.number + before.size
            if self._cursor is None:
                raise RuntimeError("the process was forked while the iterator computed an element; ask again")
            self._rounds = rounds
            self._exact = rounds.error is None
        finally:
            self._loading = False
        if not rounds.size:
            self._ended = True
            raise StopIteration

    def _go_to_next_round(self) -> Cursor:
        """The cursor, which then stands where the next round begins. It is not ``_exact`` any more."""
        exact, self._exact = self._exact, False
        cursor = self._cursor
        if not exact or cursor is None:
            return self._reopen()
        if self._rounds.unskipped:
            cursor.skip(self._rounds.unskipped)
        return cursor

    def _reopen(self) -> Cursor:
        """A new cursor, where the next round begins."""
        old, self._cursor = self._cursor, None
        if old is not None:
            with suppress(Exception):
                old.close()
        rounds, cursor = self._rounds, self._open(True)
        self._cursor = cursor
        if rounds.begin is not None:
            cursor.restore(rounds.begin)
        self._damage.skipped = rounds.skipped
        cursor.skip(rounds.used * self._count)  # there are fewer in the last round
        return cursor

    def _load_rounds(self, cursor: Cursor) -> _Rounds:
        """As many rounds as the cursor reads cheaply."""
        consumer, count = self._consumer, self._count
        asked = cursor.cheap_lookahead // count * count
        elements, error = _take(cursor, asked)
        total = len(elements)
        if count == 1:
            rounds = _Rounds(list(elements), total)
            rounds.last, rounds.error = total < asked and error is None, error
            return rounds
        own = [elements[place] for place in range(consumer.number, total, count)]
        if error is not None:
            if not own:  # it may be the error of another consumer, so skip the elements of others
                return self._load_one_round(self._reopen())
            rounds = _Rounds(own, None)
            rounds.error = error
            return rounds
        # In an incomplete last round: how many elements there are for the ranks of our worker.
        present = total % count - consumer.ranks * consumer.worker
        padded = False
        if self._even == "drop" and consumer.rank < present < consumer.ranks:
            own.pop()
        elif self._even == "pad" and 0 < present <= consumer.rank:
            own.append(self._wrap_around_element(len(own), present))
            padded = True
        rounds = _Rounds(own, total)
        rounds.last, rounds.padded = total < asked, padded
        return rounds

    def _load_one_round(self, cursor: Cursor) -> _Rounds:
        """The next round, with our element; the elements of others are skipped."""
        own = self._consumer
        first = own.ranks * own.worker  # where the elements for the ranks of our worker begin in a round
        passed = cursor.skip(first + own.rank)
        present = passed - first  # how many there are for them up to ours; negative at the end
        elements = list(cursor.take(1)) if present == own.rank else []
        if not elements:
            if self._even == "pad" and present > 0:
                elements = [self._wrap_around_element(0, present)]
            rounds = _Rounds(elements, passed)
            rounds.last, rounds.padded = True, bool(elements)
            return rounds
        after = own.ranks - 1 - own.rank
        if self._even == "drop":
            if cursor.skip(after) < after:
                rounds = _Rounds([], 0)
                rounds.last = True
                return rounds
            after = 0
        rounds = _Rounds(elements, None)
        rounds.unskipped = after + own.count - first - own.ranks
        return rounds

    def _wrap_around_element(self, rounds: int, present: int) -> Any:
        """The element from the start of the epoch that pads a last round with ``present`` elements.

        ``rounds`` have been loaded but not handed out.
        """
        own = self._consumer
        position = self._base + (self._rounds.finished + rounds) * own.count + own.ranks * own.worker
        cursor = self._open(False)
        cursor.skip((position + own.rank) % (position + present))
        element = cursor.take(1)[0]
        cursor.close()
        return element

    def state(self) -> dict[str, Any]:
        """Where the next round begins, in JSON values; right after an error, where its element is.

        So who repairs the cause of an error and resumes there loses no element.
        """
        with self._lock:
            rounds = self._rounds
            used = rounds.used
            if used and used == rounds.failed:
                used -= 1
            elif self._can_go_to_next_round():
                cursor = self._go_to_next_round()
                rounds, used = self._rounds_at(cursor, rounds.finished), 0
                self._rounds = rounds
                self._exact = True
            own, finished = self._consumer, rounds.number + used
            ahead = used * own.count
            return {
                "consumer": [own.number, own.count],
                "base": self._base,
                "rounds": finished,
                "position": self._base + finished * own.count,
                "ended": self._ended or (rounds.padded and used == rounds.size),
                "cursor": rounds.begin,
                "ahead": ahead if rounds.total is None else min(ahead, rounds.total),
            }

    def _can_go_to_next_round(self) -> bool:
        """Whether a state can be taken where the next round begins. Then nothing will be read again."""
        rounds = self._rounds
        if self._loading or rounds.used < rounds.size or rounds.last or self._ended:
            return False  # the first: a signal handler asks while the cursor moves
        return self._exact or rounds.total is None

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue where ``state`` was taken, by this consumer or any other. Only a new share can do this."""
        cursor = self._cursor
        assert cursor is not None
        ahead = state["position"]
        if state.get("cursor") is not None:
            cursor.restore(state["cursor"])
            ahead = state.get("ahead", 0)
        if cursor.skip(ahead) != ahead:
            raise data_changed(f"there are fewer than {state['position']} elements")
        self._ended = state.get("ended", False)
        self._damage.skipped = state.get("skipped", self._damage.skipped)
        rounds = 0
        if state.get("consumer") == [self._consumer.number, self._consumer.count]:
            self._base, rounds = state["base"], state["rounds"]
        else:
            self._base = state["position"]
        self._rounds = self._rounds_at(cursor, rounds)

    def _rounds_at(self, cursor: Cursor, number: int) -> _Rounds:
        """No rounds, before number ``number``, where the cursor stands."""
        rounds = _Rounds([], 0)
        rounds.begin, rounds.skipped, rounds.number = cursor.state(), self._damage.skipped, number
        return rounds

    def close(self) -> None:
        """Release files, threads and processes."""
        with self._lock:
            if self._cursor is not None:
                self._cursor.close()

    def after_fork(self) -> None:
        """Be ready in a forked process, which has no thread of its parent and must not use its files.

        The cursor is kept, but never used or closed: it belongs to the parent.
        """
        self._lock = threading.RLock()
        self._loading = self._exact = False
        if self._cursor is not None:
            _of_parent_process.append(self._cursor)
            self._cursor = None


def _take(cursor: Cursor, count: int) -> tuple[Elements, Exception | None]:
    """The next ``count`` elements, fewer at the end; also fewer if an error comes after them."""
    parts: list[Elements] = []
    try:
        while count and len(part := cursor.take(count)):
            parts.append(part)
            count -= len(part)
    except Exception as error:
        if not parts:
            raise
        return join(parts), error
    return join(parts), None


# Process-wide state: all shares, and the cursors that this process has inherited, if it was forked.
_shares: WeakSet[Share] = WeakSet()
_of_parent_process: list[Cursor] = []


def _after_fork() -> None:
    for share in list(_shares):
        share.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
