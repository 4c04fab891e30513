"""Long strings are counted, but not compared."""

from __future__ import annotations

from purerecord import BytesColumn
from purerecord.tools.inspect.feature_statistics import LONGEST_COMPARED, BytesStatistics


def test_strings_longer_than_the_bound_are_not_compared():
    statistics = BytesStatistics(10)
    statistics.add(BytesColumn.of([b"x" * LONGEST_COMPARED, b"y" * (LONGEST_COMPARED + 1), b"z", b"z"]))
    found = statistics.summary()
    assert (found.count, found.compared, found.distinct) == (4, 3, 2)
    assert found.most_frequent[0] == (b"z", 2)
    assert found.lengths.maximum == LONGEST_COMPARED + 1


def test_a_batch_of_long_strings_only_leaves_nothing_to_compare():
    statistics = BytesStatistics(10)
    statistics.add(BytesColumn.of([b"x" * 1000]))
    found = statistics.summary()
    assert (found.count, found.compared, found.distinct, found.most_frequent) == (1, 0, 0, ())
