"""Random access: a sequence, in threads, in other processes, over many files and over blocks."""

from __future__ import annotations

import gzip
import io
import multiprocessing
import os
import pickle
import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import (
    ChecksumError,
    CompressionError,
    CorruptionError,
    DecodeError,
    RecordFile,
    Records,
    StaleIndexError,
    TFRecordOptions,
    TFRecordWriter,
    TruncatedError,
    build_index,
    decode_examples,
    encode_example,
)
from purerecord.container import record_file
from purerecord.storage import remote_file
from purerecord.storage.url import Url
from tests.support.damage import FOOTER, HEADER, cut, flip_byte, frames, starts
from tests.support.dataset_properties import numbered, write_files
from tests.support.faulty_store import FaultyObject, stored_as

COUNT = 500


def some(count: int = COUNT, seed: int = 0) -> list[bytes]:
    rng = random.Random(seed)
    return [rng.randbytes(rng.randrange(60)) for _ in range(count)]


RECORDS = some()
BLOCKED = TFRecordOptions("GZIP", block_size=1000)


def write(path, records=RECORDS, options=None, **more):
    with TFRecordWriter(path, options, **more) as writer:
        writer.write_many(records)
    return path


@pytest.fixture(params=["plain", "blocked", "shards"])
def file(request, tmp_path):
    """The same records in each form that allows random access."""
    if request.param == "shards":
        parts = [RECORDS[:100], [], RECORDS[100:101], RECORDS[101:]]
        forms = [None, None, BLOCKED, None]
        paths = [
            write(tmp_path / f"part{number}", part, form)
            for number, (part, form) in enumerate(zip(parts, forms, strict=True))
        ]
        return RecordFile(paths)
    return RecordFile(write(tmp_path / "file", options=BLOCKED if request.param == "blocked" else None))


# A sequence


def test_it_is_the_sequence_of_its_records(file):
    assert isinstance(file, Sequence)
    assert len(file) == COUNT
    assert list(file) == RECORDS
    assert [file[i] for i in range(COUNT)] == RECORDS
    assert [file[i] for i in range(-COUNT, 0)] == RECORDS
    assert list(reversed(file)) == RECORDS[::-1]
    assert RECORDS[77] in file
    assert file.index(RECORDS[300]) == RECORDS.index(RECORDS[300])
    assert all(type(record) is bytes for record in file)


@given(key=st.slices(COUNT))
def test_slice_is_a_record_file_of_those_records(file, key):
    part = file[key]
    expected = RECORDS[key]
    assert isinstance(part, RecordFile)
    assert len(part) == len(expected)
    assert list(part) == expected
    if expected:
        assert part[0] == expected[0]
        assert part[-1] == expected[-1]
        assert list(part[1::2]) == expected[1::2]


@given(indices=st.lists(st.integers(-COUNT, COUNT - 1), max_size=50))
def test_getitems_keeps_order_and_repeats(file, indices):
    assert file.__getitems__(indices) == [RECORDS[i] for i in indices]
    assert file[100:200].__getitems__([0, 99, -1, 0]) == [RECORDS[i] for i in (100, 199, 199, 100)]


@pytest.mark.parametrize("index", [COUNT, -COUNT - 1, 10**30])
def test_index_out_of_range_is_an_index_error(file, index):
    with pytest.raises(IndexError):
        file[index]
    with pytest.raises(IndexError):
        file.__getitems__([0, index])


@pytest.mark.parametrize("key", [1.0, "1", None])
def test_index_that_is_no_number_is_a_type_error(file, key):
    with pytest.raises(TypeError):
        file[key]


def test_arrays_of_numbers_and_masks_choose_records(file):
    numbers = np.array([7, -1, 100, 99, 7, 0])
    mask = np.array([len(record) == 7 for record in RECORDS])
    chosen = file[numbers]
    assert isinstance(chosen, RecordFile)
    assert list(chosen) == [chosen[i] for i in range(6)] == [RECORDS[i] for i in numbers]
    assert list(chosen[1:4]) == list(chosen[[1, 2, 3]]) == [RECORDS[i] for i in numbers[1:4]]
    assert list(pickle.loads(pickle.dumps(chosen))) == list(chosen)
    assert chosen.__getitems__([5, 0]) == list(chosen.fetch(np.array([5, 0]))) == [RECORDS[0], RECORDS[7]]
    assert [Records.of(chosen).origin(i)[:2] for i in range(6)] == [
        Records.of(file[:]).origin(i)[:2] for i in numbers.tolist()
    ]
    assert list(file[mask]) == list(file[mask.tolist()]) == [r for r in RECORDS if len(r) == 7]
    assert list(file[100:][mask[100:]]) == [r for r in RECORDS[100:] if len(r) == 7]
    assert (len(file[[]]), list(file[[]])) == (0, [])


