"""Local copies of remote files: the version that the store has now, in bounded space, fetched once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import purerecord as pr
from purerecord.container import index
from purerecord.storage import remote_file
from purerecord.storage.file_handles import CachedFile, OpenFile, file_size, open_file
from purerecord.storage.file_lock import FileLock
from purerecord.storage.local_cache import Cache, cache_of, local_copy
from purerecord.storage.remote_file import RemoteFile
from purerecord.storage.url import Url
from tests.support.damage import frames
from tests.support.faulty_store import FaultyObject

RECORDS = [b"record %d" % number for number in range(100)]
DATA = frames(RECORDS)


@contextmanager
def store(files: dict[str, FaultyObject]) -> Iterator[dict[str, FaultyObject]]:
    """The files of a store by the last part of their names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote_file, "open_object", lambda url: files[url.rpartition("/")[2]])
        patch.setattr(remote_file, "_PAUSE", 0.0005)
        patch.setattr(index, "exists", lambda url: False)
        yield files


def url(name: str, folder: Path, size: Any = "1MB") -> Url:
    return Url(f"fake://bucket/{name}", {"local_cache": str(folder), "local_cache_size": size})


def copies(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if not name.endswith(".lock"))


def test_a_file_is_fetched_once_and_read_from_the_copy(tmp_path):
    with store({"a": FaultyObject(DATA)}) as files:
        for _ in range(3):
            assert list(pr.read_records(url("a", tmp_path))) == RECORDS
        assert isinstance(open_file(url("a", tmp_path)), CachedFile)
        assert pr.RecordFile(url("a", tmp_path))[41] == RECORDS[41]
        assert list(pr.TFRecordDataset(url("a", tmp_path)).batch(7))[3][0] == RECORDS[21]
        assert sum(end - begin for begin, end in files["a"].requests) == len(DATA)
    assert [name[:2] for name in copies(tmp_path)] == ["a.", "a."]  # the copy and its index


def test_without_the_option_nothing_is_copied(tmp_path):
    with store({"a": FaultyObject(DATA)}):
        assert isinstance(open_file(Url("fake://bucket/a", {"anon": True})), RemoteFile)


def test_a_new_version_is_fetched_and_the_old_copy_goes(tmp_path):
    new = frames([b"new"])
    with store({"a": FaultyObject(DATA)}) as files:
        assert list(pr.read_records(url("a", tmp_path))) == RECORDS
        files["a"].data, files["a"].version = new, "2"
        assert list(pr.read_records(url("a", tmp_path))) == [b"new"]
    assert len(copies(tmp_path)) == 1


def test_the_copies_used_least_recently_make_room(tmp_path):
    with store({name: FaultyObject(DATA) for name in "abcd"}):
        size = 3 * len(DATA)
        for name in "abc":
            local_copy(url(name, tmp_path), Cache(str(tmp_path), size))
            os.utime(tmp_path / copies(tmp_path)[-1], (ord(name), ord(name)))
        first = local_copy(url("a", tmp_path), Cache(str(tmp_path), size))  # used again
        local_copy(url("d", tmp_path), Cache(str(tmp_path), size))
        assert [name[0] for name in copies(tmp_path)] == ["a", "c", "d"]
        assert os.path.exists(first)


def test_a_file_that_is_open_stays_readable_when_its_copy_makes_room(tmp_path):
    with store({name: FaultyObject(DATA) for name in "ab"}):
        reader = iter(pr.read_records(url("a", tmp_path, len(DATA))))
        assert next(reader) == RECORDS[0]
        assert list(pr.read_records(url("b", tmp_path, len(DATA)))) == RECORDS
        assert [RECORDS[0], *reader] == RECORDS
        assert [name[0] for name in copies(tmp_path)] == ["b"]


def test_a_file_larger_than_the_cache_is_an_error_that_says_so(tmp_path):
    with (
        store({"a": FaultyObject(DATA)}),
        pytest.raises(OSError, match=r"bytes, and the cache .* may hold 100"),
    ):
        list(pr.read_records(url("a", tmp_path, 100)))
    assert copies(tmp_path) == []


def test_a_failed_fetch_leaves_nothing(tmp_path):
    faults = iter(["reset"] * 99)
    with store({"a": FaultyObject(DATA, faults)}), pytest.raises(OSError, match="given up after 8 attempts"):
        list(pr.read_records(url("a", tmp_path)))
    assert copies(tmp_path) == []


def test_a_missing_file_is_missing_at_once(tmp_path):
    faults = iter(["gone"] * 99)
    with store({"a": FaultyObject(DATA, faults)}) as files:
        with pytest.raises(FileNotFoundError):
            list(pr.read_records(url("a", tmp_path)))
        assert len(files["a"].requests) == 1


def test_faults_on_the_way_lose_nothing(tmp_path):
    faults = iter(["reset", "short", "busy", "empty", "none"] * 20)
    with store({"a": FaultyObject(DATA, faults)}):
        assert list(pr.read_records(url("a", tmp_path))) == RECORDS


