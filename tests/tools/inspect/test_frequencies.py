"""Tables of frequencies are exact up to their bound, and say how wrong they are beyond it."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from purerecord.tools.inspect.frequencies import EXACT_RANGE, BytesTable, NumberTable

words = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"dd"]) | st.binary(max_size=2), max_size=60)


@given(st.lists(st.lists(st.integers(-5, 5) | st.integers(-(2**60), 2**60), max_size=30), max_size=4))
def test_numbers_are_counted(parts):
    table = NumberTable(np.int64, 1000)
    for part in parts:
        assert table.add(np.array(part, np.int64)) == len(part)
    expected = Counter(number for part in parts for number in part)
    assert dict(zip(table.values.tolist(), table.counts.tolist(), strict=True)) == expected
    assert table.values.tolist() == sorted(expected)


def test_a_table_is_full_with_too_many_numbers_unless_their_range_is_small():
    floats = NumberTable(np.float32, 10)
    floats.add(np.arange(10, dtype=np.float32))
    assert not floats.full
    floats.add(np.float32([0.5]))
    assert floats.full
    tokens = NumberTable(np.int64, 10)
    tokens.add(np.arange(EXACT_RANGE))
    assert not tokens.full
    tokens.add(np.array([EXACT_RANGE]))
    assert tokens.full


def test_a_table_stops_adding_numbers_once_it_is_full():
    table = NumberTable(np.float32, 10)
    assert table.add(np.arange(1 << 17, dtype=np.float32)) == 1 << 16


@given(st.lists(words, max_size=5))
def test_strings_are_counted_up_to_the_bound(parts):
    table = BytesTable(most=1000)
    for part in parts:
        table.add(part)
    expected = Counter(word for part in parts for word in part)
    assert table.error == 0
    assert table.distinct == len(expected)
    assert dict(table.most_frequent(1000)) == expected
    found = [(-count, word) for word, count in table.most_frequent(1000)]
    assert found == sorted(found)


@given(st.lists(words, min_size=1, max_size=30), st.integers(1, 3))
def test_beyond_the_bound_counts_are_too_low_by_no_more_than_the_error(parts, most):
    whole = BytesTable(most)
    for part in parts:
        one = BytesTable(most)
        one.add(part)
        whole.merge(one)
    expected = Counter(word for part in parts for word in part)
    found = dict(whole.most_frequent(1000))
    for word, count in expected.items():
        assert count - whole.error <= found.get(word, 0) <= count
    assert whole.distinct in (None, len(expected))
    assert (whole.distinct is None) == (len(expected) > most)
    assert whole.error <= sum(expected.values()) / (most + 1)
