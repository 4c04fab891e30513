"""Datasets: what holds for every chain, epochs, lengths, pickles, states, arguments."""

from __future__ import annotations

import pickle

import pytest

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from tests.support.dataset_properties import CHAINS, check, elements, numbered, odd, saved, write_files

TOTAL = 47


@pytest.fixture(params=["", "GZIP"])
def files(request, tmp_path):
    return write_files(tmp_path, [5, 0, 12, 30], request.param)


@pytest.mark.parametrize("name", CHAINS)
def test_every_chain_is_dealt_out_once_and_goes_on_where_it_stopped(name, tmp_path):
    check(CHAINS[name](TFRecordDataset(write_files(tmp_path, [5, 0, 12, 30]))), every=9)


@pytest.mark.light(4)
@pytest.mark.parametrize("name", ["records", "batch", "shuffle", "unbatch", "filter", "repeat", "prefetch"])
def test_chains_over_compressed_files_too(name, tmp_path):
    check(CHAINS[name](TFRecordDataset(write_files(tmp_path, [5, 0, 12, 30], "GZIP"))), every=9)


@pytest.mark.light(3)
@pytest.mark.parametrize("chain", ["records", "batch", "shuffle", "shuffle twice", "filter", "repeat"])
def test_large_records_are_passed_over_unread_with_the_same_result(chain, tmp_path):
    check(CHAINS[chain](TFRecordDataset(write_files(tmp_path, [3, 9], size=40_000)).map(_number)), every=3)


def _number(record: bytes) -> bytes:
    return record.rstrip(b"\0")


def test_every_loop_is_an_epoch_that_is_shuffled_anew(files):
    dataset = TFRecordDataset(files).shuffle(20, seed=5)
    epochs = [list(dataset) for _ in range(3)]
    assert all(sorted(epoch) == sorted(numbered(TOTAL)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]
    assert list(dataset.iterator(1)) == epochs[1]
    same = TFRecordDataset(files).shuffle(20, seed=5, reshuffle_each_iteration=False)
    assert list(same) == list(same)
    assert list(TFRecordDataset(files).shuffle(20, seed=6)) != epochs[0]


def test_a_loop_after_a_resumed_one_is_the_next_epoch(files):
    dataset = TFRecordDataset(files).shuffle(20)
    iterator = dataset.iterator(4)
    next(iterator)
    other = TFRecordDataset(files).shuffle(20)
    resumed = iter(other)
    resumed.load_state_dict(saved(iterator))
    list(resumed)
    assert iter(other).epoch == 5


def test_repr_shows_the_chain():
    chain = Dataset.range(5).shuffle(3, seed=1).batch(2).map(len, 2).prefetch(1).repeat()
    assert repr(chain) == (
        "<range(0, 5).shuffle(3, seed=1).batch(2).map(len, num_parallel_calls=2).prefetch(1).repeat()>"
    )


def test_length_is_known_or_an_error_that_says_why(files):
    dataset = TFRecordDataset(files)
    assert len(dataset.batch(10)) == 5
    assert len(dataset.batch(10, drop_remainder=True)) == 4
    assert len(dataset.shard(3, 2).take(100)) == 15
    assert len(dataset.repeat(2).skip(4)) == 2 * TOTAL - 4
    assert len(dataset.repeat().take(7)) == 7
    with pytest.raises(TypeError, match="never ends"):
        len(dataset.repeat())
    with pytest.raises(TypeError, match="not known"):
        len(dataset.filter(odd))


def test_dataset_travels_in_a_pickle_without_open_files(files):
    dataset = TFRecordDataset(files).shuffle(5).batch(2).map(len)
    iterator = iter(dataset)
    next(iterator)
    copy = pickle.loads(pickle.dumps(dataset))
    assert elements(copy.iterator(0)) == elements(dataset.iterator(0))


def test_state_of_another_dataset_is_refused(files):
    state = saved(iter(TFRecordDataset(files).batch(2)))
    with pytest.raises(ValueError, match="another dataset"):
        iter(TFRecordDataset(files).batch(3)).load_state_dict(state)
    with pytest.raises(ValueError, match="version"):
        iter(TFRecordDataset(files).batch(2)).load_state_dict({**state, "purerecord": 99})


def test_state_that_goes_beyond_the_data_is_refused(files):
    with pytest.raises(ValueError, match="not what it was"):
        iter(TFRecordDataset(files)).load_state_dict({"epoch": 0, "position": 1000})


def test_epoch_and_position_are_a_state_too(files):
    dataset = TFRecordDataset(files).shuffle(9).batch(2)
    iterator = iter(dataset)
    iterator.load_state_dict({"epoch": 3, "position": 8})
    assert elements(iterator) == elements(dataset.iterator(3))[8:]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: TFRecordDataset([], on_error="ignore"), "on_error"),
        (lambda: Dataset.range(3).batch(0), "batch_size"),
        (lambda: Dataset.range(3).shuffle(0), "buffer_size"),
        (lambda: Dataset.range(3).shard(2, 2), "index"),
        (lambda: Dataset.sample([Dataset.range(3)], [1, 2]), "weights"),
        (lambda: Dataset.sample([Dataset.range(3)], [0]), "weights"),
        (lambda: Dataset.range(3).iterator(rank=3, world_size=3), "rank"),
        (lambda: Dataset.range(3).iterator(-1), "counted from 0"),
        (lambda: Dataset.range(3).iterator(even="odd"), "even"),
        (lambda: Dataset.from_tensor_slices({"a": [1, 2], "b": [1]}), "same number of rows"),
    ],
)
def test_impossible_arguments_are_errors(make, error):
    with pytest.raises(ValueError, match=error):
        make()


def test_closed_iterator_says_so(files):
    iterator = iter(TFRecordDataset(files))
    iterator.close()
    with pytest.raises(pr.ClosedError):
        next(iterator)
