"""Caches: the first epoch is kept, and nothing that is not whole is ever taken for it."""

from __future__ import annotations

import os
import pickle

from loading import check, elements, numbered, write_files

from purerecord.dataset import Dataset, TFRecordDataset


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
