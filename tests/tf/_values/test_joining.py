"""Tensors joined, split and repeated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import tf


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_split_parts_join_to_the_whole(sizes: list[int]) -> None:
    whole = np.arange(2 * sum(sizes)).reshape(2, -1)
    parts = tf.split(whole, sizes, axis=1)
    assert [part.shape[1] for part in parts] == sizes
    assert np.array_equal(tf.concat(parts, 1), whole)


def test_stack_and_unstack_are_opposites() -> None:
    rows = [tf.constant([1, 2]), tf.constant([3, 4])]
    for axis in (0, 1, -1):
        again = tf.unstack(tf.stack(rows, axis), axis=axis)
        assert [row.numpy().tolist() for row in again] == [[1, 2], [3, 4]]
    assert tf.stack(["a", b"b\0"]).numpy().tolist() == [b"a", b"b\0"]


def test_number_without_a_tensor_takes_the_dtype_of_the_first_tensor() -> None:
    assert tf.concat([tf.constant([1], tf.int64), [2]], 0).dtype is tf.int64


def test_padding_is_constant_or_mirrored() -> None:
    assert tf.pad([1, 2], [[1, 2]], constant_values=9).numpy().tolist() == [9, 1, 2, 9, 9]
    assert tf.pad(["a"], [[0, 1]]).numpy().tolist() == [b"a", b""]
    assert tf.pad([1, 2, 3], [[2, 0]], "REFLECT").numpy().tolist() == [3, 2, 1, 2, 3]
    assert tf.pad([1, 2, 3], [[2, 0]], "symmetric").numpy().tolist() == [2, 1, 1, 2, 3]


def test_tile_repeats_the_whole_and_repeat_each_element() -> None:
    assert tf.tile([1, 2], [2]).numpy().tolist() == [1, 2, 1, 2]
    assert tf.repeat([1, 2], 2).numpy().tolist() == [1, 1, 2, 2]
    assert tf.repeat([1, 2], [0, 3]).numpy().tolist() == [2, 2, 2]


WRONG: list[tuple[Any, str]] = [
    (lambda: tf.concat([[1], [[1]]], 0), "Ranks of all input tensors should match"),
    (lambda: tf.concat([tf.zeros([2, 1]), tf.zeros([3, 1])], 1), "Dimension 0 in both shapes must be equal"),
    (lambda: tf.concat([tf.zeros([1]), tf.constant([1])], 0), "was expected to be a float tensor"),
    (lambda: tf.split([1, 2, 3], 2), "should evenly divide the split dimension"),
    (lambda: tf.split([1, 2, 3], [1, 1]), "Determined shape must"),
    (lambda: tf.tile([1], [1, 2]), "a vector of length 1 but got length 2"),
    (lambda: tf.pad([1], [[1, 1], [1, 1]]), "must be the rank of inputs"),
]


@pytest.mark.parametrize(("program", "text"), WRONG, ids=[text for _, text in WRONG])
def test_what_tensorflow_refuses_is_refused(program: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        program()


@pytest.mark.parametrize(
    ("paddings", "mode", "text"),
    [
        ([[3, 0]], "REFLECT", "paddings must be less than the dimension size: 3, 0 not less than 3"),
        ([[0, 4]], "SYMMETRIC", "paddings must be no greater than the dimension size: 0, 4 greater than 3"),
        ([[-1, 0]], "REFLECT", "paddings must be non-negative: -1 0"),
        ([[-1, 0]], "CONSTANT", "Paddings must be non-negative: -1 0"),
        ([[1]], "CONSTANT", "paddings must be a matrix with 2 columns"),
    ],
)
def test_padding_that_makes_no_sense_is_refused(paddings: Any, mode: str, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.pad([1, 2, 3], paddings, mode)


def test_number_of_parts_must_be_that_of_the_sizes() -> None:
    assert len(tf.split([1, 2, 3], [1, 2], num=2)) == 2
    for sizes, num in (([1, 2], 3), ([[1, 2]], None), ([-1, -1], None)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.split([1, 2, 3], sizes, num=num)
