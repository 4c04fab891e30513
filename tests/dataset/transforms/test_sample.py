"""sample: datasets drawn by weight."""

from __future__ import annotations

from collections import Counter

from purerecord.dataset import Dataset


def test_sample_follows_its_weights():
    parts = [Dataset.from_tensor_slices([name]).repeat() for name in "ab"]
    drawn = Counter(Dataset.sample(parts, [1, 3], seed=1).take(4000))
    assert 2800 < drawn["b"] < 3200
    ends = Dataset.sample([Dataset.range(3), Dataset.range(50)], seed=1, stop_on_empty_dataset=True)
    assert len(list(ends)) < 30


def test_length_of_a_sample_leaves_out_what_is_never_drawn():
    dataset = Dataset.sample([Dataset.range(5), Dataset.range(7), Dataset.range(2).repeat()], [1, 0, 0])
    assert len(dataset) == len(list(dataset)) == 5
