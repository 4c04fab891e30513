"""Frequencies: how often each value occurs, exactly up to a number of distinct values.

``NumberTable`` gives up where there are more, ``BytesTable`` goes on with the most frequent ones: it then
counts each of them at most ``error`` too low, and forgets no value that occurs more often than that (the rule
of Misra and Gries). This module does not know where values come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import nsmallest
from typing import Any

import numpy as np
import numpy.typing as npt

_Ints = npt.NDArray[np.int64]

# Integers of a smaller range are counted exactly, however many there are: labels, tokens, pixels.
EXACT_RANGE = 1 << 18
# So many numbers show whether there are too many distinct ones, before more of them are sorted.
_FIRST_LOOK = 1 << 16
# A table of strings may have so many times its size before it is cut down: cutting it down sorts it.
_SLACK = 4


class NumberTable:
    """The distinct numbers among int64 or finite float32, in order, and how often each occurs."""

    def __init__(self, dtype: Any, most: int) -> None:
        self.values: npt.NDArray[Any] = np.zeros(0, dtype)
        self.counts: _Ints = np.zeros(0, np.int64)
        self._most = most

    def add(self, numbers: npt.NDArray[Any]) -> int:
        """Add as many of the ``numbers`` as the table can take; how many these are.

        Once it is ``full``, it must be given up.
        """
        done = 0
        while done < numbers.size and not self.full:
            end = numbers.size if self.values.size or done else _FIRST_LOOK
            self.add_counted(*_distinct(numbers[done:end]))
            done = min(end, numbers.size)
        return done

    def add_counted(self, values: npt.NDArray[Any], counts: _Ints) -> None:
        """Add distinct values in order, each as often as ``counts`` says."""
        if not self.values.size:
            self.values, self.counts = values, counts
            return
        places = self.values.searchsorted(values)
        known = self.values[np.minimum(places, self.values.size - 1)] == values
        self.counts[places[known]] += counts[known]
        if not known.all():
            new = ~known
            self.values = np.insert(self.values, places[new], values[new])
            self.counts = np.insert(self.counts, places[new], counts[new])

    @property
    def full(self) -> bool:
        """Whether there are too many distinct numbers."""
        if self.values.size <= self._most:
            return False
        return self.values.dtype.kind != "i" or int(self.values[-1]) - int(self.values[0]) >= EXACT_RANGE


def _distinct(numbers: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], _Ints]:
    """The distinct numbers in order, and their counts."""
    if numbers.dtype.kind == "i":
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < min(EXACT_RANGE, max(4 * numbers.size, 256)):
            counts = np.bincount(numbers - low)
            values = np.flatnonzero(counts)
            return values + low, counts[values]
    values, counts = np.unique(numbers, return_counts=True)
    return values, counts.astype(np.int64, copy=False)


class BytesTable:
    """The distinct strings, and how often each occurs."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: Counter[bytes] = Counter()
        self._exceeded = False  # whether there have been more than ``most``
        self.error = 0  # a string may have occurred so many times more often than is counted

    def add(self, strings: Iterable[bytes]) -> None:
        """Add strings."""
        self._counts.update(strings)
        if len(self._counts) > _SLACK * self._most:
            self._cut()

    def merge(self, other: BytesTable) -> None:
        """Add the strings of another table."""
        self._counts.update(other._counts)
        self.error += other.error
        self._exceeded |= other._exceeded
        if len(self._counts) > _SLACK * self._most:
            self._cut()

    @property
    def distinct(self) -> int | None:
        """How many distinct strings there are; None if there are more than can be counted."""
        return None if self._exceeded or len(self._counts) > self._most else len(self._counts)

    def most_frequent(self, number: int) -> list[tuple[bytes, int]]:
        """The most frequent strings and their counts, the most frequent first, equal ones in their order."""
        return nsmallest(number, self._counts.items(), key=lambda found: (-found[1], found[0]))

    def _cut(self) -> None:
        """Keep at most ``most`` strings: take the same number off all counts, and drop those without any."""
        counts = np.fromiter(self._counts.values(), np.int64, len(self._counts))
        less = int(np.partition(counts, -self._most - 1)[-self._most - 1])
        self._counts = Counter({key: count - less for key, count in self._counts.items() if count > less})
        self.error += less
        self._exceeded = True
