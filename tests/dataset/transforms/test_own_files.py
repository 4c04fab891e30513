"""Files dealt out instead of elements: everyone reads its own and opens no others."""

from __future__ import annotations

import itertools
import os
from collections import Counter

import numpy as np
import pytest

from purerecord.dataset import Dataset, TFRecordDataset
from purerecord.dataset.engine.states import merge_states
from purerecord.dataset.transforms.files import Files
from tests.support.dataset_properties import elements, numbered, saved, write_files

COUNTS = [5, 0, 9, 3, 4, 7]
SHAPES = [(1, 1), (2, 1), (1, 3), (2, 3)]


def consumers(shape: tuple[int, int]) -> list[dict]:
    ranks, workers = shape
    return [
        {"rank": rank, "world_size": ranks, "worker": worker, "workers": workers, "share": "files"}
        for worker in range(workers)
        for rank in range(ranks)
    ]


@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_record_comes_once(shape, compression, tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, COUNTS, compression)).shuffle(4, seed=1)
    shares = [elements(dataset.iterator(2, **who)) for who in consumers(shape)]
    assert Counter(itertools.chain(*shares)) == Counter(numbered(sum(COUNTS)))
    assert [len(share) for share in shares] == [
        sum(COUNTS[number :: len(shares)]) for number in range(len(shares))
    ]


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_files_of_others_are_never_opened(compression, tmp_path, monkeypatch):
    paths = write_files(tmp_path, COUNTS, compression)
    dataset = TFRecordDataset(paths).shuffle(4).batch(2)
    opened: list[str] = []
    open_file = Files.open_file

    def watched(self, path, *others):
        opened.append(path)
        return open_file(self, path, *others)

    monkeypatch.setattr(Files, "open_file", watched)
    for place, path in enumerate(paths):
        if place % 3 != 2:
            os.remove(path)  # whoever opened it would notice
    assert len(elements(dataset.iterator(rank=2, world_size=3, share="files"))) == 8
    assert opened == paths[2::3]
    opened.clear()
    with pytest.raises(FileNotFoundError):
        elements(dataset.iterator(rank=2, world_size=3))


@pytest.mark.parametrize("stop", [0, 1, 2, 4])
def test_state_restores_the_next_element_of_the_same_consumer(stop, tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, COUNTS)).shuffle(4, seed=1).batch(3)
    who = {"rank": 1, "world_size": 2, "share": "files"}
    whole = elements(dataset.iterator(5, **who))
    first = dataset.iterator(5, **who)
    begin = elements(first, stop)
    second = dataset.iterator(**who)
    second.load_state_dict(saved(first))
    assert begin + elements(second) == whole


def test_state_of_anyone_else_is_refused(tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, COUNTS))
    own = dataset.iterator(0, rank=1, world_size=2, share="files")
    state = saved(own)
    for other in (
        dataset.iterator(0, rank=0, world_size=2, share="files"),
        dataset.iterator(0, rank=1, world_size=3, share="files"),
        dataset.iterator(0, rank=1, world_size=2),
    ):
        with pytest.raises(ValueError, match="same consumer"):
            other.load_state_dict(state)
    with pytest.raises(ValueError, match="same consumer"):
        own.load_state_dict({"epoch": 0, "position": 3})
    with pytest.raises(ValueError, match="each for one consumer"):
        merge_states([state])


def test_what_cannot_be_shared_by_files_is_refused(tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, [1, 1]))
    with pytest.raises(ValueError, match=r"2 files are not enough for 3 consumers"):
        dataset.iterator(rank=0, world_size=3, share="files")
    with pytest.raises(ValueError, match=r"different numbers"):
        dataset.iterator(even="drop", share="files")
    with pytest.raises(ValueError, match=r"cache"):
        dataset.cache().batch(2).iterator(share="files")
    for other in (Dataset.range(3), Dataset.from_tensor_slices(np.arange(3)).batch(2), Dataset.zip(dataset)):
        with pytest.raises(ValueError, match="over one TFRecordDataset"):
            other.iterator(share="files")
    with pytest.raises(ValueError, match="share must be one of elements, files"):
        dataset.iterator(share="records")
