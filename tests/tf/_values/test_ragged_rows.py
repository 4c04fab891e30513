"""Rows of different lengths, as arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.payload.ragged import Ragged
from purerecord.tf._values import ragged_rows, segments
from purerecord.tf.errors import InvalidArgumentError

lengths = st.lists(st.integers(0, 3), min_size=1, max_size=4)


def rows_of(sizes: list[int]) -> Ragged:
    return Ragged(np.arange(sum(sizes)), np.cumsum([0, *sizes]))


@given(lengths, lengths)
def test_joined_rows_are_those_of_the_parts(one, two):
    joined = ragged_rows.joined([rows_of(one), rows_of(two)])
    assert joined.to_list() == rows_of(one).to_list() + rows_of(two).to_list()


@given(lengths)
def test_column_is_repeated_for_every_value_of_its_row(sizes):
    rows = rows_of(sizes)
    column = np.arange(len(sizes))[:, None]
    _, repeated = ragged_rows.aligned(rows, column)
    assert repeated.to_list() == [[row] * size for row, size in enumerate(sizes)]


@given(lengths)
def test_sums_of_rows_and_columns_are_those_of_lists(sizes):
    rows = rows_of(sizes)
    down = ragged_rows.reduced(rows, 0, segments.total, lambda array, axis: array.sum(axis))
    across = ragged_rows.reduced(rows, 1, segments.total, lambda array, axis: array.sum(axis))
    lists = rows.to_list()
    assert across.tolist() == [sum(row) for row in lists]
    assert down.tolist() == [sum(row[i] for row in lists if i < len(row)) for i in range(max(sizes))]


def test_rows_that_differ_in_length_cannot_be_aligned():
    with pytest.raises(InvalidArgumentError, match="Unable to broadcast"):
        ragged_rows.aligned(rows_of([1, 2]), rows_of([2, 1]))
