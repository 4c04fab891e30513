"""Sources in memory: slices, generators."""

from __future__ import annotations

import numpy as np

import purerecord as pr
from purerecord.dataset import Dataset
from tests.support.dataset_properties import (
    check,
    elements,
)


def test_from_tensor_slices_takes_structures():
    tensors = {
        "a": np.arange(6).reshape(3, 2),
        "b": pr.Ragged([1, 2, 3], [0, 1, 1, 3]),
        "c": [b"x", b"", b"z"],
    }
    rows = elements(Dataset.from_tensor_slices(tensors))
    assert rows[2] == {"a": [4, 5], "b": [2, 3], "c": b"z"}
    check(Dataset.from_tensor_slices(tensors).shuffle(2))


def test_from_generator_is_called_once_an_epoch():
    calls = []

    def generate(count):
        calls.append(count)
        yield from range(count)

    dataset = Dataset.from_generator(generate, args=(4,))
    assert list(dataset) == list(dataset) == [0, 1, 2, 3]
    assert calls == [4, 4]
    check(dataset.shuffle(3))
