"""``tf.math``: functions of each element, and reductions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import tf

MATRIX = np.array([[1, -2, 3], [4, 5, -6]], np.int32)
REDUCTIONS = ["sum", "prod", "max", "min"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, 1, -1, [0, 1]], ids=repr)
def test_reductions_are_those_of_numpy(name: str, axis: Any) -> None:
    axes = tuple(axis) if isinstance(axis, list) else axis
    for keepdims in (False, True):
        made = getattr(tf.math, f"reduce_{name}")(MATRIX, axis, keepdims)
        assert np.array_equal(made, getattr(np, name)(MATRIX, axes, keepdims=keepdims))
        assert made.dtype is tf.int32


def test_mean_of_integers_is_an_integer_and_of_nothing_nan() -> None:
    assert tf.reduce_mean([1, 2]).numpy() == 1
    assert tf.reduce_mean([1.0, 2.0]).numpy() == 1.5
    assert np.isnan(tf.reduce_mean(tf.zeros([0])))
    assert tf.reduce_max(tf.zeros([0])).numpy() == -np.inf


def test_booleans_are_reduced_and_combined() -> None:
    assert bool(tf.reduce_any([False, True]))
    assert not bool(tf.reduce_all([False, True]))
    assert tf.math.logical_xor([True, True], [True, False]).numpy().tolist() == [False, True]
    with pytest.raises(tf.errors.InvalidArgumentError, match="was expected to be a bool tensor"):
        tf.logical_not(tf.constant(1))


@given(st.integers(-9, 9), st.integers(-9, 9))
def test_division_without_nan_gives_zero_for_zero(x: int, y: int) -> None:
    made = tf.math.divide_no_nan(np.float32(x), np.float32(y)).numpy()
    assert made == (0 if y == 0 else np.float32(x) / np.float32(y))


def test_values_take_the_dtype_of_the_tensor_beside_them() -> None:
    assert tf.add(tf.constant(1, tf.int64), 2).dtype is tf.int64
    assert tf.maximum(tf.constant([1.0, 5.0]), 3).numpy().tolist() == [3, 5]
    assert tf.clip_by_value([-5, 0, 5], -1, 1).numpy().tolist() == [-1, 0, 1]
    assert tf.add_n([tf.constant(1), tf.constant(2), 3]).numpy() == 6


def test_places_sums_and_counts() -> None:
    assert tf.argmax(MATRIX).numpy().tolist() == [1, 1, 0]
    assert tf.argmin(MATRIX, 1, tf.int32).numpy().tolist() == [1, 2]
    assert tf.cumsum([1, 2, 3]).numpy().tolist() == [1, 3, 6]
    assert tf.cumsum([1, 2, 3], exclusive=True, reverse=True).numpy().tolist() == [5, 3, 0]
    assert tf.math.count_nonzero(["", "a"]).numpy() == 1


def test_halves_are_rounded_to_the_even_number() -> None:
    assert tf.round([0.5, 1.5, -2.5]).numpy().tolist() == [0, 2, -2]
    assert tf.math.floor([-0.5]).numpy().tolist() == [-1]


WRONG: list[tuple[Any, str]] = [
    (lambda: tf.sqrt(4), "not in the list of allowed values"),
    (lambda: tf.reduce_sum(MATRIX, 2), "Invalid reduction dimension"),
    (lambda: tf.reduce_sum(MATRIX, [0, 0]), "duplicate dimension: 0"),
    (lambda: tf.argmax(tf.zeros([0])), "Reduction axis 0 is empty"),
    (lambda: tf.add(tf.constant(1), tf.constant(1.0)), "was expected to be a int32 tensor"),
]


@pytest.mark.parametrize(("program", "text"), WRONG, ids=[text for _, text in WRONG])
def test_what_tensorflow_refuses_is_refused(program: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        program()


def test_squared_difference_of_complex_numbers_is_real() -> None:
    assert tf.math.squared_difference([1 + 2j], [3 - 1j]).numpy().tolist() == [13]
    assert tf.math.squared_difference([1, 5], [3, 2]).numpy().tolist() == [4, 9]


def test_clipping_keeps_the_shape() -> None:
    assert tf.clip_by_value([1, 2, 3], [0, 0, 4], 2).numpy().tolist() == [1, 2, 4]
    with pytest.raises(ValueError, match=r"Shapes \(3,\) and \(2, 3\) are incompatible"):
        tf.clip_by_value([1, 2, 3], [[0], [1]], 5)
