"""Caches: the first epoch is kept, and nothing that is not whole is ever taken for it."""

from __future__ import annotations

import gc
import os
import pickle
from contextlib import suppress

import numpy as np
import pytest

from purerecord import Ragged, TFRecordWriter
from purerecord.bytes_column import BytesColumn
from purerecord.dataset import Dataset, TFRecordDataset
from tests.support.dataset_properties import check, elements, numbered, write_files


def counted(calls):
    def generate():
        calls.append(1)
        yield from range(20)

    return Dataset.from_generator(generate)


def test_memory_keeps_the_first_epoch():
    calls = []
    dataset = counted(calls).cache().shuffle(5)
    assert [sorted(dataset) for _ in range(3)] == [list(range(20))] * 3
    assert calls == [1]
    check(dataset)


def test_half_an_epoch_is_not_kept():
    calls = []
    dataset = counted(calls).cache()
    elements(iter(dataset), 7)
    assert list(dataset) == list(range(20))
    assert calls == [1, 1]


def test_file_keeps_the_first_epoch_for_other_programs(tmp_path):
    path = tmp_path / "cache"
    calls = []
    first = counted(calls).map(lambda n: {"n": n}).cache(path)
    iterator = iter(first)
    elements(iterator, 7)
    iterator.close()
    assert not os.listdir(tmp_path)
    whole = elements(first)
    assert os.listdir(tmp_path) == ["cache"]
    again = counted(calls).map(lambda n: {"n": n}).cache(path)
    assert elements(again) == whole == [{"n": n} for n in range(20)]
    assert calls == [1, 1]
    check(again.batch(3))


def test_raw_records_are_kept_as_they_are(tmp_path):
    files = write_files(tmp_path, [5, 8])
    dataset = TFRecordDataset(files).cache(tmp_path / "cache")
    assert list(dataset) == list(dataset) == numbered(13)


def test_another_process_begins_with_an_empty_cache():
    dataset = Dataset.range(5).cache()
    list(dataset)
    assert list(pickle.loads(pickle.dumps(dataset))) == list(range(5))


def test_what_memory_keeps_of_a_bytes_column_is_its_own():
    buffer = bytearray(b"-one-two")
    column = BytesColumn(buffer, [1, 5], [4, 8])
    images = np.empty(2, object)
    images[:] = [np.zeros((1, 2, 3), np.uint8), np.ones((2, 1, 3), np.uint8)]
    dataset = Dataset.from_tensor_slices({"y": [1]}).map(
        lambda _: {"s": column, "r": Ragged(column, [0, 2]), "i": images}
    )
    kept = dataset.cache()
    for _ in range(2):
        (batch,) = list(kept)
        buffer[:] = bytes(8)  # as somebody else may use the memory again
        assert batch["s"] == batch["r"].values == [b"one", b"two"]
        with pytest.raises(ValueError, match="read-only"):
            batch["i"][0][:] = 1


@pytest.mark.parametrize("in_file", [False, True])
def test_an_epoch_has_one_order_whether_the_cache_is_filled_or_not(in_file, tmp_path):
    def make(name):
        return Dataset.range(400).shuffle(50, seed=1).cache(tmp_path / name if in_file else "")

    filled = make("one")
    assert list(filled.iterator(0)) == list(filled.iterator(3)) == list(make("other").iterator(3))
    repeated = filled.repeat(2)
    iterator = iter(repeated)
    begin = elements(iterator, 700)
    elsewhere = iter(make("another").repeat(2))
    elsewhere.load_state_dict(iterator.state_dict())
    assert begin + elements(elsewhere) == elements(repeated.iterator(0))


def test_what_memory_keeps_cannot_be_changed_by_who_gets_it():
    ragged = Ragged([1, 2, 3], [0, 1, 3, 3], missing=[False, False, True])
    dataset = Dataset.from_tensor_slices({"x": np.arange(6), "y": [1] * 6}).batch(2)
    dataset = dataset.map(lambda batch: {**batch, "r": ragged}).cache()
    for _ in range(3):
        for number, batch in enumerate(dataset):
            assert batch.pop("y").tolist() == [1, 1]
            assert batch["x"].tolist() == [2 * number, 2 * number + 1]
            assert batch["r"] == ragged
            for array in (batch["x"], batch["r"].values):
                with pytest.raises(ValueError, match="read-only"):
                    array[:] = 1
    ragged.values[0] = 1  # the array of who made it is still his


@pytest.mark.parametrize("in_file", [False, True])
def test_after_an_interrupt_the_epoch_goes_on_and_all_of_it_is_kept(in_file, tmp_path):
    interrupts = [300, 300, 999]

    def interrupted(number):
        if number in interrupts:
            interrupts.remove(number)
            raise KeyboardInterrupt
        return number

    dataset = Dataset.range(1000).map(interrupted).cache(tmp_path / "cache" if in_file else "")
    iterator, got = iter(dataset), []
    for _ in range(4):
        with suppress(KeyboardInterrupt):
            for element in iterator:
                got.append(element)
    assert not interrupts
    assert got == list(range(1000)) == list(dataset)
    assert os.listdir(tmp_path) == ["cache"] * in_file


@pytest.mark.parametrize("in_file", [False, True])
def test_what_came_without_an_element_that_failed_is_not_kept(in_file, tmp_path):
    failing = [3]

    def fail(number):
        if number in failing:
            raise RuntimeError("once")
        return number

    dataset = Dataset.range(6).map(fail).cache(tmp_path / "cache" if in_file else "")
    iterator = iter(dataset)
    assert elements(iterator, 3) == [0, 1, 2]
    with pytest.raises(RuntimeError):
        next(iterator)
    assert list(iterator) == [4, 5]
    failing.clear()
    assert list(dataset) == list(range(6))


def test_cache_whose_parent_cannot_be_opened_is_forgotten_quietly():
    with pytest.raises(ValueError, match="global_shuffle"):
        iter(Dataset.range(5).filter(bool).global_shuffle(1).cache())
    gc.collect()  # an exception in __del__ would be an error of this test


def test_cache_file_of_another_chain_is_refused(tmp_path):
    path = tmp_path / "cache"
    assert list(Dataset.range(9).batch(4).cache(path).unbatch()) == list(range(9))
    with pytest.raises(ValueError, match=r"cache of another chain, range\(0, 9\)\.batch\(4\), and not of"):
        list(Dataset.range(9).batch(3).cache(path))


@pytest.mark.parametrize(
    ("records", "error"),
    [
        ([], "is not a cache file; delete it"),
        ([b"something"], "is not a cache file; delete it"),
        ([b"orange(0, 9)", b"pjunk"], "record 1.*cannot be unpickled: UnpicklingError"),
        ([b"orange(0, 9)", b"p"], "record 1.*cannot be unpickled: EOFError"),
        ([b"orange(0, 9)", pickle.dumps(1)], "record 1.*not a cached element"),
        ([b"orange(0, 9)", b""], "record 1.*not a cached element"),
    ],
)
def test_what_is_no_cache_file_is_refused(records, error, tmp_path):
    with TFRecordWriter(tmp_path / "cache") as writer:
        writer.write_many(records)
    with pytest.raises(ValueError, match=error):
        list(Dataset.range(9).cache(tmp_path / "cache"))
