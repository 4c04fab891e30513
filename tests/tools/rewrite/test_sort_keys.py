"""The keys that records are ordered by: numbers, strings, NaN, and nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import BytesColumn, Records, SchemaError, encode_example
from purerecord.tools.rewrite.sort_keys import FeatureOrder, RandomOrder, SortKeys, joined_keys, order_of
from tests.support.strategies import float32s, int64s

lists = st.one_of(
    st.lists(st.one_of(st.none(), int64s)),
    st.lists(st.one_of(st.none(), float32s)),
    st.lists(st.one_of(st.none(), st.binary(max_size=3))),
)


def encoded(values):
    return Records.of([encode_example({} if value is None else {"x": value}) for value in values])


def order(values, *, descending):
    places = np.arange(len(values), dtype=np.int64)
    keys = FeatureOrder("x", descending).keys(encoded(values), places)
    return order_of(keys, places, descending=descending).tolist()


@given(lists, st.booleans())
def test_order_is_that_of_the_values_and_stable(values, descending):
    numbers = range(len(values))
    nan = [n for n in numbers if isinstance(values[n], float) and math.isnan(values[n])]
    missing = [n for n in numbers if values[n] is None]
    rest = sorted({*numbers} - {*nan, *missing})
    expected = sorted(rest, key=values.__getitem__, reverse=descending) + nan + missing
    assert order(values, descending=descending) == expected


def test_feature_without_a_kind_or_an_empty_one_counts_as_missing():
    records = Records.of([encode_example(row) for row in ({"x": []}, {"x": 2}, {}, {"x": 1})])
    places = np.arange(4, dtype=np.int64)
    keys = FeatureOrder("x", descending=False).keys(records, places)
    assert order_of(keys, places, descending=False).tolist() == [3, 1, 0, 2]


@pytest.mark.parametrize(
    ("values", "record", "reason"),
    [
        ([1, [1, 2]], 1, "it has 2 values; records are sorted by one value each"),
        ([1, "a"], 1, "it holds bytes and int64, which have no common order"),
        ([0.5, None, 1], 2, "it holds float32 and int64"),
    ],
)
def test_values_without_an_order_are_an_error(values, record, reason):
    with pytest.raises(SchemaError, match=reason) as error:
        order(values, descending=False)
    assert (error.value.record, error.value.feature) == (record, "x")


def test_random_order_follows_from_the_place():
    records, places = encoded(range(10)), np.arange(10, dtype=np.int64)
    keys = RandomOrder(1).keys(records, places)
    assert sorted(order_of(keys, places, descending=False).tolist()) == list(range(10))
    later = RandomOrder(1).keys(records[5:], places[5:])
    assert later.numbers.tolist() == keys.numbers[5:].tolist()


def test_keys_of_parts_are_joined_though_one_has_no_values():
    texts = BytesColumn.of([b"b", b"a"])
    some = SortKeys(np.zeros(2, np.uint8), np.zeros(2, np.uint64), texts, 1)
    none = SortKeys(np.full(1, 2, np.uint8), np.zeros(1, np.uint64), None, 0)
    joined = joined_keys([none, some])
    assert joined.texts == [b"", b"b", b"a"]
    assert order_of(joined, np.array([7, 8, 9]), descending=True).tolist() == [1, 2, 0]
