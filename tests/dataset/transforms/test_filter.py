"""filter: the elements for which a predicate is true."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from purerecord.dataset import Dataset, TFRecordDataset
from tests.support.dataset_properties import write_files


def test_elements_are_kept_in_order_and_their_number_is_not_known():
    dataset = Dataset.range(10).filter(lambda number: number % 3 == 0)
    assert list(dataset) == [0, 3, 6, 9]
    with pytest.raises(TypeError, match="not known"):
        len(dataset)


def test_predicate_gets_the_members_of_a_tuple():
    pairs = Dataset.zip(Dataset.range(4), Dataset.range(3, -1, -1))
    assert list(pairs.filter(lambda one, other: one < other)) == [(0, 3), (1, 2)]


def ambiguous(number: int) -> Any:
    return np.array([1, 2]) if number == 3 else number % 2


def test_an_element_whose_predicate_fails_has_a_place():
    dataset = Dataset.range(8).filter(ambiguous)
    got = []
    iterator = iter(dataset)
    for _ in range(4):
        try:
            got.append(next(iterator))
        except ValueError as error:
            got.append(error.__notes__)
    assert got == [1, ["filter(ambiguous): element 3 of epoch 0"], 5, 7]


def fail_at(bad: int, record: bytes) -> bytes:
    if int(record) == bad:
        raise RuntimeError(record)
    return record


def test_behind_an_element_that_failed_origins_are_right(tmp_path):
    (path,) = write_files(tmp_path, [9])
    dataset = TFRecordDataset(path).map(partial(fail_at, 3)).filter(len).map(partial(fail_at, 7))
    iterator, notes = iter(dataset), []
    for _ in range(9):
        try:
            next(iterator)
        except RuntimeError as error:
            notes += error.__notes__
    assert notes == [f"map(partial): {path}: record {number}" for number in (3, 7)]
