"""What the tests of ``purerecord.tf.data`` ask of a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np


def values(dataset: Any) -> list[Any]:
    """The elements as Python lists and numbers."""
    return [np.asarray(element).tolist() for element in dataset]


def count_calls(dataset: Any) -> tuple[Any, list[int]]:
    """The dataset, and a list to which every computed element is added."""
    calls: list[int] = []
    return dataset.map(lambda x: calls.append(int(x)) or x), calls
