"""``tf.sparse``: sparse tensors to dense ones and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from purerecord import tf


@given(arrays.arrays(np.int64, arrays.array_shapes(max_dims=3, max_side=4), elements=st.integers(0, 2)))
def test_dense_tensor_comes_back(array: Any) -> None:
    sparse = tf.sparse.from_dense(array)
    assert len(sparse.values) == np.count_nonzero(array)
    assert np.array_equal(tf.sparse.to_dense(sparse), array)


def test_missing_entries_are_zero_or_the_default() -> None:
    sparse = tf.SparseTensor([[0, 1]], ["a"], [1, 3])
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[b"", b"a", b""]]
    assert tf.sparse.to_dense(sparse, "-").numpy().tolist() == [[b"-", b"a", b"-"]]


def test_entries_are_sorted_and_reshaped() -> None:
    sparse = tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = \[0,1\] is out of order"):
        tf.sparse.to_dense(sparse)
    ordered = tf.sparse.reorder(sparse)
    assert tf.sparse.to_dense(ordered).numpy().tolist() == [[0, 2], [1, 0]]
    assert tf.sparse.to_dense(tf.sparse.reshape(ordered, [4])).numpy().tolist() == [0, 2, 1, 0]


@pytest.mark.parametrize(("indices", "text"), [([[0], [5]], "out of bounds"), ([[1], [1]], "is repeated")])
def test_wrong_indices_are_refused(indices: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.sparse.to_dense(tf.SparseTensor(indices, [1, 2], [3]))
