"""``RaggedTensor`` and ``SparseTensor`` around the core's types."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord import tf
from purerecord.payload.ragged import Ragged
from purerecord.payload.sparse import Sparse
from purerecord.tf._values.ragged_sparse import unwrap, wrap


def test_core_types_are_wrapped_and_unwrapped_without_a_copy():
    array, ragged = np.arange(3), Ragged([1, 2], [0, 2])
    sparse = Sparse([[0]], [7], (2,))
    assert unwrap(wrap(array)) is array
    assert unwrap(wrap(ragged)) is ragged
    assert unwrap(wrap(sparse)) is sparse
    assert wrap(b"a\0").numpy() == b"a\0"
    assert unwrap("anything else") == "anything else"
    assert isinstance(wrap(ragged), tf.RaggedTensor)
    assert isinstance(wrap(sparse), tf.SparseTensor)


def test_row_lengths_are_those_of_the_dimension():
    ragged = tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]]])
    assert ragged.row_lengths(0).numpy() == 3
    assert ragged.row_lengths().numpy().tolist() == [2, 0, 1]
    assert ragged.row_lengths(2).to_list() == ragged.row_lengths(-1).to_list() == [[1, 2], [], [3]]
    uniform = tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert uniform.row_lengths(2).to_list() == [[2], [2, 2]]
    with pytest.raises(ValueError, match="axis=3 out of bounds"):
        ragged.row_lengths(3)
