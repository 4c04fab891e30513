"""Statistics of numbers equal those of plain Python, whether all values are kept or not."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.tools.inspect.number_statistics import NumberStatistics, NumberSummary
from tests.support.strategies import float32s, int64s

arrays = st.lists(float32s, max_size=60).map(lambda numbers: np.array(numbers, np.float32)) | st.lists(
    int64s, max_size=60
).map(lambda numbers: np.array(numbers, np.int64))


def summary(*parts: np.ndarray, most: int = 1000) -> NumberSummary:
    whole = NumberStatistics(parts[0].dtype, most)
    for part in parts:
        one = NumberStatistics(part.dtype, most)
        one.add(part)
        whole.merge(one)
    return whole.summary()


def check(found: NumberSummary, numbers: list[float]) -> None:
    finite = sorted(number for number in numbers if math.isfinite(number))
    assert found.count == len(numbers)
    assert found.nan == sum(map(math.isnan, numbers))
    assert (found.positive_infinities, found.negative_infinities) == (
        numbers.count(math.inf),
        numbers.count(-math.inf),
    )
    assert found.zeros == finite.count(0)
    assert sum(count for _, _, count in found.histogram) == len(finite)
    if not finite:
        assert (found.minimum, found.maximum, found.mean, found.deviation) == (None,) * 4
        assert found.quantiles == ()
        return
    assert (found.minimum, found.maximum) == (finite[0], finite[-1])
    mean = sum(map(Fraction, finite)) / len(finite)
    assert found.mean == float(mean)
    variance = sum((Fraction(number) - mean) ** 2 for number in finite) / len(finite)
    assert math.isclose(found.deviation, math.sqrt(variance), rel_tol=1e-15)
    for quantile in found.quantiles:
        rank = math.ceil(round(quantile.share * 100) * len(finite) / 100)
        assert quantile.low <= finite[rank - 1] <= quantile.high
        assert not found.exact or quantile.low == quantile.high == quantile.value
    for low, high, count in found.histogram[:-1]:
        assert sum(low <= float(number) < high for number in finite) == count


@given(arrays)
def test_all_is_exact_while_values_are_kept(numbers):
    found = summary(numbers)
    check(found, numbers.tolist())
    finite = Counter(number for number in numbers.tolist() if math.isfinite(number))
    assert found.distinct == len(finite)
    most = sorted((-count, number) for number, count in finite.items())[:10]
    assert [(-count, number) for number, count in found.most_frequent] == most


@given(arrays)
def test_counts_extremes_and_means_stay_exact_beyond(numbers):
    found = summary(numbers, most=5)
    check(found, numbers.tolist())
    if not found.exact:
        assert found.most_frequent == ()
        assert len({number for number in numbers.tolist() if math.isfinite(number)}) > 5


@given(arrays, st.integers(1, 6), st.sampled_from([3, 20, 1000]))
def test_parts_and_order_change_nothing(numbers, parts, most):
    whole = NumberStatistics(numbers.dtype, most)
    whole.add(numbers)
    assert summary(*np.array_split(numbers[::-1], parts), most=most) == whole.summary()


@pytest.mark.parametrize("most", [10, 1000])
def test_a_number_may_be_added_many_times_at_once(most):
    once, often = NumberStatistics(np.int64, most), NumberStatistics(np.int64, most)
    for number in (1, 1 << 40, 7, *range(0, 10**9, 10**8)):
        once.add(np.full(1000, number))
        often.add_repeated(number, 1000)
    assert once.summary() == often.summary()


def test_the_summary_can_be_asked_for_in_between():
    statistics = NumberStatistics(np.float32, 10)
    for number in range(30):
        statistics.add(np.float32([number]))
        check(statistics.summary(), [float(value) for value in range(number + 1)])
