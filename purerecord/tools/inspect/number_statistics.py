"""``NumberStatistics``: the statistics of int64 or float32 numbers, added array by array.

Up to a number of distinct values, and for integers of a small range, every value and its count is kept: then
all is exact. With more, the counts go into a ``KeyHistogram`` and the sums into an ``ExactSum``. Count,
extremes, mean and deviation stay exact, quantiles lie between the limits of a bucket, and distinct values are
no longer counted. The result depends on the numbers only, and not on their order nor on how they were
divided. This module does not know where numbers come from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .exact_sums import ExactSum
from .frequencies import NumberTable
from .key_histogram import KeyHistogram

_Ints = npt.NDArray[np.int64]

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
BINS = 20
MOST_FREQUENT = 10
_ROUNDED = float(1 << 53)  # integers from here on are not all float64


@dataclass(frozen=True)
class Quantile:
    """The smallest number that at least the ``share`` of all numbers do not exceed.

    It lies between ``low`` and ``high``; where all values were kept, these are the same.
    """

    share: float
    low: float
    high: float

    @property
    def value(self) -> float:
        """The quantile itself, or the middle of what is known of it."""
        return self.low if self.low == self.high else self.low + (self.high - self.low) / 2


@dataclass(frozen=True)
class NumberSummary:
    """What is known of some numbers. All but ``count``, ``nan`` and the infinities is about finite ones.

    ``mean`` and ``deviation`` are None without a finite number. ``distinct`` is None if there are more than
    were counted; ``most_frequent`` is then empty. ``histogram`` holds ranges: from, to and how many numbers;
    the end is that of the next range, and belongs to it.
    """

    count: int
    nan: int
    positive_infinities: int
    negative_infinities: int
    zeros: int
    minimum: float | None
    maximum: float | None
    mean: float | None
    deviation: float | None
    distinct: int | None
    most_frequent: tuple[tuple[float, int], ...]
    quantiles: tuple[Quantile, ...]
    histogram: tuple[tuple[float, float, int], ...]

    @property
    def exact(self) -> bool:
        """Whether the quantiles are exact: all values were kept."""
        return self.distinct is not None


class NumberStatistics:
    """Statistics of numbers of one dtype, int64 or float32; ``most`` distinct values are kept."""

    def __init__(self, dtype: Any, most: int) -> None:
        self._dtype = np.dtype(dtype)
        self._most = most
        self._table: NumberTable | None = NumberTable(self._dtype, most)
        self._sums = ExactSum()
        self._histogram = KeyHistogram(integers=self._dtype.kind == "i")
        self._odd = np.zeros(3, np.int64)  # NaN, positive and negative infinities
        self._zeros = 0
        self._low: Any = None
        self._high: Any = None

    def add(self, numbers: npt.NDArray[Any]) -> None:
        """Add an array."""
        if self._dtype.kind == "f":
            numbers = self._finite(numbers)
        if not numbers.size:
            return
        done = 0
        if self._table is not None:
            done = self._table.add(numbers)
            if self._table.full:
                self._give_up(self._table)
        if done < numbers.size:
            self._add_uncounted(numbers[done:])

    def add_repeated(self, number: int, count: int) -> None:
        """Add ``number`` so many times."""
        if count and self._table is not None:
            self._table.add_counted(np.array([number], self._dtype), np.array([count]))
            if self._table.full:
                self._give_up(self._table)
        elif count:
            self._add_uncounted(np.full(count, number, self._dtype))

    def merge(self, other: NumberStatistics) -> None:
        """Add the numbers of others of the same dtype."""
        self._odd += other._odd
        if self._table is not None and other._table is not None:
            if other._table.values.size:
                self._table.add_counted(other._table.values, other._table.counts)
            if self._table.full:
                self._give_up(self._table)
            return
        if self._table is not None:
            self._give_up(self._table)
        if other._table is not None:
            self._take(other._table)
            return
        self._sums.merge(other._sums)
        self._histogram.merge(other._histogram)
        self._zeros += other._zeros
        self._extend(other._low, other._high)

    def _finite(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The finite ones; the others are counted. A negative zero becomes an ordinary one."""
        if numbers.size and not (math.isfinite(numbers.min()) and math.isfinite(numbers.max())):
            finite = np.isfinite(numbers)
            odd = numbers[~finite]
            self._odd += [int(np.isnan(odd).sum()), int((odd == np.inf).sum()), int((odd == -np.inf).sum())]
            numbers = numbers[finite]
        plain: npt.NDArray[Any] = numbers + np.float32(0)
        return plain

    def _give_up(self, table: NumberTable) -> None:
        """Go on without the table: there are too many distinct numbers."""
        self._table = None
        self._take(table)

    def _take(self, table: NumberTable) -> None:
        if table.values.size:
            self._sums.add_counted(table.values, table.counts)
            self._histogram.add(table.values, table.counts)
            self._zeros += int(table.counts[table.values == 0].sum())
            self._extend(table.values[0].item(), table.values[-1].item())

    def _add_uncounted(self, numbers: npt.NDArray[Any]) -> None:
        self._sums.add(numbers)
        self._histogram.add(numbers)
        self._zeros += numbers.size - int(np.count_nonzero(numbers))
        self._extend(numbers.min().item(), numbers.max().item())

    def _extend(self, low: Any, high: Any) -> None:
        self._low = low if self._low is None else min(self._low, low)
        self._high = high if self._high is None else max(self._high, high)

    # --- Results ------------------------------------------------------------------------------------

    def summary(self) -> NumberSummary:
        """What is known of the numbers so far."""
        whole = self
        if self._table is not None:  # the same from the table, which stays as it is
            whole = NumberStatistics(self._dtype, self._most)
            whole._take(self._table)
        sums, table = whole._sums, self._table
        nan, positive, negative = self._odd.tolist()
        buckets = self._buckets(whole)
        return NumberSummary(
            count=sums.count + nan + positive + negative,
            nan=nan,
            positive_infinities=positive,
            negative_infinities=negative,
            zeros=whole._zeros,
            minimum=whole._low,
            maximum=whole._high,
            mean=sums.mean if sums.count else None,
            deviation=sums.deviation if sums.count else None,
            distinct=None if table is None else table.values.size,
            most_frequent=() if table is None else _most_frequent(table),
            quantiles=_quantiles(buckets, whole._low, whole._high),
            histogram=_histogram(buckets, whole._low, whole._high),
        )

    def _buckets(self, whole: NumberStatistics) -> _Buckets:
        if self._table is not None:
            return _Buckets(self._table.values, self._table.values, self._table.counts)
        lows, highs, counts = whole._histogram.filled()
        if self._dtype.kind == "i":  # no integer lies between two; large ones were rounded to float64
            large = np.abs(lows) >= _ROUNDED
            lows = np.where(large, np.nextafter(lows, -np.inf), np.ceil(lows))
            highs = np.where(large, np.nextafter(highs, np.inf), np.floor(highs))
        return _Buckets(lows, highs, counts)


