"""Shuffling: draws that never change, windows that hold what they should."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from purerecord.dataset.transforms.shuffle import PERMUTATION, WINDOW, Draws
from tests.support.dataset_properties import check, double, elements, numbered, odd, saved, write_files


def test_draws_are_the_same_in_every_version_and_on_every_machine():
    """States and ranks rely on it: a change here is a change of the format."""
    assert Draws(7, 3, WINDOW).below(1000, 5).tolist() == [975, 884, 231, 731, 405]
    assert Draws(7, 3, PERMUTATION).order(8).tolist() == [1, 6, 2, 4, 3, 0, 5, 7]


def test_draws_can_begin_anywhere():
    whole = Draws(1, 0, WINDOW).below(50, 100)
    assert Draws(1, 0, WINDOW, 37).below(50, 63).tolist() == whole[37:].tolist()
    assert 0 <= whole.min() <= whole.max() < 50


@pytest.mark.parametrize("other", [(2, 0, WINDOW), (1, 1, WINDOW), (1, 0, PERMUTATION), (-1, 0, WINDOW)])
def test_seed_epoch_and_purpose_all_matter(other):
    assert Draws(1, 0, WINDOW).below(1 << 30, 5).tolist() != Draws(*other).below(1 << 30, 5).tolist()


@given(size=st.integers(0, 80), window=st.integers(1, 90), seed=st.integers(-(1 << 40), 1 << 70))
def test_window_gives_every_element_once_and_none_before_its_time(size, window, seed):
    order = list(Dataset.range(size).shuffle(window, seed))
    assert sorted(order) == list(range(size))
    # The element at a place must have been in the window by then.
    assert all(number < place + window for place, number in enumerate(order))


@given(size=st.integers(0, 300), window=st.integers(1, 60), stop=st.integers(0, 300), block=st.integers(1, 7))
def test_window_goes_on_anywhere(size, window, stop, block):
    dataset = Dataset.range(size).shuffle(window, 5).batch(block)
    iterator = dataset.iterator(2)
    begin = elements(iterator, stop)
    other = dataset.iterator(0)
    other.load_state_dict(saved(iterator))
    assert begin + elements(other) == elements(dataset.iterator(2))


def test_state_does_not_reach_back_further_than_the_window_needs():
    iterator = iter(Dataset.range(20_000).shuffle(100))
    elements(iterator, 15_000)
    state = iterator.state_dict()["cursor"]
    assert 15_000 - state["start"] < 3_000


def test_shuffled_elements_spread_evenly():
    """Over many epochs every element comes first about equally often."""
    dataset = Dataset.range(10).global_shuffle(3)
    firsts = np.bincount([next(dataset.iterator(epoch)) for epoch in range(2000)], minlength=10)
    assert 150 < firsts.min() <= firsts.max() < 250
    window = Dataset.range(10).shuffle(10, 3)
    firsts = np.bincount([next(window.iterator(epoch)) for epoch in range(2000)], minlength=10)
    assert 150 < firsts.min() <= firsts.max() < 250


def test_state_of_a_larger_dataset_is_refused():
    state = saved(iter(Dataset.range(10).global_shuffle()))
    state["chain"] = "range(0, 9).global_shuffle()"
    with pytest.raises(ValueError, match="10"):
        iter(Dataset.range(9).global_shuffle()).load_state_dict(state)


def test_global_shuffle_is_a_permutation_and_needs_no_index_file(tmp_path):
    files = write_files(tmp_path, [5, 0, 12, 30])
    dataset = TFRecordDataset(files).global_shuffle(seed=1)
    whole = check(dataset.batch(4), every=5)
    records = [record for batch in whole for record in batch]
    assert sorted(records) == sorted(numbered(47))
    assert records != numbered(47)
    assert list(dataset.iterator(1)) == records
    assert list(dataset.iterator(2)) != records
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".index")]
    check(TFRecordDataset(files).map(double).skip(3).shard(2, 1).global_shuffle(seed=1))


def test_global_shuffle_of_a_compressed_file_says_what_to_do(tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, [20], "GZIP"))
    with pytest.raises(OSError, match="block_size"):
        list(dataset.global_shuffle())
    assert sorted(dataset.cache().global_shuffle()) == sorted(numbered(20))
    with pytest.raises(ValueError, match="directly after the source"):
        list(dataset.filter(odd).global_shuffle())


def test_blocked_gzip_can_be_shuffled_globally(tmp_path):
    path = str(tmp_path / "blocked.gz")
    with pr.TFRecordWriter(path, pr.TFRecordOptions("GZIP", block_size=64)) as writer:
        writer.write_many(numbered(60))
    assert sorted(check(TFRecordDataset(path).global_shuffle(2))) == sorted(numbered(60))
    assert check(TFRecordDataset([path, path])) == numbered(60) * 2
    check(TFRecordDataset(path).shuffle(9).batch(4))


def test_state_is_small_whatever_is_in_the_window(tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, [4000])).shuffle(1000).batch(10).prefetch(2)
    iterator = iter(dataset)
    sizes = [len(str(iterator.state_dict())) for _ in zip(range(300), iterator, strict=False)]
    assert max(sizes) < 700


@pytest.mark.parametrize("steps", [lambda ds: ds, lambda ds: ds.batch(3), lambda ds: ds.prefetch(2)])
def test_a_function_before_shuffle_is_called_only_for_our_elements(steps):
    calls = []

    def count(number):
        calls.append(number)
        return number * 2

    dataset = steps(Dataset.range(60).map(abs).map(count).shuffle(10, seed=2))
    whole = elements(dataset.iterator(0))
    calls.clear()
    for worker in range(4):
        assert elements(dataset.iterator(0, worker=worker, workers=4)) == whole[worker::4]
    assert sorted(calls) == list(range(60))
