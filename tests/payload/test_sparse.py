"""purerecord.payload.sparse: indices, values and a shape, as rows, lists and a dense array."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from purerecord.payload.sparse import Sparse


def var_len() -> Sparse:
    return Sparse([[0, 0], [0, 1], [2, 0]], np.array([5, 6, 7]), (3, 2))


def test_sparse_gives_rows_lists_and_a_dense_form() -> None:
    sparse = var_len()
    assert len(sparse) == 3
    assert sparse.shape == sparse.dense_shape == (3, 2)
    assert sparse.dtype == np.int64
    assert sparse.to_list() == [[5, 6], [], [7]]
    assert [row.to_list() for row in sparse] == [[5, 6], [], [7]]
    assert sparse.to_dense().tolist() == [[5, 6], [0, 0], [7, 0]]
    assert sparse.to_dense(-1).tolist() == [[5, 6], [-1, -1], [7, -1]]
    assert pickle.loads(pickle.dumps(sparse)) == sparse


def test_row_of_a_sparse_is_a_sparse_and_at_last_a_value() -> None:
    sparse = var_len()
    assert sparse[0] == Sparse([[0], [1]], [5, 6], (2,))
    assert sparse[-1] == Sparse([[0]], [7], (2,))
    assert (sparse[0][1], sparse[1][1]) == (6, 0)
    assert sparse[1:] == Sparse([[1, 0]], [7], (2, 2))
    assert sparse[2:1].to_list() == []
    assert Sparse([[1]], [b"x"], (2,))[0] == b""
    with pytest.raises(IndexError):
        sparse[3]
    with pytest.raises(ValueError, match="step 1"):
        sparse[::2]


def test_sparse_of_three_dimensions_nests_its_lists() -> None:
    sparse = Sparse([[0, 1, 0], [1, 0, 0], [1, 0, 1]], [b"a", b"b", b"c"], (2, 2, 2))
    assert sparse.to_list() == [[[], [b"a"]], [[b"b", b"c"], []]]
    assert sparse.to_dense().tolist() == [[[b"", b""], [b"a", b""]], [[b"b", b"c"], [b"", b""]]]


@pytest.mark.parametrize("shape", [(0,), (0, 0), (3, 0), (0, 3, 2)])
def test_sparse_without_values_has_its_shape(shape: tuple[int, ...]) -> None:
    sparse = Sparse([], np.empty(0, np.float32), shape)
    assert sparse.indices.shape == (0, len(shape))
    assert sparse.to_dense().shape == shape
    assert len(sparse) == shape[0] == len(sparse.to_list())


@pytest.mark.parametrize(
    ("indices", "values", "shape"),
    [([[0, 0]], [1, 2], (2, 2)), ([[0]], [1], (2, 2)), ([[0]], [[1]], (2,)), ([], [], ())],
)
def test_arrays_that_do_not_belong_together_are_refused(indices: Any, values: Any, shape: Any) -> None:
    with pytest.raises(ValueError, match="must have"):
        Sparse(indices, np.array(values), shape)


@pytest.mark.parametrize(
    ("indices", "shape", "error"),
    [
        ([[0.5]], (2,), TypeError),
        ([[np.nan]], (2,), TypeError),
        ([["0"]], (2,), TypeError),
        (np.array([[2**63]], np.uint64), (2,), ValueError),
        ([[0]], (-1,), ValueError),
        ([[0]], (1.5,), TypeError),
    ],
)
def test_indices_and_shape_are_integers(indices: Any, shape: Any, error: Any) -> None:
    with pytest.raises(error):
        Sparse(indices, [1], shape)


@pytest.mark.parametrize("index", [-1, 4])
def test_index_outside_of_the_shape_has_no_dense_form(index: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        Sparse([[index]], [1], (4,)).to_dense()


def test_repeated_index_has_no_dense_form() -> None:
    with pytest.raises(ValueError, match="same index"):
        Sparse([[1], [1]], [1, 2], (4,)).to_dense()


def test_sparse_repr_is_short() -> None:
    assert repr(var_len()) == "<Sparse (3, 2) int64: {(0, 0): 5, (0, 1): 6, (2, 0): 7}>"
    long = Sparse(np.arange(100)[:, None], np.arange(100), (100,))
    assert repr(long).endswith("(5,): 5, ... 100 values}>")


def test_sparse_equality() -> None:
    assert var_len() == var_len()
    assert var_len() != Sparse(var_len().indices, var_len().values, (3, 3))
    assert var_len() != [[5, 6], [], [7]]
    with pytest.raises(TypeError):
        hash(var_len())
