"""``tf.data``: windows, groups, buckets, scans and unique elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import tf
from tests.support.facade_datasets import values

Dataset = tf.data.Dataset
SMALL = st.integers(1, 4)


@given(st.integers(0, 12), SMALL, SMALL, SMALL, st.booleans())
def test_windows_are_slices(length: int, size: int, shift: int, stride: int, drop: bool) -> None:
    numbers = list(range(length))
    expected = [numbers[begin:][::stride][:size] for begin in range(0, length, shift)]
    if drop:
        expected = [window for window in expected if len(window) == size]
    windows = Dataset.range(length).window(size, shift, stride, drop_remainder=drop)
    assert [values(window) for window in windows] == expected
    assert len(windows) == len(expected)


def test_window_of_a_structure_is_a_structure_of_datasets() -> None:
    (window,) = Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]}).window(2)
    assert values(window["a"]) == [1, 2]
    assert [element.numpy() for element in window["b"]] == [b"x", b"y"]
    assert repr(Dataset.range(3).window(2).element_spec).startswith("DatasetSpec(TensorSpec(shape=()")


def test_groups_are_complete_first_and_the_rest_comes_by_key() -> None:
    grouped = Dataset.range(7).group_by_window(lambda x: 1 - x % 2, lambda key, group: group.batch(3), 3)
    assert values(grouped) == [[0, 2, 4], [1, 3, 5], [6]]
    assert grouped.element_spec == tf.TensorSpec([None], tf.int64)


def test_buckets_hold_like_lengths_padded() -> None:
    rows = [[1], [2, 2, 2], [3, 3], [4], [5, 5, 5, 5]]
    dataset = Dataset.from_generator(lambda: iter(rows), tf.int64, [None])
    bucketed = dataset.bucket_by_sequence_length(lambda row: tf.shape(row)[0], [3], [2, 2])
    assert values(bucketed) == [[[1, 0], [3, 3]], [[2, 2, 2, 0], [5, 5, 5, 5]], [[4]]]
    with pytest.raises(ValueError, match="must equal"):
        dataset.bucket_by_sequence_length(len, [3], [2])


def test_scan_carries_its_state() -> None:
    sums = Dataset.range(5).scan(np.int64(0), lambda state, x: (state + x, state + x))
    assert values(sums) == [0, 1, 3, 6, 10]
    assert values(sums) == [0, 1, 3, 6, 10]
    assert sums.element_spec == tf.TensorSpec([], tf.int64)


def test_iteration_goes_on_after_an_error_in_a_window_function() -> None:
    def divide(state: Any, x: Any) -> Any:
        return state, 6 // (x - 1)

    iterator = iter(Dataset.range(4).scan(np.int64(0), divide))
    assert int(next(iterator)) == -6
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        next(iterator)
    assert values(iterator) == [6, 3]


@given(st.lists(st.integers(0, 5), max_size=12))
def test_unique_elements_come_once_in_order(numbers: list[int]) -> None:
    dataset = Dataset.from_tensor_slices(np.array(numbers, np.int64))
    assert values(dataset.unique()) == list(dict.fromkeys(numbers))


def test_unique_takes_integers_and_strings_only() -> None:
    with pytest.raises(TypeError, match="does not support type"):
        list(Dataset.from_tensor_slices([1.5]).unique())
