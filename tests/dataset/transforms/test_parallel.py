"""parallel: every element once, in an order that only the number of processes decides."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from purerecord.dataset.engine.worker import Worker
from tests.support.damage import flip_byte
from tests.support.dataset_properties import check, elements, numbered, outcomes, saved, write_files

COUNTS = [5, 0, 9, 3, 4, 7]
SPEC = {
    "id": pr.FixedLenFeature([], np.int64),
    "x": pr.FixedLenFeature([2], np.float32),
    "name": pr.FixedLenFeature([], bytes),
    "tokens": pr.VarLenFeature(np.int64),
    "words": pr.RaggedFeature(bytes),
}


def write_examples(folder: Any, counts: list[int]) -> list[str]:
    numbers = itertools.count()
    paths = []
    for place, count in enumerate(counts):
        paths.append(str(folder / f"part-{place}.tfrecord"))
        with pr.TFRecordWriter(paths[-1]) as writer:
            for number in itertools.islice(numbers, count):
                example = {"id": number, "x": [number / 2, 1.0], "name": b"n%d" % number}
                lists = {"tokens": list(range(number % 4)), "words": [b"w"] * (number % 3)}
                writer.write(pr.encode_example({**example, **lists}))
    return paths


@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("processes", [1, 2, 3, 6])
def test_every_record_comes_once_whatever_the_number_of_processes(processes, compression, tmp_path):
    paths = write_files(tmp_path, COUNTS, compression)
    dataset = TFRecordDataset(paths).batch(2).parallel(processes)
    found = elements(dataset)
    assert Counter(itertools.chain(*found)) == Counter(numbered(sum(COUNTS)))
    assert elements(dataset.iterator(0)) == found
    assert len(dataset) == len(found)


def test_processes_give_their_elements_in_turn_this_one_first(tmp_path):
    paths = write_files(tmp_path, [3, 2, 4])
    dataset = TFRecordDataset(paths).parallel(3)
    assert elements(dataset) == [b"0", b"3", b"5", b"1", b"4", b"6", b"2", b"7", b"8"]


def test_columns_are_the_same_as_without(tmp_path):
    paths = write_examples(tmp_path, [40, 40])
    chain = TFRecordDataset(paths).batch(10).parse(SPEC)
    plain, parallel = list(chain), list(chain.parallel(2))
    assert len(parallel) == 8
    mixed = [plain[number] for number in (0, 4, 1, 5, 2, 6, 3, 7)]
    for one, other in zip(parallel, mixed, strict=True):
        assert list(one) == list(other)
        for name in ("id", "x", "name"):
            assert one[name].dtype == other[name].dtype
            assert one[name].tolist() == other[name].tolist()
        assert one["tokens"].to_dense().tolist() == other["tokens"].to_dense().tolist()
        assert one["words"].to_list() == other["words"].to_list()


@pytest.mark.light(2)
@pytest.mark.parametrize("processes", [1, 2, 4])
def test_it_is_dealt_out_and_goes_on_where_it_stopped(processes, tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, COUNTS)).shuffle(4, seed=1).batch(2).parallel(processes)
    check(dataset, every=6)


def test_state_is_for_the_same_number_of_processes(tmp_path):
    chain = TFRecordDataset(write_files(tmp_path, COUNTS)).batch(2)
    iterator = iter(chain.parallel(2))
    next(iterator)
    with pytest.raises(ValueError, match="this is a state of another dataset"):
        iter(chain.parallel(3)).load_state_dict(saved(iterator))
    iterator.close()


def test_ranks_have_their_own_files_and_processes(tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, COUNTS)).batch(2).parallel(2)
    shares = [elements(dataset.iterator(rank=rank, world_size=2, share="files")) for rank in range(2)]
    found = [record for share in shares for batch in share for record in batch]
    assert Counter(found) == Counter(numbered(sum(COUNTS)))
    assert sum(len(batch) for batch in shares[0]) == sum(COUNTS[::2])


def test_epochs_differ_and_can_be_repeated(tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, [20, 20])).shuffle(20, seed=3).batch(4).parallel(2)
    first, second = elements(dataset), elements(dataset)
    assert first != second
    assert elements(dataset.iterator(0)) == first
    assert elements(dataset.iterator(1)) == second


def test_prefetch_and_further_steps_follow(tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, COUNTS)).batch(3).parallel(2).unbatch().prefetch(2)
    assert Counter(dataset) == Counter(numbered(sum(COUNTS)))
    assert len(list(TFRecordDataset(write_files(tmp_path, COUNTS)).parallel(2).repeat(2))) == 2 * sum(COUNTS)


@pytest.mark.parametrize("place", [0, 1])
def test_damage_is_an_error_that_names_its_file_in_whichever_process(place, tmp_path):
    paths = write_files(tmp_path, [6, 6])
    with open(paths[place], "r+b") as file:
        data = file.read()
        file.seek(0)
        file.write(flip_byte(data, 30))
    iterator = iter(TFRecordDataset(paths).batch(2).parallel(2))
    with pytest.raises(pr.ChecksumError, match=f"part-{place}.tfrecord: record 1 at byte 17"):
        list(iterator)
    iterator = iter(TFRecordDataset(paths, on_error="skip").batch(2).parallel(2))
    assert sum(map(len, iterator)) == 11
    assert iterator.skipped == 1
    assert iterator.last_error.path == paths[place]


def test_mismatch_names_its_record_from_another_process(tmp_path):
    paths = write_examples(tmp_path, [5, 5])
    spec = {"x": pr.FixedLenFeature([3], np.float32)}
    iterator = iter(TFRecordDataset(paths[::-1]).batch(5).parse(spec).parallel(2))
    for path in paths[::-1]:
        with pytest.raises(pr.SchemaError, match="'x'") as caught:
            next(iterator)
        assert path in str(caught.value)


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        (lambda ds: ds.parallel(7), "6 files are not enough for 7"),
        (lambda ds: ds.parallel(0), "processes must be positive"),
        (lambda ds: ds.cache().parallel(2), "cache"),
        (lambda ds: Dataset.range(5).parallel(2), "over one TFRecordDataset"),
        (lambda ds: ds.parallel(2).parallel(2), r"parallel\(2\) starts processes"),
        (lambda ds: ds.map(len, 2, processes=True).batch(2).parallel(2), r"map\(len.* starts processes"),
    ],
)
def test_what_cannot_be_is_said_at_once(chain, message, tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, COUNTS))
    with pytest.raises(ValueError, match=message):
        chain(dataset)


def fail_at_five_and_six(record: bytes) -> bytes:
    if record in (b"5", b"6"):
        raise RuntimeError(record.decode())
    return record


@pytest.mark.parametrize("chain", [lambda ds: ds, lambda ds: ds.prefetch(2)], ids=["alone", "prefetch"])
def test_element_that_fails_has_its_place_and_its_rank(chain, tmp_path):
    dataset = chain(TFRecordDataset(write_files(tmp_path, [4, 4])).map(fail_at_five_and_six)).parallel(2)
    whole = [b"0", b"4", b"1", "error 5", b"2", "error 6", b"3", b"7"]
    for ranks in (1, 2, 3):
        for rank in range(ranks):
            assert outcomes(dataset.iterator(0, rank=rank, world_size=ranks)) == whole[rank::ranks]
    for used in range(9):
        iterator = iter(dataset)
        for _ in range(used):
            with contextlib.suppress(RuntimeError):
                next(iterator)
        state = saved(iterator)
        assert outcomes(iterator) == whole[used:]
        iterator.load_state_dict(state)
        again = used and isinstance(
            whole[used - 1], str
        )  # who goes on elsewhere after an error meets it again
        assert outcomes(iterator) == whole[used - again :]


def test_steps_before_it_are_for_the_files_of_each_process(tmp_path):
    paths = write_files(tmp_path, [4, 4])
    assert elements(TFRecordDataset(paths).take(1).parallel(2)) == [b"0", b"4"]
    endless = TFRecordDataset(paths).repeat().parallel(2)
    assert elements(iter(endless), 10) == [b"0", b"4", b"1", b"5", b"2", b"6", b"3", b"7", b"0", b"4"]
    with pytest.raises(TypeError, match="never ends"):
        len(endless)
    with pytest.raises(TypeError, match="is not known"):
        len(TFRecordDataset(paths).filter(len).parallel(2))


def test_others_begin_before_this_process_works_on_its_own_part(tmp_path, monkeypatch):
    begun = []
    begin = Worker.begin
    monkeypatch.setattr(Worker, "begin", lambda self, *chain: begun.append(1) or begin(self, *chain))
    dataset = TFRecordDataset(write_files(tmp_path, [4, 4, 4])).parallel(3)
    iterator = iter(dataset)
    assert next(iterator) == b"0"
    assert len(begun) == 2
    assert len(list(iterator)) == 11
    assert len(begun) == 2  # and nobody begins again


def in_a_worker(dataset: Dataset, pipe: Any) -> None:
    try:
        list(dataset)
    except RuntimeError as error:
        pipe.send(str(error))


def test_inside_a_worker_process_it_is_refused_with_advice(tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, COUNTS)).batch(2).parallel(2)
    assert len(list(dataset)) > 0
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=in_a_worker, args=(dataset, there), daemon=True)
    process.start()
    assert here.poll(60)
    assert "leave out processes=True and parallel" in here.recv()
    process.join()


def test_it_is_described_and_travels(tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, COUNTS)).batch(2).parallel(2)
    assert repr(dataset) == "<TFRecordDataset(<6 files>).batch(2).parallel(2)>"
    assert elements(pickle.loads(pickle.dumps(dataset))) == elements(dataset.iterator(0))
