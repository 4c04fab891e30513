"""FileTable: records in any order, from plain files fast and from others too."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.container.filetable import FileTable
from tests.support.damage import flip_byte
from tests.support.dataset_properties import numbered, write_files


@given(numbers=st.lists(st.integers(0, 29), max_size=40))
def test_any_order_and_repetition(numbers, tmp_path):
    table = FileTable(write_files(tmp_path, [7, 0, 1, 22]))
    assert list(table.fetch(np.array(numbers, np.int64))) == [b"%d" % number for number in numbers]
    assert len(table) == 30


def test_more_files_than_are_kept_open(tmp_path):
    table = FileTable(write_files(tmp_path, [1] * 150))
    order = np.arange(150)[::-1]
    assert list(table.fetch(order)) == numbered(150)[::-1]
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    del table
    after = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else -64
    assert before - after == 64


def test_index_beside_the_file_is_used_and_checked(tmp_path):
    paths = write_files(tmp_path, [5, 6])
    pr.build_index(paths[0]).save(paths[0] + ".index")
    assert list(FileTable(paths).fetch(np.array([4, 10]))) == [b"4", b"10"]
    pr.build_index(paths[1]).save(paths[0] + ".index")
    with pytest.raises(pr.StaleIndexError):
        FileTable(paths)


def test_indexes_travel_in_a_pickle(tmp_path):
    table = FileTable(write_files(tmp_path, [5, 6]))
    table.fetch(np.array([3]))
    copy = pickle.loads(pickle.dumps(table))
    assert list(copy.fetch(np.array([10, 0]))) == [b"10", b"0"]


def test_damage_names_its_record(tmp_path):
    paths = write_files(tmp_path, [5, 6], size=10)
    offset = int(pr.build_index(paths[1]).offsets[2])
    Path(paths[1]).write_bytes(flip_byte(Path(paths[1]).read_bytes(), offset + 15))
    table = FileTable(paths)
    assert len(table.fetch(np.array([6, 8]))) == 2
    with pytest.raises(pr.ChecksumError) as caught:
        table.fetch(np.array([6, 7, 8]))
    assert (caught.value.path, caught.value.record) == (paths[1], 2)


def test_blocked_gzip_beside_plain_files(tmp_path):
    plain = write_files(tmp_path, [4])
    blocked = str(tmp_path / "blocked")
    with pr.TFRecordWriter(blocked, pr.TFRecordOptions("GZIP", block_size=32)) as writer:
        writer.write_many([b"x%d" % number for number in range(9)])
    table = FileTable([*plain, blocked])
    assert len(table) == 13
    assert list(table.fetch(np.array([12, 0, 5]))) == [b"x8", b"0", b"x1"]


def test_records_know_their_file_and_their_number_there(tmp_path):
    paths = write_files(tmp_path, [5, 0, 6])
    records = FileTable(paths).fetch(np.array([10, 4, 5]))
    assert [records.origin(i)[:2] for i in range(3)] == [(paths[2], 5), (paths[0], 4), (paths[2], 0)]
