"""Operators and slices of tensors: no promotion, and TensorFlow's errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import tf

NONZERO = st.integers(-50, 50).filter(bool)


@given(st.integers(-50, 50), NONZERO)
def test_integers_are_divided_as_in_python(x: int, y: int) -> None:
    one, two = tf.constant(x), tf.constant(y)
    assert (one // two).numpy() == x // y
    assert (one % two).numpy() == x % y
    assert (one / two).dtype is tf.float64
    assert (one / two).numpy() == x / y
    assert (tf.constant(float(x)) % float(y)).numpy() == float(x) % float(y)


def test_other_operand_takes_the_dtype_of_the_tensor() -> None:
    assert (tf.constant([1.5, 2]) + 1).numpy().tolist() == [2.5, 3]
    assert (3 - tf.constant([1, 2], tf.int8)).dtype is tf.int8
    assert (np.ones(2, np.int32) + tf.constant([1, 2])).numpy().tolist() == [2, 3]
    assert (tf.constant("a") + "b").numpy() == b"ab"


def test_integers_wrap_around() -> None:
    assert (tf.constant(127, tf.int8) + tf.constant(1, tf.int8)).numpy() == -128


WRONG: list[tuple[Any, str]] = [
    (lambda: tf.constant(1) + tf.constant(1.5), "was expected to be a int32 tensor but is a float tensor"),
    (lambda: tf.constant([1, 2]) + tf.constant([1, 2, 3]), r"Incompatible shapes: \[2\] vs. \[3\]"),
    (lambda: tf.constant(1) // 0, "division by zero"),
    (lambda: tf.constant(2) ** tf.constant(-1), "negative integer powers"),
    (lambda: -tf.constant([True]), "not in the list of allowed values"),
    (lambda: tf.constant([1])[3], "slice index 3 of dimension 0 out of bounds"),
    (lambda: tf.constant(1)[0], "Attempting to slice scalar input"),
    (lambda: tf.constant([1])[0, 0], "Index out of range"),
    (lambda: tf.constant([1])[::0], "must be non-zero"),
]


@pytest.mark.parametrize(("program", "text"), WRONG, ids=[text for _, text in WRONG])
def test_what_tensorflow_refuses_is_refused(program: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        program()


def test_unequal_shapes_and_none_are_not_equal() -> None:
    assert not tf.constant([1, 2]) == tf.constant([1, 2, 3])  # noqa: SIM201 - the operator is tested
    assert (tf.constant(1) == None) is False  # noqa: E711 - the operator is tested
    assert (tf.constant([1, 2]) == [1, 3]).numpy().tolist() == [True, False]


KEYS = [1, -1, slice(1, None), slice(None, None, -1), (0, 1), (..., 0), (None, 0), (slice(1), None, 1)]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_slices_are_those_of_numpy(key: Any) -> None:
    array = np.arange(6).reshape(2, 3)
    assert np.array_equal(tf.constant(array)[key], array[key])


def test_mask_selects_and_a_list_of_indices_is_refused() -> None:
    tensor = tf.constant([1, 2, 3])
    assert tensor[tensor > 1].numpy().tolist() == [2, 3]
    with pytest.raises(TypeError, match="Only integers, slices"):
        tensor[[0.5]]
