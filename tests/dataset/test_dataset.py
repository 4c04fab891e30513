"""Datasets: chains, epochs, shares and states; what holds for every chain is in ``loading``."""

from __future__ import annotations

import itertools
import os
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from tests.support.damage import flip_byte, frames
from tests.support.dataset_properties import check, elements, numbered, saved, write_files

TOTAL = 47
SPEC = {"id": pr.FixedLenFeature([], np.int64), "x": pr.FixedLenFeature([2], np.float32)}


@pytest.fixture(params=["", "GZIP"])
def files(request, tmp_path):
    return write_files(tmp_path, [5, 0, 12, 30], request.param)


def odd(record: bytes) -> bool:
    return int(record) % 2 == 1


def double(record: bytes) -> bytes:
    return record * 2


CHAINS = {
    "records": lambda ds: ds,
    "batch": lambda ds: ds.batch(4),
    "batch, remainder dropped": lambda ds: ds.batch(4, drop_remainder=True),
    "shuffle": lambda ds: ds.shuffle(10, seed=3),
    "shuffle in a window larger than all": lambda ds: ds.shuffle(100),
    "shuffle of batches": lambda ds: ds.batch(3).shuffle(4),
    "shuffle twice": lambda ds: ds.shuffle(5).shuffle(7).batch(2),
    "unbatch": lambda ds: ds.batch(4).unbatch(),
    "map": lambda ds: ds.map(double),
    "map in threads": lambda ds: ds.shuffle(8).map(double, 2).batch(3),
    "filter": lambda ds: ds.filter(odd),
    "filter, shuffled and batched": lambda ds: ds.filter(odd).shuffle(6).batch(4),
    "repeat": lambda ds: ds.take(11).shuffle(6).repeat(3).batch(4),
    "take and skip": lambda ds: ds.skip(4).take(30),
    "shard": lambda ds: ds.shard(3, 1),
    "cache": lambda ds: ds.cache().batch(3),
    "prefetch": lambda ds: ds.shuffle(5).batch(3).prefetch(2),
    "prefetch of records": lambda ds: ds.prefetch(4),
    "threads and prefetch below batches": lambda ds: ds.map(double, 3).prefetch(2).batch(4).prefetch(1),
    "zip": lambda ds: Dataset.zip(ds, ds.shuffle(5), ds.batch(2)),
    "enumerate": lambda ds: ds.shuffle(4).enumerate(10),
    "concatenate": lambda ds: ds.concatenate(ds.shuffle(9)).batch(5),
    "sample": lambda ds: Dataset.sample([ds, ds.shuffle(5).take(20)], [0.3, 0.7], seed=2),
    "parallel": lambda ds: ds.batch(4).parallel(2),
    "parallel, shuffled before and behind": lambda ds: ds.shuffle(6).batch(3).parallel(3).shuffle(4),
    "interleave": lambda ds: ds.take(7).interleave(lambda r: Dataset.range(int(r)), 3, 2),
}


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


def test_records_come_in_the_order_of_the_files(files):
    assert list(TFRecordDataset(files)) == numbered(TOTAL)
    assert len(TFRecordDataset(files)) == TOTAL


