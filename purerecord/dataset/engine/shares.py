"""``Share``: one consumer's part of an order that all share; and one state out of those of all consumers.

A consumer is a worker process of a rank. Of n consumers, number k takes the elements k, k + n, k + 2n ...
of the one order that (seed, epoch) defines, so every element goes to exactly one of them, however many
files, workers and ranks there are. Worker w of rank r is number r + ranks * w: then a rank gets its
elements in the same order from any number of workers. A state is taken where a round of all consumers
begins, so in lock-step all have the same, and any other number of consumers can go on from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .node import Cursor, Elements, Pattern, State, changed, join

EVEN = ("uneven", "drop", "pad")
SHARE = ("elements", "files")


@dataclass(frozen=True)
class Consumer:
    """Who takes elements: worker ``worker`` of ``workers`` of rank ``rank`` of ``ranks``."""

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
        """Which of all consumers this is."""
        return self.rank + self.ranks * self.worker

    @property
    def count(self) -> int:
        """How many there are."""
        return self.ranks * self.workers

    @property
    def pattern(self) -> Pattern:
        """What it takes of the order."""
        return Pattern(1, self.count)


class Share:
    """The elements of one consumer.

    ``even`` decides about a last round in which there is not one for every rank: "uneven" gives what
    there is, "drop" leaves them out, "pad" fills up with the first elements of the epoch.
    """

    def __init__(self, open_cursor: Callable[[], Cursor], consumer: Consumer, even: str) -> None:
        if even not in EVEN:
            raise ValueError(f"even must be one of {', '.join(EVEN)}, not {even!r}")
        self._open = open_cursor
        self._cursor = open_cursor()
        self._consumer = consumer
        self._even = even
        self._base = 0  # where in the order this began
        self._rounds = 0  # how many elements it has had since
        self._begin: State = None  # where the rounds begin that are taken ahead
        self._own: list[Any] = []  # our elements of them
        self._total = 0  # how many elements they have
        self._used = 0  # how many of ours have been given
        self._pending = 0  # elements of the present round that are to be passed over
        self._passed = 0  # those before ours that were, when an error came; if negative, are to be
        self._ended = False
        self._final: tuple[State, int] | None = None  # where we have ended, or an error came
        self._error: Exception | None = None  # that comes behind the elements ahead

    def next(self) -> Any:
        """The next element; StopIteration at the end."""
        if self._used == len(self._own):
            self._load()
        element = self._own[self._used]
        self._used += 1
        self._rounds += 1
        return element

    def _load(self) -> None:
        """Have elements ahead: those of one round, or of several where what is foreign costs little."""
        if self._ended:
            raise StopIteration
        place = self._place()
        self._begin, rest = place
        self._own, self._used, self._total = [], 0, 0
        self._final = place  # should this come to nothing
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        if not rest:  # else this was a last round, in which nothing was for us
            hint = self._cursor.hint
            self._own = self._load_one() if self._consumer.count > hint else self._load_rounds(hint)
        if not self._own:
            self._ended = True
            raise StopIteration
        self._final = None

    def _load_rounds(self, hint: int) -> list[Any]:
        """Our elements of as many rounds as are good to hold at once; none at the end."""
        own = self._consumer
        elements = self._take(hint // own.count * own.count)
        self._total = len(elements)
        if own.count == 1:
            return list(elements)
        chosen = [elements[place] for place in range(own.number, self._total, own.count)]
        found = self._total % own.count - own.ranks * own.worker  # how many for our rank's last round
        if self._error is not None:
            return chosen
        if self._even == "drop" and own.rank < found < own.ranks:
            chosen.pop()
        elif self._even == "pad" and 0 < found <= own.rank:
            chosen.append(self._padding(len(chosen), found))
        return chosen

    def _take(self, count: int) -> Elements:
        """So many elements, fewer only at the end or before an error, which is kept for later."""
        parts: list[Elements] = []
        try:
            while count and len(part := self._cursor.take(count)):
                parts.append(part)
                count -= len(part)
        except Exception as error:
            if not parts:
                raise
            self._error = error
        return join(parts)

    def _load_one(self) -> list[Any]:
        """Our element of the next round, foreign ones passed over; none at the end."""
        own, cursor = self._consumer, self._cursor
        before = own.ranks * own.worker
        self._passed += cursor.skip(before + own.rank - self._passed)
        found = self._passed - before  # how many for our rank's round, less than none at the end
        elements = self._take_own() if found == own.rank else []
        self._passed = 0
        if found < 0:
            return []
        if not elements:
            return [self._padding(0, found)] if self._even == "pad" and found else []
        behind = own.ranks - 1 - own.rank
        if self._even == "drop":
            if cursor.skip(behind) < behind:
                return []
            behind = 0
        self._pending = behind + own.count - before - own.ranks
        return elements

    def _take_own(self) -> list[Any]:
        """The next element. Who goes on after an error gets it, or, if it is gone, that of the next round."""
        place = self._cursor.state()
        try:
            return list(self._cursor.take(1))
        except Exception:
            if self._cursor.state() != place:
                self._passed += 1 - self._consumer.count
            raise

    def _padding(self, rounds: int, found: int) -> Any:
        """An element from the beginning, for a round that has only ``found`` for the ranks."""
        own = self._consumer
        self._ended = True
        position = self._base + (self._rounds + rounds) * own.count + own.ranks * own.worker
        again = self._open()
        again.skip((position + own.rank) % (position + found))
        element = again.take(1)[0]
        again.close()
        return element

    def _settle(self) -> None:
        """Go to where the next round begins."""
        if self._pending:
            self._cursor.skip(self._pending)
            self._pending = 0

    def _place(self) -> tuple[State, int]:
        """A state of the cursor, and how many elements behind it the next round begins."""
        if self._final is not None:
            return self._final
        self._settle()
        ahead = min(self._used * self._consumer.count, self._total)
        return (self._cursor.state(), 0) if ahead == self._total else (self._begin, ahead)

    def state(self) -> dict[str, Any]:
        """Where this is, in what JSON has."""
        begin, ahead = self._place()
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
        """Go on where ``state`` was taken, whoever it was; only when nothing has been taken yet."""
        ahead = state["position"]
        if state.get("cursor") is not None:
            self._cursor.restore(state["cursor"])
            ahead = state.get("ahead", 0)
        if self._cursor.skip(ahead) != ahead:
            raise changed(f"there are fewer than {state['position']} elements")
        self._ended = state.get("ended", False)
        if state.get("consumer") == [self._consumer.number, self._consumer.count]:
            self._base, self._rounds = state["base"], state["rounds"]
        else:
            self._base, self._rounds = state["position"], 0

    def close(self) -> None:
        """Let go of files, threads and processes."""
        self._cursor.close()
