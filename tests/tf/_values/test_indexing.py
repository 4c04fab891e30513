"""Elements by index, mask or order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import tf

MATRIX = tf.constant(np.arange(6).reshape(2, 3))


def test_gather_takes_rows_or_columns() -> None:
    assert tf.gather(["a", "b"], [[1], [0]]).numpy().tolist() == [[b"b"], [b"a"]]
    assert tf.gather(MATRIX, [2, 0], axis=1).numpy().tolist() == [[2, 0], [5, 3]]


def test_slice_and_mask_select_parts() -> None:
    assert tf.slice(MATRIX, [0, 1], [-1, 2]).numpy().tolist() == [[1, 2], [4, 5]]
    assert tf.boolean_mask(MATRIX, [False, True]).numpy().tolist() == [[3, 4, 5]]
    assert tf.boolean_mask(MATRIX, [True, False, True], axis=1).numpy().tolist() == [[0, 2], [3, 5]]


def test_where_chooses_or_gives_the_indices() -> None:
    assert tf.where([True, False], [1, 2], [3, 4]).numpy().tolist() == [1, 4]
    assert tf.where([True, False], "x", "").numpy().tolist() == [b"x", b""]
    assert tf.where(MATRIX > 3).numpy().tolist() == [[1, 1], [1, 2]]


@given(st.lists(st.integers(-9, 9), max_size=12))
def test_sorting_is_pythons_and_stable_in_both_directions(numbers: list[int]) -> None:
    array = np.array(numbers, np.int32)
    for direction, reverse in (("ASCENDING", False), ("DESCENDING", True)):
        assert tf.sort(array, direction=direction).numpy().tolist() == sorted(numbers, reverse=reverse)
        order = sorted(range(len(numbers)), key=lambda i: numbers[i], reverse=reverse)
        assert tf.argsort(array, direction=direction, stable=True).numpy().tolist() == order


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=10))
def test_unique_elements_and_their_indices_give_the_whole(strings: list[str]) -> None:
    array = np.array([text.encode() for text in strings], object)
    distinct, indices = tf.unique(array)
    assert distinct.numpy().tolist() == list(dict.fromkeys(array.tolist()))
    assert distinct.numpy()[indices.numpy()].tolist() == array.tolist()


def test_reverse_and_sequence_mask() -> None:
    assert tf.reverse(MATRIX, [1]).numpy().tolist() == [[2, 1, 0], [5, 4, 3]]
    assert tf.sequence_mask([1, 3], 3).numpy().tolist() == [[True, False, False], [True, True, True]]
    assert tf.sequence_mask([0, 2], dtype=tf.int32).numpy().tolist() == [[0, 0], [1, 1]]


WRONG: list[tuple[Any, str]] = [
    (lambda: tf.gather([1, 2], [0, 5]), r"indices\[1\] = 5 is not in \[0, 2\)"),
    (lambda: tf.slice(MATRIX, [0, 0], [3, 1]), r"Expected size\[0\] in \[0, 2\], but got 3"),
    (lambda: tf.where(True), "Unhandled input dimensions: 0"),
    (lambda: tf.unique(MATRIX), "unique expects a 1D vector"),
    (lambda: tf.where([True, False], [1, 2, 3], [4, 5, 6]), "must be broadcastable"),
]


@pytest.mark.parametrize(("program", "text"), WRONG, ids=[text for _, text in WRONG])
def test_what_tensorflow_refuses_is_refused(program: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        program()