def test_every_loop_is_an_epoch_that_is_shuffled_anew(files):
    dataset = TFRecordDataset(files).shuffle(20, seed=5)
    epochs = [list(dataset) for _ in range(3)]
    assert all(sorted(epoch) == sorted(numbered(TOTAL)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]
    assert list(dataset.iterator(1)) == epochs[1]
    same = TFRecordDataset(files).shuffle(20, seed=5, reshuffle_each_iteration=False)
    assert list(same) == list(same)
    assert list(TFRecordDataset(files).shuffle(20, seed=6)) != epochs[0]


def test_repeat_goes_through_the_same_epochs_as_loops_do(files):
    dataset = TFRecordDataset(files).shuffle(20, seed=5)
    loops = [record for _ in range(3) for record in dataset]
    assert list(dataset.repeat(3)) == loops
    assert list(itertools.islice(dataset.repeat(), 3 * TOTAL)) == loops


def test_a_loop_after_a_resumed_one_is_the_next_epoch(files):
    dataset = TFRecordDataset(files).shuffle(20)
    iterator = dataset.iterator(4)
    next(iterator)
    other = TFRecordDataset(files).shuffle(20)
    resumed = iter(other)
    resumed.load_state_dict(saved(iterator))
    list(resumed)
    assert iter(other).epoch == 5


def test_global_shuffle_is_a_permutation_and_needs_no_index_file(tmp_path):
    files = write_files(tmp_path, [5, 0, 12, 30])
    dataset = TFRecordDataset(files).global_shuffle(seed=1)
    whole = check(dataset.batch(4), every=5)
    records = [record for batch in whole for record in batch]
    assert sorted(records) == sorted(numbered(TOTAL))
    assert records != numbered(TOTAL)
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


def test_parse_after_batch_gives_columns_and_before_it_gives_the_same(tmp_path):
    path = str(tmp_path / "examples")
    columns = {"id": np.arange(10), "x": np.arange(20, dtype=np.float32).reshape(10, 2)}
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(pr.encode_examples(columns))
    whole = check(TFRecordDataset(path).shuffle(4).batch(3).parse(SPEC))
    assert check(TFRecordDataset(path).shuffle(4).parse(SPEC).batch(3)) == whole
    assert check(TFRecordDataset(path).shuffle(4).batch(5).parse(SPEC).unbatch().batch(3)) == whole
    batch = next(iter(TFRecordDataset(path).batch(10).parse(SPEC)))
    assert batch["id"].tolist() == columns["id"].tolist()
    assert batch["x"].dtype == np.float32
    assert batch["x"].shape == (10, 2)


def test_batches_of_raw_records_are_records(files):
    assert all(isinstance(batch, pr.Records) for batch in TFRecordDataset(files).shuffle(3).batch(4))


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


def test_state_is_small_whatever_is_in_the_window(tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, [4000])).shuffle(1000).batch(10).prefetch(2)
    iterator = iter(dataset)
    sizes = [len(str(iterator.state_dict())) for _ in zip(range(300), iterator, strict=False)]
    assert max(sizes) < 700


# Damage


@pytest.fixture
def damaged(tmp_path):
    """Three files; records 3 and 20 have a flipped bit."""
    paths = write_files(tmp_path, [10, 15, 5], size=20)
    for place, number in [(0, 3), (1, 10)]:
        offset = int(pr.build_index(paths[place]).offsets[number])
        Path(paths[place]).write_bytes(flip_byte(Path(paths[place]).read_bytes(), offset + 14))
    return paths


def test_damaged_records_are_skipped_counted_and_reported(damaged):
    dataset = TFRecordDataset(damaged, on_error="skip")
    iterator = iter(dataset)
    assert len(list(iterator)) == 28
    assert iterator.skipped == 2
    assert isinstance(iterator.last_error, pr.ChecksumError)
    assert iterator.last_error.path == damaged[1]
    check(dataset.shuffle(6).batch(3))


def test_damage_is_counted_over_a_resume(damaged):
    dataset = TFRecordDataset(damaged, on_error="skip").shuffle(3)
    iterator = iter(dataset)
    begin = elements(iterator, 18)
    other = iter(dataset)
    other.load_state_dict(saved(iterator))
    assert len(begin + elements(other)) == 28
    assert other.skipped == 2


def test_stop_ends_everything_at_the_first_damage(damaged):
    dataset = TFRecordDataset(damaged, on_error="stop")
    assert len(list(dataset)) == 3
    check(dataset)


def test_raise_names_the_record_and_only_who_takes_it_sees_the_damage(damaged):
    with pytest.raises(pr.ChecksumError) as caught:
        list(TFRecordDataset(damaged))
    assert (caught.value.path, caught.value.record) == (damaged[0], 3)
    for ranks in (1, 2):
        iterator = TFRecordDataset(damaged).iterator(0, rank=ranks - 1, world_size=ranks)
        good = []
        with pytest.raises(pr.ChecksumError):  # noqa: PT012 - a loop that ends by the error
            for record in iterator:
                good.append(record)
        assert [int(record.rstrip(b"\0")) for record in good] == [0, 1, 2][ranks - 1 :: ranks]
        going_on = TFRecordDataset(damaged, on_error="skip").iterator(0, rank=ranks - 1, world_size=ranks)
        going_on.load_state_dict(saved(iterator))
        assert len(list(going_on)) == len(range(3, 28, ranks))
    shares = [TFRecordDataset(damaged).batch(5).iterator(rank=rank, world_size=3) for rank in range(3)]
    assert len(list(shares[2])) == 2
    for rank in (0, 1):
        with pytest.raises(pr.ChecksumError):
            list(shares[rank])


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


