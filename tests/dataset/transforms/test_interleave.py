"""interleave: blocks in turn."""

from __future__ import annotations

from purerecord.dataset import Dataset


def test_interleave_takes_blocks_in_turn():
    dataset = Dataset.range(3).interleave(lambda n: Dataset.from_tensor_slices([n] * (n + 2)), 2, 2)
    assert list(dataset) == [0, 0, 1, 1, 1, 2, 2, 2, 2]
