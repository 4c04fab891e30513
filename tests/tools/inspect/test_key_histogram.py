"""A bucket never claims a number that lies outside of it, and the order of numbers changes nothing."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from purerecord.tools.inspect.key_histogram import BUCKETS, KeyHistogram
from tests.support.strategies import int64s

finite = st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
arrays = st.lists(finite, min_size=1, max_size=60).map(
    lambda numbers: np.array(numbers, np.float32)
) | st.lists(int64s, min_size=1, max_size=60).map(lambda numbers: np.array(numbers, np.int64))


def histogram(numbers: np.ndarray) -> KeyHistogram:
    made = KeyHistogram(integers=numbers.dtype.kind == "i")
    made.add(numbers)
    return made


def facts(found: KeyHistogram) -> list[object]:
    return [part.tolist() for part in found.filled()]


@given(arrays)
def test_buckets_are_in_order_and_hold_their_numbers(numbers):
    lows, highs, counts = histogram(numbers).filled()
    inside = np.sort(numbers.astype(np.float64))
    assert counts.sum() == len(inside)
    assert (lows <= highs).all()
    assert (highs[:-1] < lows[1:]).all()
    assert (np.repeat(lows, counts) <= inside).all()
    assert (inside <= np.repeat(highs, counts)).all()


@given(arrays, st.integers(1, 5))
def test_order_and_parts_change_nothing(numbers, parts):
    merged = KeyHistogram(integers=numbers.dtype.kind == "i")
    for part in np.array_split(numbers[::-1], parts):
        if part.size:
            merged.merge(histogram(part))
    assert facts(merged) == facts(histogram(numbers))
    weighted = KeyHistogram(integers=numbers.dtype.kind == "i")
    values, counts = np.unique(numbers, return_counts=True)
    weighted.add(values, counts)
    assert facts(weighted) == facts(histogram(numbers))


def test_buckets_stay_narrow_and_few_for_floats_of_all_sizes():
    exponents = np.arange(-149, 128, 0.01)
    numbers = np.concatenate([2.0**exponents, -(2.0**exponents)]).astype(np.float32)
    lows, highs, _ = histogram(numbers).filled()
    assert len(lows) <= BUCKETS
    normal = np.minimum(abs(lows), abs(highs)) > 2.0**-120
    assert (highs - lows <= np.maximum(abs(lows), abs(highs)) / 64)[normal].all()


def test_integers_of_a_small_range_far_from_zero_have_narrow_buckets():
    times = np.arange(1_600_000_000, 1_700_000_000, 9973)
    lows, highs, _ = histogram(times).filled()
    assert (highs - lows < 5000).all()
