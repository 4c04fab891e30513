"""The sums are exact: they equal sums of fractions, for all sizes of numbers together."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.tools.inspect.exact_sums import ExactSum
from tests.support.strategies import int64s

finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
arrays = st.lists(finite, min_size=1, max_size=40).map(
    lambda numbers: np.array(numbers, np.float32)
) | st.lists(int64s, min_size=1, max_size=40).map(lambda numbers: np.array(numbers, np.int64))


def check(sums: ExactSum, numbers: list[float]) -> None:
    mean = sum(map(Fraction, numbers)) / len(numbers)
    variance = sum((Fraction(number) - mean) ** 2 for number in numbers) / len(numbers)
    assert sums.count == len(numbers)
    assert sums.mean == float(mean)
    assert math.isclose(sums.deviation, math.sqrt(variance), rel_tol=1e-15)


@given(arrays)
def test_mean_and_deviation_equal_those_of_fractions(numbers):
    sums = ExactSum()
    sums.add(numbers)
    check(sums, numbers.tolist())


@given(arrays, st.data())
def test_numbers_may_come_with_counts(numbers, data):
    counts = np.array(data.draw(st.lists(st.integers(1, 30), min_size=numbers.size, max_size=numbers.size)))
    sums = ExactSum()
    sums.add_counted(numbers, counts)
    check(sums, np.repeat(numbers, counts).tolist())


@pytest.mark.parametrize("size", [1, 8192, 8193, 50_000])
def test_sums_do_not_depend_on_the_blocks(size):
    generator = np.random.default_rng(size)
    numbers = generator.standard_normal(size, np.float32) * np.float32(10.0) ** generator.integers(
        -30, 30, size
    )
    numbers = numbers.astype(np.float32)
    whole, parts = ExactSum(), ExactSum()
    whole.add(numbers)
    for part in np.array_split(numbers[::-1], 7):
        other = ExactSum()
        other.add(part)
        parts.merge(other)
    assert vars(parts) == vars(whole)


def test_a_mean_without_numbers_is_not_a_number():
    assert math.isnan(ExactSum().mean)
    assert math.isnan(ExactSum().deviation)
