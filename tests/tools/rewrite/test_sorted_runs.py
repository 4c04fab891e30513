"""Sorted runs: records in memory's portions, written, found and read again."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest

from purerecord import Records, encode_example
from purerecord.processes.pool import no_progress
from purerecord.tools.rewrite.inputs import find_inputs
from purerecord.tools.rewrite.sort_keys import FeatureOrder, RandomOrder
from purerecord.tools.rewrite.sorted_runs import PER_RECORD, Collected, WriteRuns, chunks, runs_of
from purerecord.tools.rewrite.work_folder import WorkFolder
from tests.support.damage import flip_byte
from tests.support.rewriting import PAYLOADS, write_inputs


def written(tmp_path, order, limit, payloads=PAYLOADS):
    (source,) = find_inputs(write_inputs(tmp_path / "in", payloads, files=1), "auto", "raise")
    folder = WorkFolder(str(tmp_path))
    task = WriteRuns(source, order, limit)
    task.run(folder, no_progress)
    return runs_of(folder, [task], [folder.done(task.name)])


def read(run, begin, end):
    target = bytearray(int(run.lengths(begin, end).sum()))
    run.read(begin, end, target)
    ends = np.cumsum(run.lengths(begin, end))
    return list(Records(target, ends - run.lengths(begin, end), ends))


@pytest.mark.parametrize(
    "order", [RandomOrder(3), FeatureOrder("name", descending=True), FeatureOrder("score", descending=False)]
)
def test_runs_hold_every_record_once_each_run_in_its_order(tmp_path, order):
    runs = written(tmp_path, order, 10_000)
    assert len(runs) > 2
    found = [record for run in runs for record in read(run, 0, len(run))]
    assert sorted(found) == sorted(PAYLOADS)
    for run in runs:
        assert run.weight(0, len(run)) <= 11_000  # with the keys
        keys = [run.key(row) for row in range(len(run))]
        assert keys == sorted(keys)
        for row in (0, 5, len(run) - 1):
            assert run.rows_up_to(keys[row], 0, len(run)) == row + 1
            assert read(run, row, row + 1) == read(run, 0, len(run))[row : row + 1]
        assert 0 <= run.middle(0, len(run)) < len(run)
        assert run.middle(3, 4) == 3
        some, places = run.keys(2, 7)
        assert places.tolist() == [key[2] for key in keys[2:7]]
        assert some.kind == run.kind


def test_a_run_is_a_name_that_can_be_sent_and_holds_no_file_open(tmp_path):
    run = written(tmp_path, FeatureOrder("name", descending=False), 1 << 20)[0]
    before = open_files()
    run.key(0), run.weight(0, 9), run.middle(0, 9), run.keys(0, 9)
    assert len(pickle.dumps(run)) < 1000
    assert pickle.loads(pickle.dumps(run)).key(5) == run.key(5)
    assert open_files() == before


def open_files():
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def test_record_that_is_larger_than_the_memory_is_a_run(tmp_path):
    large = [encode_example({"x": "a" * size}) for size in (10, 9000, 20, 7000, 30)]
    runs = written(tmp_path, FeatureOrder("x", descending=False), 1000, large)
    assert [len(run) for run in runs] == [1, 1, 1, 1, 1]


def test_damage_of_a_run_is_noticed(tmp_path):
    (run,) = written(tmp_path, RandomOrder(0), 1 << 20)
    path = tmp_path / run.name
    path.write_bytes(flip_byte(path.read_bytes(), 1000))
    with pytest.raises(OSError, match="what was read back is not what was written"):
        read(run, 0, len(run))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(OSError, match="is the disk sound"):
        read(run, len(run) - 1, len(run))


def test_collected_records_are_copies(tmp_path):
    buffer = bytearray(b"".join(PAYLOADS))
    ends = np.cumsum([len(payload) for payload in PAYLOADS])
    records = Records(buffer, ends - [len(payload) for payload in PAYLOADS], ends)
    places = np.arange(200, dtype=np.int64)
    collected = Collected(1 << 20)
    assert not collected.any
    assert collected.fits(records) == 200
    assert Collected(PER_RECORD * 3).fits(records) == 2
    collected.add(records, FeatureOrder("name", descending=False).keys(records, places), places)
    buffer[:] = bytes(len(buffer))
    found, keys, order = collected.sorted(descending=False)
    assert list(found) == [PAYLOADS[place] for place in order.tolist()]
    assert list(keys.texts) == sorted(f"{i:03d}".encode() * (i % 4) for i in range(200))
    assert not collected.any


def test_records_come_in_chunks_of_bounded_size():
    records = Records.of([b"x" * 1_500_000] * 5 + [b"y"] * 20_000)
    found = list(chunks(records))
    assert [len(some) for some in found][:2] == [2, 2]
    assert max(some.nbytes for some in found) < 1 << 22
    assert [record for some in found for record in some] == list(records)