def test_numbers_and_masks_that_do_not_fit_are_index_errors(file):
    for key in (COUNT, -COUNT - 1, [0, COUNT], np.array([-COUNT - 1])):
        with pytest.raises(IndexError, match=rf"record -?\d+ of {COUNT}"):
            file[key]
    with pytest.raises(IndexError, match=f"record {COUNT} of {COUNT}"):
        file.__getitems__([0, COUNT])
    with pytest.raises(IndexError, match=f"a mask of 3 values for {COUNT} records"):
        file[[True, False, True]]
    for key in ("1", 1.0, None, [0.5], np.zeros((2, 2), int)):
        with pytest.raises(TypeError, match="records are chosen with"):
            file[key]


def test_repr_is_stable_and_says_which_part(tmp_path):
    path = write(tmp_path / "file")
    assert repr(RecordFile(path)) == f"RecordFile({str(path)!r})"
    assert repr(RecordFile(path)[10:20:2]) == f"RecordFile({str(path)!r})[10:20:2]"
    assert repr(RecordFile([path, path])) == f"RecordFile([{str(path)!r}, {str(path)!r}])"
    few = ", ".join([repr(str(path))] * 4)
    assert repr(RecordFile([path] * 4)) == f"RecordFile([{few}])"
    assert repr(RecordFile([path] * 1000)) == f"RecordFile([{few}, ... 996 more])"
    assert repr(RecordFile(path)[[3, 1]]) == f"RecordFile({str(path)!r})[<2 numbers>]"


def test_large_records_and_long_runs_are_read(tmp_path, monkeypatch):
    records = [bytes([i]) * (1_500_000 if i % 5 == 0 else 10) for i in range(40)]
    path = write(tmp_path / "file", records)
    assert list(RecordFile(path)) == records
    assert RecordFile(path).__getitems__([39, 0, 1, 35]) == [records[i] for i in (39, 0, 1, 35)]


def test_short_reads_of_the_system_are_completed(tmp_path, monkeypatch):
    path = write(tmp_path / "file")
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, offset: pread(fd, min(size, 7), offset))
    assert list(RecordFile(path)) == RECORDS
    assert RecordFile(path)[3] == RECORDS[3]


def test_system_without_pread_is_served_too(tmp_path, monkeypatch):
    path = write(tmp_path / "file")
    monkeypatch.delattr(os, "pread")
    records = RecordFile(path)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(records.__getitem__, range(COUNT))) == RECORDS


# Threads and processes


@pytest.mark.light(2)
def test_threads_share_it(file):
    order = list(range(COUNT)) * 4
    random.Random(0).shuffle(order)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(file.__getitem__, order)) == [RECORDS[i] for i in order]
        parts = pool.map(file.__getitems__, [order[i : i + 50] for i in range(0, len(order), 50)])
        assert [record for part in parts for record in part] == [RECORDS[i] for i in order]


def test_pickle_holds_no_open_file_and_travels_with_its_index(file, monkeypatch):
    assert file[3] == RECORDS[3]
    data = pickle.dumps(file)
    monkeypatch.setattr(record_file, "build_index", None)  # it must not be built again
    again = pickle.loads(data)
    assert list(again) == RECORDS
    assert repr(again) == repr(file)
    part = pickle.loads(pickle.dumps(file[10:20]))
    assert list(part) == RECORDS[10:20]


def test_pickle_of_a_file_that_was_never_read_is_small(tmp_path):
    assert len(pickle.dumps(RecordFile(write(tmp_path / "file")))) < 500


def test_pickle_does_not_carry_a_file_over_a_change_of_its_data(tmp_path):
    path = write(tmp_path / "file")
    records = RecordFile(path)
    assert len(records) == COUNT
    data = pickle.dumps(records)
    write(path, RECORDS[:10])
    with pytest.raises(StaleIndexError):
        pickle.loads(data)[0]


