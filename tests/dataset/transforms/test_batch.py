"""Batches and their rows: structures stacked, filled up, taken apart."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import purerecord as pr
from purerecord.dataset import Dataset
from purerecord.dataset.engine.node import Context
from purerecord.dataset.engine.structure import stack, stack_padded
from tests.support.dataset_properties import check, elements

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


def test_padded_batch_in_a_chain():
    dataset = Dataset.range(1, 8).map(lambda n: np.full(n, n)).padded_batch(3, padding_values=-1)
    assert elements(dataset)[0] == [[1, -1, -1], [2, 2, -1], [3, 3, 3]]
    check(dataset)
    assert len(Dataset.range(7).padded_batch(3, drop_remainder=True)) == 2


def test_unbatch_undoes_batch_for_every_structure():
    rows = {"a": np.arange(10), "r": pr.Ragged(np.arange(15), [0, *range(6, 16)])}
    dataset = Dataset.from_tensor_slices(rows)
    assert elements(dataset.map(lambda row: row["a"]).batch(3).unbatch()) == list(range(10))
    batches = Dataset.from_tensor_slices([rows, rows]).unbatch()
    assert elements(batches) == elements(dataset) * 2
    check(batches)


def test_batch_of_nothing_is_nothing():
    assert list(Dataset.range(0).batch(3)) == []
    assert list(Dataset.range(2).batch(3, drop_remainder=True)) == []


def test_unbatch_of_what_is_no_batch_is_an_error():
    with pytest.raises(ValueError, match="no rows"):
        list(Dataset.range(3).unbatch())


def test_padded_batch_holds_what_every_element_holds():
    def batch(*rows):
        (only,) = Dataset.from_generator(lambda: iter(rows)).padded_batch(len(rows))
        return only.tolist()

    assert batch(np.array([1, 2]), np.array([1.5])) == [[1.0, 2.0], [1.5, 0.0]]
    assert batch(np.array([1], np.int8), np.array([300])) == [[1], [300]]
    assert batch(np.array([b"a"]), np.array([b"a", b"bcd"])) == [[b"a", b""], [b"a", b"bcd"]]


def test_batches_before_an_error_come_before_it():
    def fail_at_five(number):
        if number == 5:
            raise RuntimeError("five")
        return number

    cursor = Dataset.range(12).map(fail_at_five).batch(2)._node.open(Context())
    assert [batch.tolist() for batch in cursor.take(6)] == [[0, 1], [2, 3]]
    with pytest.raises(RuntimeError, match="five"):
        cursor.take(6)
    assert [batch.tolist() for batch in cursor.take(6)] == [[6, 7], [8, 9], [10, 11]]
