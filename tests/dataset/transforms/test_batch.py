"""Batches and their rows: structures stacked, filled up, taken apart."""

from __future__ import annotations

import numpy as np
import pytest

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from purerecord.dataset.engine.node import Context
from tests.support.dataset_properties import check, elements, write_files


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
    def break_at_five():
        yield from range(5)
        raise RuntimeError("five")

    node = Dataset.from_generator(break_at_five).prefetch(1).batch(2)._node
    cursor = node.open(Context())
    assert [batch.tolist() for batch in cursor.take(6)] == [[0, 1], [2, 3]]
    state = cursor.state()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="five"):
            cursor.take(6)
        cursor = node.open(Context())
        cursor.restore(state)


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_batches_of_raw_records_are_records(compression, tmp_path):
    files = write_files(tmp_path, [5, 0, 12, 30], compression)
    assert all(isinstance(batch, pr.Records) for batch in TFRecordDataset(files).shuffle(3).batch(4))
