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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .node import Cursor, DeferredError, Elements, Pattern, State, data_changed, join

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


class Share:
    """The elements of one consumer.

    ``even`` decides about a last round in which some rank would get no element: "uneven" hands out the
    elements that there are, "drop" leaves them out, "pad" adds the first elements of the epoch.

    Elements are loaded ahead: many rounds at once where the cursor reads cheaply (``cheap_lookahead``),
    else one round at a time, in which the elements of other consumers are skipped and never computed.
    """

    def __init__(self, open_cursor: Callable[[], Cursor], consumer: Consumer, even: str) -> None:
        check_even(even)
        self._open = open_cursor
        self._cursor = open_cursor()
        self._consumer = consumer
        self._even = even
        self._base = 0  # the position in the order where this share began
        self._rounds = 0  # how many elements it has handed out since
        # The rounds that are loaded:
        self._begin: State = None  # the cursor's state before them
        self._own: list[Any] = []  # the elements of this consumer in them
        self._total = 0  # the elements of all consumers in them
        self._used = 0  # how many of ``_own`` have been handed out
        # Loading one round at a time:
        self._unskipped = 0  # elements of the current round, after ours, that the cursor has not skipped yet
        # Where the cursor stands, relative to the beginning of the round to load. Always 0, except after an
        # error in our element. Then the cursor may still stand at that element (positive: it will be tried
        # again), or it is past it (negative: the rest of that round must be skipped before the next one
        # begins).
        self._passed = 0
        self._ended = False
        self._final: tuple[State, int] | None = None  # the position where the share ended or an error came
        self._deferred = DeferredError()

    def next(self) -> Any:
        """The next element; raises StopIteration at the end."""
        if self._used == len(self._own):
            self._load()
        element = self._own[self._used]
        self._used += 1
        self._rounds += 1
        return element

    def latest(self) -> tuple[State, int, int]:
        """The arguments of ``Locator.note_at`` for the latest element."""
        own = self._consumer
        position = self._base + (self._rounds - 1) * own.count + own.number
        return self._begin, (self._used - 1) * own.count + own.number, position

    def _load(self) -> None:
        """Load our elements of one round, or of several where the elements of others cost little."""
        if self._ended:
            raise StopIteration
        position = self._position()
        self._begin, rest = position
        self._own, self._used, self._total = [], 0, 0
        self._final = position  # it stays if an error comes now, or the end
        self._deferred.raise_pending()
        if not rest:  # else the rounds before were the last, and their rest has nothing for us
            ahead = self._cursor.cheap_lookahead
            self._own = self._load_one_round() if self._consumer.count > ahead else self._load_rounds(ahead)
        if not self._own:
            self._ended = True
            raise StopIteration
        self._final = None

    def _load_rounds(self, most: int) -> list[Any]:
        """Our elements of as many rounds as ``most`` elements hold; none at the end."""
        own = self._consumer
        elements = self._take(most // own.count * own.count)
        self._total = len(elements)
        if own.count == 1:
            return list(elements)
        chosen = [elements[place] for place in range(own.number, self._total, own.count)]
        if self._deferred.is_pending:
            return chosen
        # In an incomplete last round: how many elements there are for the ranks of our worker.
        present = self._total % own.count - own.ranks * own.worker
        if self._even == "drop" and own.rank < present < own.ranks:
            chosen.pop()
        elif self._even == "pad" and 0 < present <= own.rank:
            chosen.append(self._wrap_around_element(len(chosen), present))
        return chosen

    def _take(self, count: int) -> Elements:
        """The next ``count`` elements; fewer at the end, or before an error, which is deferred."""
        parts: list[Elements] = []
        try:
            while count and len(part := self._cursor.take(count)):
                parts.append(part)
                count -= len(part)
        except Exception as error:
            self._deferred.defer(error, parts)
        return join(parts)

    def _load_one_round(self) -> list[Any]:
        """Our element of the next round, with the elements of others skipped; none at the end."""
        own, cursor = self._consumer, self._cursor
        first = own.ranks * own.worker  # where the elements for the ranks of our worker begin in a round
        self._passed += cursor.skip(first + own.rank - self._passed)
        present = self._passed - first  # how many there are for them up to ours; negative at the end
        elements = self._take_own() if present == own.rank else []
        self._passed = 0
        if present < 0:
            return []
        if not elements:
            return [self._wrap_around_element(0, present)] if self._even == "pad" and present else []
        after = own.ranks - 1 - own.rank
        if self._even == "drop":
            if cursor.skip(after) < after:
                return []
            after = 0
        self._unskipped = after + own.count - first - own.ranks
        return elements

    def _take_own(self) -> list[Any]:
        """The element at the cursor, which is ours.

        If it fails and the cursor has moved past it, the next call must continue with the next round. If the
        cursor has not moved, the next call tries the same element again.
        """
        before = self._cursor.state()
        try:
            return list(self._cursor.take(1))
        except Exception:
            if self._cursor.state() != before:
                self._passed += 1 - self._consumer.count
            raise

    def _wrap_around_element(self, rounds: int, present: int) -> Any:
        """The element from the start of the epoch that pads a last round with ``present`` elements.

        ``rounds`` have been loaded but not handed out.
        """
        own = self._consumer
        self._ended = True
        position = self._base + (self._rounds + rounds) * own.count + own.ranks * own.worker
        cursor = self._open()
        cursor.skip((position + own.rank) % (position + present))
        element = cursor.take(1)[0]
        cursor.close()
        return element

    def _advance_to_next_round(self) -> None:
        """Skip the rest of the current round."""
        if self._unskipped:
            self._cursor.skip(self._unskipped)
            self._unskipped = 0

    def _position(self) -> tuple[State, int]:
        """A state of the cursor, and how many elements after it the next round begins."""
        if self._final is not None:
            return self._final
        self._advance_to_next_round()
        ahead = min(self._used * self._consumer.count, self._total)
        return (self._cursor.state(), 0) if ahead == self._total else (self._begin, ahead)

    def state(self) -> dict[str, Any]:
        """Where the next round begins, in JSON values."""
        begin, ahead = self._position()
        own = self._consumer
        return {
            "consumer": [own.number, own.count],
            "base": self._base,
            "rounds": self._rounds,
            "position": self._base + self._rounds * own.count,
            "ended": self._ended and self._used == len(self._own),
            "cursor": begin,
            "ahead": ahead,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue where ``state`` was taken, by this consumer or any other. Only a new share can do this."""
        ahead = state["position"]
        if state.get("cursor") is not None:
            self._cursor.restore(state["cursor"])
            ahead = state.get("ahead", 0)
        if self._cursor.skip(ahead) != ahead:
            raise data_changed(f"there are fewer than {state['position']} elements")
        self._ended = state.get("ended", False)
        if state.get("consumer") == [self._consumer.number, self._consumer.count]:
            self._base, self._rounds = state["base"], state["rounds"]
        else:
            self._base, self._rounds = state["position"], 0

    def close(self) -> None:
        """Release files, threads and processes."""
        self._cursor.close()
