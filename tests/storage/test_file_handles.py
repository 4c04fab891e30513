"""Open files: shared by threads, closed when they are too many, never pickled."""

from __future__ import annotations

import gc
import os
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

import purerecord as pr
from purerecord.container.looks_like import open_source
from purerecord.dataset import TFRecordDataset
from purerecord.storage import file_handles
from purerecord.storage.file_handles import KEPT, OpenFile, OpenFiles
from purerecord.storage.opened import Opened
from tests.support.other_systems import limit_calls_as_macos

needs_proc = pytest.mark.skipif(
    not os.path.exists("/proc/self/fd"), reason="descriptors are counted in /proc"
)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True, scope="module")
def _closed() -> None:
    gc.collect()  # files that the tests of other modules left open


@pytest.fixture
def paths(tmp_path):
    found = []
    for number in range(KEPT + 20):
        path = tmp_path / f"{number:03d}"
        path.write_bytes(b"%03d" % number)
        found.append(str(path))
    return found


def test_bytes_at_a_position_end_with_the_file(paths):
    file = OpenFiles().get(paths[7])
    assert file.read_at(1, 2) == b"07"
    assert file.read_at(1, 100) == b"07"
    assert file.read_at(3, 1) == b""


@pytest.mark.parametrize("without", [(), ("preadv",), ("pread", "preadv")], ids=str)
def test_one_call_never_reads_more_than_macos_allows(without, tmp_path, monkeypatch):
    assert file_handles.MOST_AT_ONCE < 1 << 31
    monkeypatch.setattr(file_handles, "MOST_AT_ONCE", 7)
    limit_calls_as_macos(monkeypatch, 7)
    for name in without:
        monkeypatch.delattr(os, name)
    path = tmp_path / "file"
    path.write_bytes(bytes(range(100)))
    file = OpenFiles().get(str(path))
    assert file.read_at(3, 50) == bytes(range(3, 53))
    assert file.read_at(90, 50) == bytes(range(90, 100))
    view = memoryview(bytearray(50))
    assert file.read_into(3, view) == 50
    assert view == bytes(range(3, 53))
    assert file.read_into(90, view) == 10


@needs_proc
def test_only_so_many_are_kept_open_and_none_at_the_end(paths):
    before = descriptors()
    files = OpenFiles()
    for path in paths:
        assert files.get(path).read_at(0, 3) == os.path.basename(path).encode()
    assert descriptors() - before == KEPT
    del files
    assert descriptors() == before


@needs_proc
def test_file_in_use_stays_open_when_others_push_it_out(paths):
    before = descriptors()
    files = OpenFiles()
    file = files.get(paths[0])
    for path in paths[1:]:
        files.get(path)
    assert descriptors() - before == KEPT + 1
    assert file.read_at(0, 3) == b"000"
    del file
    assert descriptors() - before == KEPT


def test_threads_share_them(paths):
    files = OpenFiles()
    with ThreadPoolExecutor(8) as pool:
        got = pool.map(lambda path: files.get(path).read_at(0, 3), paths * 20)
    assert list(got) == [os.path.basename(path).encode() for path in paths * 20]


def test_pickle_holds_no_file(paths):
    files = OpenFiles()
    files.get(paths[0])
    assert pickle.loads(pickle.dumps(files)).get(paths[0]).read_at(0, 3) == b"000"


@needs_proc
def test_record_file_of_many_shards_keeps_few_of_them_open(tmp_path):
    paths = []
    for number in range(2 * KEPT):
        paths.append(str(tmp_path / str(number)))
        with pr.TFRecordWriter(paths[-1]) as writer:
            writer.write(b"%d" % number)
    before = descriptors()
    records = pr.RecordFile(paths)
    assert [records[number] for number in range(2 * KEPT)] == [b"%d" % n for n in range(2 * KEPT)]
    assert records.__getitems__(range(2 * KEPT)) == list(records)
    assert descriptors() - before == KEPT


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_reader_forgotten_together_with_an_error_is_closed_without_a_word(compression, tmp_path):
    path = tmp_path / "file"
    with pr.TFRecordWriter(path, compression) as writer:
        writer.write_many([b"record"] * 100)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(20):
            for reader in (pr.read_records(path), iter(TFRecordDataset(path)), open_source(str(path))):
                first = reader.read(100) if isinstance(reader, Opened) else next(reader)
                cycle: list = [reader, first]  # like a traceback and its frames
                cycle.append(cycle)
                del reader, cycle
        gc.collect()
    assert said == []
    with pytest.raises(FileNotFoundError):
        Opened(str(tmp_path / "missing"))


def test_a_file_whose_closing_is_interrupted_is_not_closed_twice(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"data")
    file = OpenFile(str(tmp_path / "file"))
    closed = []

    def close_and_interrupt(descriptor, close=os.close):
        close(descriptor)
        closed.append(descriptor)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "close", close_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        file.close()
    file.close()
    assert len(closed) == 1
