"""``KeyHistogram``: how numbers are distributed, in bounded memory, the same in whatever order they come.

Each number has a key, an integer of the same order: the bits of a float, and its sign. A bucket holds the
numbers whose keys are the same after a shift to the right. The shift is the smallest with which all keys fit
into 32,768 buckets, so it depends on the smallest and the largest number only. Counts are exact, and every
bucket knows its limits. Buckets are narrow where numbers are small: at worst, with floats of all sizes and
both signs, a bucket is 1/64 as wide as its numbers are large. This module does not know where numbers come
from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_Ints = npt.NDArray[np.int64]

BUCKETS = 1 << 15
# The bits of the float64 before 1, and those of the largest float32.
_BEFORE_ONE = np.int64(0x3FEFFFFFFFFFFFFF)
_LARGEST = np.int64(0x7F7FFFFF)
_PASS = 1 << 16  # numbers that are looked at together, so that they stay in the cache


class KeyHistogram:
    """Counts of numbers that are all float32 and finite, or all int64."""

    def __init__(self, *, integers: bool) -> None:
        self._integers = integers
        self._shift = 0
        self._first = 0  # the bucket that counts[0] counts
        self._counts: _Ints = np.zeros(0, np.int64)

    def add(self, numbers: npt.NDArray[Any], weights: _Ints | None = None) -> None:
        """Add an array that is not empty; with ``weights``, each number as often as they say."""
        extremes = self._keys(np.array([numbers.min(), numbers.max()]))
        self._cover(*extremes.tolist())
        for low in range(0, numbers.size, _PASS):
            keys = self._keys(numbers[low : low + _PASS])
            keys >>= self._shift
            keys -= self._first
            if weights is None:
                self._counts += np.bincount(keys, minlength=self._counts.size)
            else:
                np.add.at(self._counts, keys, weights[low : low + _PASS])

    def merge(self, other: KeyHistogram) -> None:
        """Add the numbers of another histogram of the same type."""
        filled = np.flatnonzero(other._counts)
        if not filled.size:
            return
        buckets = filled + other._first
        low, high = int(buckets[0]) << other._shift, ((int(buckets[-1]) + 1) << other._shift) - 1
        self._cover(low, high, least_shift=other._shift)
        keys = (buckets >> (self._shift - other._shift)) - self._first
        np.add.at(self._counts, keys, other._counts[filled])

    def filled(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], _Ints]:
        """The buckets that are not empty, in order: their smallest and largest possible number, and
        counts."""
        filled = np.flatnonzero(self._counts)
        buckets = filled + self._first
        low = buckets << self._shift
        high = low + ((1 << self._shift) - 1)
        return self._numbers(low), self._numbers(high), self._counts[filled]

    def _cover(self, low: int, high: int, least_shift: int = 0) -> None:
        """Make room for the keys from ``low`` to ``high``, with wider buckets if need be."""
        shift = max(self._shift, least_shift)
        if self._counts.size:
            low = min(low, self._first << self._shift)
            high = max(high, ((self._first + self._counts.size) << self._shift) - 1)
        while (high >> shift) - (low >> shift) >= BUCKETS:
            shift += 1
        first, size = low >> shift, (high >> shift) - (low >> shift) + 1
        if (shift, first, size) == (self._shift, self._first, self._counts.size):
            return
        counts = np.zeros(size, np.int64)
        buckets = np.arange(self._first, self._first + self._counts.size) >> (shift - self._shift)
        np.add.at(counts, buckets - first, self._counts)
        self._shift, self._first, self._counts = shift, first, counts

    def _keys(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if not self._integers:
            bits = numbers.view(np.int32)
            signs = bits >> 31
            keys = bits & np.int32(0x7FFFFFFF)
        else:
            floats = numbers.astype(np.float64)
            signs = floats.view(np.int64) >> 63
            keys = np.abs(floats).view(np.int64)
            keys -= _BEFORE_ONE
            np.maximum(keys, 0, out=keys)
        keys ^= signs
        keys -= signs
        placed: npt.NDArray[Any] = keys
        return placed

    def _numbers(self, keys: _Ints) -> npt.NDArray[np.float64]:
        """The numbers that have these keys."""
        if self._integers:
            sizes = (np.abs(keys) + _BEFORE_ONE).view(np.float64)
            sizes[keys == 0] = 0
        else:  # a bucket may reach beyond the largest float
            sizes = np.minimum(np.abs(keys), _LARGEST).astype(np.int32).view(np.float32).astype(np.float64)
        numbers: npt.NDArray[np.float64] = np.copysign(sizes, keys)
        return numbers