class _Buckets(NamedTuple):
    """Ranges of numbers in order, both ends included, and how many numbers lie in each: single values if all
    were kept."""

    lows: npt.NDArray[Any]
    highs: npt.NDArray[Any]
    counts: _Ints


def _most_frequent(table: NumberTable) -> tuple[tuple[float, int], ...]:
    order = np.argsort(-table.counts, kind="stable")[:MOST_FREQUENT]
    return tuple(zip(table.values[order].tolist(), table.counts[order].tolist(), strict=True))


def _quantiles(buckets: _Buckets, low: Any, high: Any) -> tuple[Quantile, ...]:
    """The quantiles of numbers between ``low`` and ``high``."""
    if low is None:
        return ()
    sums = np.cumsum(buckets.counts)
    # With whole numbers: a product with a share such as 0.95 would be rounded.
    ranks = [max(1, -(-int(sums[-1]) * round(share * 100) // 100)) for share in QUANTILES]
    kind = type(low)
    found = []
    for share, place in zip(QUANTILES, sums.searchsorted(ranks).tolist(), strict=True):
        ends = kind(buckets.lows[place]), kind(buckets.highs[place])
        found.append(Quantile(share, max(low, ends[0]), min(high, ends[1])))
    return tuple(found)


def _histogram(buckets: _Buckets, low: Any, high: Any) -> tuple[tuple[float, float, int], ...]:
    """Ranges of about the same width and their counts: from the first number on, and before the second one.

    Only the last range includes its end. A range ends later where it would divide a bucket.
    """
    if low is None:
        return ()
    few = isinstance(low, int) and high - low < BINS
    width = 1.0 if few else high / BINS - low / BINS
    edges = float(low) + width * np.arange(high - low + 1 if few else BINS)
    bins = np.maximum(edges.searchsorted(buckets.lows.astype(np.float64), side="right") - 1, 0)
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    counts = np.zeros(edges.size, np.int64)
    counts[bins[starts]] = np.add.reduceat(buckets.counts, starts)
    for place, last in zip(bins[starts].tolist(), [*(starts[1:] - 1).tolist(), -1], strict=True):
        end = float(buckets.highs[last])
        inside = slice(place + 1, None)
        edges[inside] = np.where(edges[inside] <= end, np.nextafter(end, np.inf), edges[inside])
    ends = [*np.minimum(edges[1:], high).tolist(), float(high)]
    begins = np.minimum(edges, high).tolist()
    return tuple(zip(begins, ends, counts.tolist(), strict=True))