@pytest.mark.light(1)
def test_spawned_process_reads_it(file):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pick = RecordFile.__getitems__
        assert pool.apply(pick, (file, [0, 250, 499])) == [RECORDS[i] for i in (0, 250, 499)]
        assert pool.apply(pick, (file[100:], [0])) == [RECORDS[100]]


# Damage


def errors_by_number(records: RecordFile) -> dict[int, tuple]:
    found = {}
    for number in range(len(records)):
        try:
            assert records[number] == RECORDS[number]
        except CorruptionError as error:
            found[number] = (type(error), error.record, error.path)
    return found


def test_damaged_payload_spoils_its_record_only(tmp_path):
    path = write(tmp_path / "file")
    edges = starts(RECORDS)
    path.write_bytes(flip_byte(path.read_bytes(), edges[43] - FOOTER))
    records = RecordFile(path)
    assert errors_by_number(records) == {42: (ChecksumError, 42, str(path))}
    with pytest.raises(ChecksumError) as caught:
        records.__getitems__(range(40, 50))
    assert (caught.value.record, caught.value.offset) == (42, edges[42])
    got = []
    with pytest.raises(ChecksumError):
        got.extend(records)
    assert got == RECORDS[:42]


def test_damaged_payload_passes_without_verify(tmp_path):
    path = write(tmp_path / "file", [b"hello"])
    path.write_bytes(flip_byte(path.read_bytes(), HEADER))
    assert RecordFile(path, verify=False)[0] == flip_byte(b"hello", 0)


@pytest.mark.parametrize("size", [1, 11, 12, 13])
def test_cut_or_misleading_data_is_refused_as_a_whole(tmp_path, size):
    path = write(tmp_path / "file")
    data = path.read_bytes()
    path.write_bytes(cut(data, len(data) - size))
    with pytest.raises(TruncatedError):
        len(RecordFile(path))
    path.write_bytes(data + bytes(size))
    with pytest.raises(CorruptionError):
        RecordFile(path)[0]
    path.write_bytes(flip_byte(data, starts(RECORDS)[250]))
    with pytest.raises(ChecksumError) as caught:
        len(RecordFile(path))
    assert (caught.value.record, caught.value.offset) == (250, starts(RECORDS)[250])


def test_file_cut_after_its_index_was_made_is_noticed(tmp_path):
    path = write(tmp_path / "file")
    records = RecordFile(path)
    assert len(records) == COUNT
    os.truncate(path, starts(RECORDS)[400] + 5)
    assert records[399] == RECORDS[399]
    with pytest.raises(TruncatedError) as caught:
        records[400]
    assert (caught.value.record, caught.value.offset) == (400, starts(RECORDS)[400])
    with pytest.raises(TruncatedError):
        records.__getitems__(range(390, 420))


def test_damaged_block_spoils_its_records_only(tmp_path):
    path = write(tmp_path / "file", options=BLOCKED)
    index = build_index(path)
    number = 3
    first, last = int(index.first_records[number]), int(index.first_records[number + 1])
    path.write_bytes(flip_byte(path.read_bytes(), int(index.offsets[number] + index.sizes[number]) - 20))
    expected = (CompressionError, first, str(path))
    assert errors_by_number(RecordFile(path)) == dict.fromkeys(range(first, last), expected)


# Files that cannot seek


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_ordinary_compressed_file_has_a_length_and_is_read_in_order(tmp_path, compression):
    records = RecordFile(write(tmp_path / "file", options=compression))
    assert len(records) == COUNT
    assert list(records) == RECORDS
    for use in (
        lambda: records[0],
        lambda: records.__getitems__([1]),
        lambda: list(records[2:5]),
        lambda: build_index(tmp_path / "file"),
    ):
        with pytest.raises(io.UnsupportedOperation, match="block_size"):
            use()


def test_blocked_file_with_other_gzip_behind_is_read_in_order_only(tmp_path):
    path = write(tmp_path / "file", options=BLOCKED)
    before = list(RecordFile(path))
    path.write_bytes(path.read_bytes() + gzip.compress(frames([b"more"]), mtime=0))
    records = RecordFile(path)
    assert len(records) == len(before) + 1
    assert list(records) == [*before, b"more"]
    with pytest.raises(io.UnsupportedOperation, match="rewrite it"):
        records[0]


def test_empty_files_are_empty_sequences(tmp_path):
    for options in (None, "GZIP", "ZLIB", BLOCKED):
        records = RecordFile(write(tmp_path / "file", [], options))
        assert len(records) == 0
        assert list(records) == []
        assert not records
    assert list(RecordFile([])) == []


