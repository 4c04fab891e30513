"""filter: the elements for which a predicate is true."""

from __future__ import annotations

import pytest

from purerecord.dataset import Dataset


def test_elements_are_kept_in_order_and_their_number_is_not_known():
    dataset = Dataset.range(10).filter(lambda number: number % 3 == 0)
    assert list(dataset) == [0, 3, 6, 9]
    with pytest.raises(TypeError, match="not known"):
        len(dataset)


def test_predicate_gets_the_members_of_a_tuple():
    pairs = Dataset.zip(Dataset.range(4), Dataset.range(3, -1, -1))
    assert list(pairs.filter(lambda one, other: one < other)) == [(0, 3), (1, 2)]
