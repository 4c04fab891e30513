"""``tf.ragged``: ragged tensors of lists and of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import tf


@given(st.lists(st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=3), min_size=1, max_size=3))
def test_nested_lists_come_back(rows: list[Any]) -> None:
    ragged = tf.ragged.constant(rows, tf.int64, ragged_rank=2)
    assert ragged.to_list() == rows
    assert ragged.ragged_rank == 2


def test_rank_limits_the_ragged_dimensions() -> None:
    ragged = tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert ragged.shape.as_list() == [2, None, 2]
    assert tf.ragged.constant([1, 2]).shape == (2,)


def test_tensors_become_rows() -> None:
    ragged = tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])])
    assert ragged.to_list() == [[1, 2], [3]]
    assert ragged.row_splits.numpy().tolist() == [0, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="but is a float32 tensor"):
        tf.ragged.stack([np.array([1]), np.array([1.5], np.float32)])