def test_missing_file_folder_and_open_file_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        RecordFile(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        len(RecordFile(tmp_path))
    with pytest.raises(TypeError, match="paths"):
        RecordFile(io.BytesIO())


# Indexes


def test_index_beside_the_file_is_used(tmp_path, monkeypatch):
    path = write(tmp_path / "file", index=True)
    assert (tmp_path / "file.index").exists()
    monkeypatch.setattr(record_file, "build_index", None)
    assert list(RecordFile(path)) == RECORDS


@pytest.mark.parametrize("options", [None, BLOCKED], ids=["plain", "blocked"])
def test_index_is_given_as_an_object_a_path_or_a_list(tmp_path, monkeypatch, options):
    path = write(tmp_path / "file", options=options)
    index = build_index(path)
    index.save(tmp_path / "elsewhere")
    monkeypatch.setattr(record_file, "build_index", None)
    for given_ in (index, tmp_path / "elsewhere", [index], (str(tmp_path / "elsewhere"),)):
        assert RecordFile(path, index=given_)[COUNT - 1] == RECORDS[-1]


def test_number_of_indexes_must_be_that_of_the_files(tmp_path):
    path = write(tmp_path / "file")
    with pytest.raises(ValueError, match="1 files need as many indexes, not 2"):
        RecordFile(path, index=[None, None])


@pytest.mark.parametrize("change", ["shorter", "longer", "other", "rewritten"])
def test_stale_index_is_refused_wherever_it_comes_from(tmp_path, change):
    path = write(tmp_path / "file", index=True)
    index = build_index(path)
    data = path.read_bytes()
    if change == "shorter":
        write(path, RECORDS[:-1])
    elif change == "longer":
        write(path, [b"more"], mode="a")
    elif change == "other":
        path.write_bytes(flip_byte(data, 15))
    else:
        write(path, RECORDS[::-1])
        assert path.stat().st_size == len(data)
    for records in (RecordFile(path), RecordFile(path, index=index)):
        with pytest.raises(StaleIndexError, match="build it anew"):
            records[0]
        with pytest.raises(StaleIndexError):
            len(records)


def test_foreign_index_of_other_data_of_the_same_size_is_noticed_record_by_record(tmp_path):
    path = write(tmp_path / "file", [b"aaaa", b"bb", b"cccccc", b"dddd"])
    build_index(path).save(tmp_path / "text", format="text")
    write(path, [b"aa", b"bbbb", b"cccccc", b"dddd"])
    records = RecordFile(path, index=tmp_path / "text")
    assert records[3] == b"dddd"
    for use in (
        lambda: records[0],
        lambda: records[1],
        lambda: list(records),
        lambda: records.__getitems__([0, 1]),
    ):
        with pytest.raises((StaleIndexError, CorruptionError)):
            use()


def test_parsing_a_slice_names_the_file_and_the_number_there(file):
    ends = list(accumulate(len(RecordFile(path)) for path in file.paths))
    for chosen in (slice(None), slice(90, 110), slice(300, 80, -3), slice(7, 7)):
        records = Records.of(file[chosen])
        assert list(records) == RECORDS[chosen]
        for i, number in enumerate(range(COUNT)[chosen]):
            path, own, _ = records.origin(i)
            shard = file.paths.index(path)
            assert number == own + (ends[shard - 1] if shard else 0)


@pytest.mark.parametrize("options", [None, BLOCKED, "GZIP"], ids=["plain", "blocked", "gzip"])
def test_errors_about_examples_in_a_record_file_say_where(options, tmp_path):
    good = encode_example({"id": 1})
    paths = [
        write(tmp_path / "a", [good] * 5, options),
        write(tmp_path / "b", [good, b"junk", good], options),
    ]
    whole = RecordFile(paths)
    parts = [whole] if options == "GZIP" else [whole, whole[2:], whole[6::-2], whole[6:7]]
    for part in parts:
        with pytest.raises(DecodeError) as caught:
            decode_examples(part)
        assert (caught.value.path, caught.value.record) == (str(paths[1]), 1)


# Many records in any order: fetch


@given(numbers=st.lists(st.integers(0, 29), max_size=40))
def test_any_order_and_repetition(numbers, tmp_path):
    table = RecordFile(write_files(tmp_path, [7, 0, 1, 22]))
    assert list(table.fetch(np.array(numbers, np.int64))) == [b"%d" % number for number in numbers]
    assert len(table) == 30


def test_more_files_than_are_kept_open(tmp_path):
    table = RecordFile(write_files(tmp_path, [1] * 150))
    order = np.arange(150)[::-1]
    assert list(table.fetch(order)) == numbered(150)[::-1]
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    del table
    after = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else -64
    assert before - after == 64


def test_index_beside_the_file_is_used_and_checked(tmp_path):
    paths = write_files(tmp_path, [5, 6])
    build_index(paths[0]).save(paths[0] + ".index")
    assert list(RecordFile(paths).fetch(np.array([4, 10]))) == [b"4", b"10"]
    build_index(paths[1]).save(paths[0] + ".index")
    with pytest.raises(StaleIndexError):
        RecordFile(paths).load_indexes()


def test_indexes_travel_in_a_pickle(tmp_path):
    table = RecordFile(write_files(tmp_path, [5, 6]))
    table.fetch(np.array([3]))
    copy = pickle.loads(pickle.dumps(table))
    assert list(copy.fetch(np.array([10, 0]))) == [b"10", b"0"]


def test_damage_names_its_record(tmp_path):
    paths = write_files(tmp_path, [5, 6], size=10)
    offset = int(build_index(paths[1]).offsets[2])
    Path(paths[1]).write_bytes(flip_byte(Path(paths[1]).read_bytes(), offset + 15))
    table = RecordFile(paths)
    assert len(table.fetch(np.array([6, 8]))) == 2
    with pytest.raises(ChecksumError) as caught:
        table.fetch(np.array([6, 7, 8]))
    assert (caught.value.path, caught.value.record) == (paths[1], 2)


def test_blocked_gzip_beside_plain_files(tmp_path):
    plain = write_files(tmp_path, [4])
    blocked = str(tmp_path / "blocked")
    with TFRecordWriter(blocked, TFRecordOptions("GZIP", block_size=32)) as writer:
        writer.write_many([b"x%d" % number for number in range(9)])
    table = RecordFile([*plain, blocked])
    assert len(table) == 13
    assert list(table.fetch(np.array([12, 0, 5]))) == [b"x8", b"0", b"x1"]


def test_records_know_their_file_and_their_number_there(tmp_path):
    paths = write_files(tmp_path, [5, 0, 6])
    records = RecordFile(paths).fetch(np.array([10, 4, 5]))
    assert [records.origin(i)[:2] for i in range(3)] == [(paths[2], 5), (paths[0], 4), (paths[2], 0)]


def test_slice_fetches_by_its_own_numbers(tmp_path):
    part = RecordFile(write_files(tmp_path, [5, 6]))[1:10:3]
    assert list(part.fetch(np.array([2, 0]))) == [b"7", b"1"]


def test_damaged_data_is_fetched_where_it_is_not_verified(tmp_path):
    (path,) = write_files(tmp_path, [3], size=10)
    Path(path).write_bytes(flip_byte(Path(path).read_bytes(), HEADER))
    assert len(RecordFile(path, verify=False).fetch(np.array([1, 0]))) == 2


def test_scattered_records_of_many_remote_files_are_requested_together():
    names = [f"far{number}" for number in range(8)]
    records = [[b"%d %d" % (shard, number) for number in range(50)] for shard in range(8)]
    objects = {
        name: FaultyObject(frames(mine), delay=0.005) for name, mine in zip(names, records, strict=True)
    }
    every = [record for mine in records for record in mine]
    under_way = Counter[str]()
    most = 0

    class Object:
        def __init__(self, name: str) -> None:
            self._name = name
            self.status = objects[name].status

        def read(self, begin: int, end: int) -> bytes:
            nonlocal most
            under_way[self._name] += 1
            most = max(most, len(+under_way))
            try:
                return objects[self._name].read(begin, end)
            finally:
                under_way[self._name] -= 1

    with stored_as(objects["far0"]), pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote_file, "open_object", lambda url: Object(url.rpartition("/")[2]))
        file = RecordFile([Url(f"fake://bucket/{name}") for name in names])
        numbers = [399, 3, 60, 120, 200, 250, 300, 0]
        assert len(file) == 400
        most = 0
        assert file.__getitems__(numbers) == [every[number] for number in numbers]
        assert list(file.fetch(np.array(numbers))) == [every[number] for number in numbers]
    assert most > 3