def test_missing_file_is_an_error_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        TFRecordDataset(str(tmp_path / "none"))


def test_closed_iterator_says_so(files):
    iterator = iter(TFRecordDataset(files))
    iterator.close()
    with pytest.raises(pr.ClosedError):
        next(iterator)


def test_from_tensor_slices_takes_structures():
    tensors = {
        "a": np.arange(6).reshape(3, 2),
        "b": pr.Ragged([1, 2, 3], [0, 1, 1, 3]),
        "c": [b"x", b"", b"z"],
    }
    rows = elements(Dataset.from_tensor_slices(tensors))
    assert rows[2] == {"a": [4, 5], "b": [2, 3], "c": b"z"}
    check(Dataset.from_tensor_slices(tensors).shuffle(2))


def test_from_generator_is_called_once_an_epoch():
    calls = []

    def generate(count):
        calls.append(count)
        yield from range(count)

    dataset = Dataset.from_generator(generate, args=(4,))
    assert list(dataset) == list(dataset) == [0, 1, 2, 3]
    assert calls == [4, 4]
    check(dataset.shuffle(3))


def test_sample_follows_its_weights():
    parts = [Dataset.from_tensor_slices([name]).repeat() for name in "ab"]
    drawn = Counter(Dataset.sample(parts, [1, 3], seed=1).take(4000))
    assert 2800 < drawn["b"] < 3200
    ends = Dataset.sample([Dataset.range(3), Dataset.range(50)], seed=1, stop_on_empty_dataset=True)
    assert len(list(ends)) < 30


def test_interleave_takes_blocks_in_turn():
    dataset = Dataset.range(3).interleave(lambda n: Dataset.from_tensor_slices([n] * (n + 2)), 2, 2)
    assert list(dataset) == [0, 0, 1, 1, 1, 2, 2, 2, 2]


def test_length_of_a_sample_leaves_out_what_is_never_drawn():
    dataset = Dataset.sample([Dataset.range(5), Dataset.range(7), Dataset.range(2).repeat()], [1, 0, 0])
    assert len(dataset) == len(list(dataset)) == 5


def test_zip_does_not_pair_what_does_not_belong_together_after_an_error():
    def fail_at_two(number):
        if number == 2:
            raise RuntimeError("two")
        return number

    iterator = iter(Dataset.zip(Dataset.range(6).map(fail_at_two), Dataset.range(6)))
    assert elements(iterator, 2) == [(0, 0), (1, 1)]
    for _ in range(2):
        with pytest.raises(RuntimeError, match="two"):
            next(iterator)


def test_any_negative_count_is_all_or_none_as_in_tensorflow():
    numbers = Dataset.range(5)
    for count in (-1, -2, -5):
        assert (list(numbers.take(count)), len(numbers.take(count))) == ([0, 1, 2, 3, 4], 5)
        assert (list(numbers.skip(count)), len(numbers.skip(count))) == ([], 0)
        assert elements(numbers.shuffle(1).repeat(count).iterator(2), 7) == [0, 1, 2, 3, 4, 0, 1]


@pytest.mark.parametrize(
    "state",
    [None, {}, {"epoch": 1}, {"position": 3}, {"epoch": 0, "position": -2}, {"epoch": -1, "position": 0}],
)
def test_what_is_no_state_is_refused(state):
    with pytest.raises(ValueError, match="a state has an epoch and a position"):
        iter(Dataset.range(5)).load_state_dict(state)


@pytest.mark.parametrize("size", [50, 30_000])
def test_every_other_record_up_to_damage_comes_before_the_error(size, tmp_path):
    path = tmp_path / "file"
    payloads = [bytes([number]) * size for number in range(40)]
    path.write_bytes(flip_byte(frames(payloads), 31 * (size + 16) + 20))
    got = []
    with pytest.raises(pr.ChecksumError) as error:  # noqa: PT012 - what came before it is looked at
        for record in TFRecordDataset(path).shard(2, 1):
            got.append(record)
    assert got == payloads[1:31:2]
    assert error.value.record == 31
