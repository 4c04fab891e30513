"""``tf.data``: batches, padded batches and their rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord import tf
from tests.support.facade_datasets import values

Dataset = tf.data.Dataset


def test_strings_keep_trailing_zero_bytes_all_the_way() -> None:
    strings = [b"a\0", b"", b"\0\0"]
    dataset = Dataset.from_tensor_slices(strings).shuffle(1).cache().batch(2).unbatch().map(lambda s: s)
    assert [element.numpy() for element in dataset] == strings


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 7))
def test_batches_come_apart_again(numbers: list[int], size: int) -> None:
    dataset = Dataset.from_tensor_slices(np.array(numbers, np.int64))
    assert values(dataset.batch(size).unbatch()) == numbers
    whole = len(numbers) // size * size
    assert values(dataset.batch(size, drop_remainder=True).unbatch()) == numbers[:whole]
    assert len(dataset.batch(size)) == len(list(dataset.batch(size)))


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=1, max_size=8))
def test_padding_is_what_a_ragged_tensor_gives(rows: list[list[int]]) -> None:
    dataset = Dataset.from_generator(lambda: iter(rows), tf.int64, [None])
    (batch,) = dataset.padded_batch(len(rows), padding_values=np.int64(-1))
    assert batch.numpy().tolist() == pr.Ragged.from_rows(rows, np.int64).to_dense(-1).tolist()