def test_a_copy_that_was_damaged_on_the_local_disk_is_fetched_again(tmp_path):
    with store({"a": FaultyObject(DATA)}):
        list(pr.read_records(url("a", tmp_path)))
        path = tmp_path / copies(tmp_path)[0]
        damaged = bytearray(DATA)
        damaged[len(DATA) // 2] ^= 1
        path.write_bytes(damaged)
        assert list(pr.read_records(url("a", tmp_path))) == RECORDS
        path.write_bytes(b"")
        assert list(pr.read_records(url("a", tmp_path))) == RECORDS


def test_damage_in_the_store_is_damage_and_fetched_twice_at_most(tmp_path):
    damaged = bytearray(DATA)
    for number in (20, 60):
        damaged[DATA.index(RECORDS[number])] ^= 1
    with store({"a": FaultyObject(bytes(damaged))}) as files:
        got = list(pr.read_records(url("a", tmp_path), on_error="skip"))
        assert got == RECORDS[:20] + RECORDS[21:60] + RECORDS[61:]
        assert sum(end - begin for begin, end in files["a"].requests) == 2 * len(DATA)


def test_many_readers_at_once_fetch_each_file_once(tmp_path):
    with store({name: FaultyObject(DATA, delay=0.01) for name in "abc"}) as files:
        results: list[list[bytes]] = []

        def read() -> None:
            for name in "abc":
                results.append(list(pr.read_records(url(name, tmp_path))))

        threads = [threading.Thread(target=read) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [RECORDS] * 18
        assert [sum(end - begin for begin, end in files[name].requests) for name in "abc"] == [len(DATA)] * 3


def test_readers_that_need_more_than_the_cache_holds_wait_for_each_other(tmp_path):
    with store({name: FaultyObject(DATA, delay=0.01) for name in "abcdef"}):
        results = []
        threads = [
            threading.Thread(
                target=lambda name=name: results.append(
                    list(pr.read_records(url(name, tmp_path, 2 * len(DATA))))
                )
            )
            for name in "abcdef"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [RECORDS] * 6
        assert sum(os.stat(tmp_path / name).st_size for name in copies(tmp_path)) <= 2 * len(DATA)


def test_what_a_killed_process_has_left_makes_room(tmp_path):
    (tmp_path / f"b.x.y.{3 * len(DATA)}.partial").write_bytes(b"half")
    with store({"a": FaultyObject(DATA)}):
        list(pr.read_records(url("a", tmp_path, 3 * len(DATA))))
    assert [name[0] for name in copies(tmp_path)] == ["a"]


def test_what_another_process_fetches_now_counts_and_stays(tmp_path):
    partial = tmp_path / f"b.x.y.{len(DATA)}.partial"
    partial.write_bytes(b"half")
    with store({"a": FaultyObject(DATA), "c": FaultyObject(DATA)}), FileLock(str(tmp_path / "b.x.y.lock")):
        list(pr.read_records(url("a", tmp_path, 2 * len(DATA))))
        list(pr.read_records(url("c", tmp_path, 2 * len(DATA))))
        assert partial.exists()
    assert [name[0] for name in copies(tmp_path)] == ["b", "c"]


def test_the_index_of_a_copy_is_kept_and_never_used_for_another_version(tmp_path):
    with store({"a": FaultyObject(DATA)}) as files:
        assert len(pr.RecordFile(url("a", tmp_path))) == 100
        (kept,) = [name for name in copies(tmp_path) if name.endswith(".index")]
        before = os.stat(tmp_path / kept).st_mtime_ns
        assert pr.RecordFile(url("a", tmp_path))[99] == RECORDS[99]
        assert os.stat(tmp_path / kept).st_mtime_ns == before
        (tmp_path / kept).write_bytes(b"junk")
        assert pr.RecordFile(url("a", tmp_path))[99] == RECORDS[99]
        files["a"].data, files["a"].version = frames([b"x", b"y"]), "2"
        assert list(pr.RecordFile(url("a", tmp_path))) == [b"x", b"y"]


def test_a_file_whose_version_nobody_knows_is_refused(tmp_path):
    with store({"a": FaultyObject(DATA)}) as files:
        files["a"].version = ""
        with pytest.raises(OSError, match="does not say when it has changed"):
            list(pr.read_records(url("a", tmp_path)))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, None),
        ({"local_cache": "/c"}, Cache("/c", 10 * 10**9)),
        ({"local_cache": "/c", "local_cache_size": "5GiB"}, Cache("/c", 5 << 30)),
        ({"local_cache": Path("/c"), "local_cache_size": 7}, Cache("/c", 7)),
    ],
)
def test_the_options_say_where_and_how_much(options, expected):
    assert cache_of(Url("fake://bucket/a", options)) == expected


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"local_cache_size": "1GB"}, "a folder that is not given"),
        ({"local_cache": "/c", "local_cache_size": "much"}, "a size like 150MB"),
    ],
)
def test_options_that_make_no_sense_are_errors(options, match):
    with pytest.raises(ValueError, match=match):
        cache_of(Url("fake://bucket/a", options))


def test_the_store_does_not_see_the_options_of_the_cache():
    assert Url("fake://a", {"anon": True, "local_cache": "/c"}).store_options == {"anon": True}


def test_an_open_local_file_is_no_cached_one(tmp_path):
    (tmp_path / "file").write_bytes(DATA)
    assert type(open_file(str(tmp_path / "file"))) is OpenFile


def test_the_size_of_a_file_is_known_without_fetching_it(tmp_path):
    with store({"a": FaultyObject(DATA)}) as files:
        assert file_size(url("a", tmp_path)) == len(DATA)
        assert files["a"].requests == []
