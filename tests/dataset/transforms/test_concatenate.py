"""concatenate: one dataset after another."""

from __future__ import annotations

from purerecord.dataset import Dataset


def test_second_follows_the_first():
    dataset = Dataset.range(3).concatenate(Dataset.range(10, 12))
    assert list(dataset) == [0, 1, 2, 10, 11]
    assert len(dataset) == 5


def test_both_can_be_read_in_any_order():
    dataset = Dataset.range(3).concatenate(Dataset.range(10, 12)).global_shuffle(seed=1)
    assert sorted(dataset) == [0, 1, 2, 10, 11]
