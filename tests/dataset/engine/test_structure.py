"""Structures: stacked, padded, and an error that says where they differ."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import purerecord as pr
from purerecord.dataset.engine.structure import stack, stack_padded

Point = namedtuple("Point", "x y")


def test_structures_are_stacked_part_by_part():
    batch = stack([{"a": 1, "b": (np.ones(2), b"x\0")}, {"a": 2, "b": (np.zeros(2), b"")}])
    assert batch["a"].tolist() == [1, 2]
    assert batch["b"][0].shape == (2, 2)
    assert batch["b"][1].tolist() == [b"x\0", b""]
    assert isinstance(stack([Point(1, 2), Point(3, 4)]), Point)
    assert stack([b"raw", b"records"]) == pr.Records.of([b"raw", b"records"])
    assert stack(["text", "too"]).tolist() == ["text", "too"]


def test_sparse_and_ragged_rows_are_stacked():
    sparse = stack([pr.Sparse([[1]], [5], (2,)), pr.Sparse([[0], [2]], [6, 7], (3,))])
    assert sparse.to_dense().tolist() == [[0, 5, 0], [6, 0, 7]]
    rows = [pr.Ragged([1, 2], [0, 1, 2]), pr.Ragged([3], [0, 0, 1])]
    assert stack(rows).to_list() == [[[1], [2]], [[], [3]]]
    rows[1] = pr.Ragged([3], [0, 0, 1], missing=[True, False])
    assert stack(rows)[1] == rows[1]


@pytest.mark.parametrize(
    ("elements_", "error"),
    [
        ([np.ones(2), np.ones(3)], "padded_batch"),
        ([{"a": 1}, {"b": 1}], "structure"),
        ([(1, 2), (1, 2, 3)], "structure"),
        ([{"a": {"b": np.ones(1)}}, {"a": {"b": np.ones(2)}}], r"\['a'\]\['b'\]"),
    ],
)
def test_what_makes_no_batch_says_where(elements_, error):
    with pytest.raises(ValueError, match=error):
        stack(elements_)


def test_padding_fills_up_to_the_longest_or_to_a_shape():
    rows = [{"a": np.array([1, 2]), "n": b"x"}, {"a": np.array([3]), "n": b"y"}]
    assert stack_padded(rows, None, None)["a"].tolist() == [[1, 2], [3, 0]]
    assert stack_padded(rows, {"a": [4], "n": []}, {"a": -1, "n": None})["a"].tolist() == [
        [1, 2, -1, -1],
        [3, -1, -1, -1],
    ]
    with pytest.raises(ValueError, match="does not fit"):
        stack_padded(rows, {"a": [1], "n": []}, None)
    with pytest.raises(ValueError, match="dimensions"):
        stack_padded(rows, {"a": [1, 1], "n": []}, None)
    words = [np.array([b"a", b"b"], object), np.array([], object)]
    assert stack_padded(words, None, None).tolist() == [[b"a", b"b"], [b"", b""]]


def test_scalars_are_padded_to_a_vector():
    rows = [{"a": np.arange(n), "label": np.int64(n), "rate": 0.5} for n in (1, 3)]
    padded = stack_padded(rows, None, None)
    assert padded["a"].tolist() == [[0, 0, 0], [0, 1, 2]]
    assert padded["label"].tolist() == [1, 3]
    assert padded["rate"].tolist() == [0.5, 0.5]
