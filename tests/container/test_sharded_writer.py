"""Writing many files: names, balance, limits, and shards that appear together or not at all."""

from __future__ import annotations

import contextlib
import errno
import glob
import itertools
import os
import random
import re
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purerecord
from purerecord import (
    ClosedError,
    EncodeError,
    Records,
    ShardedWriter,
    TFRecordOptions,
    read_records,
)
from tests.support.damage import OVERHEAD, frame
from tests.support.other_systems import replace_as_windows, sync_as_windows
from tests.support.settings import CAMPAIGN

HOME = str(Path(purerecord.__file__).parents[1])
RECORDS = [b"one", b"", b"three" * 100]
BLOCKED = TFRecordOptions("GZIP", block_size=200)
ALL = [None, "GZIP", "ZLIB", BLOCKED]
each = pytest.mark.parametrize("options", ALL, ids=["plain", "GZIP", "ZLIB", "blocked"])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.tfrecord"


def leftovers(folder: Path) -> list[str]:
    """Everything in the folder, hidden files too."""
    return sorted(os.listdir(folder))


def run(program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess:
    """A Python process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        env={**os.environ, "PYTHONPATH": HOME},
        capture_output=True,
        check=check,
        text=True,
    )


def shards(folder: Path) -> dict[str, list[bytes]]:
    return {name: list(read_records(folder / name)) for name in leftovers(folder)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_sharded_names_and_content(folder):
    with ShardedWriter("t@3.tfrecord") as writer:
        writer.write_many(b"%d" % i for i in range(10))
        writer.write(b"last")
    assert writer.paths == [f"t-0000{i}-of-00003.tfrecord" for i in range(3)]
    found = shards(folder)
    assert sorted(found) == writer.paths
    assert sorted(record for part in found.values() for record in part) == sorted(
        [*(b"%d" % i for i in range(10)), b"last"]
    )


@given(st.lists(st.integers(0, 3000), max_size=60), st.integers(1, 5))
@settings(max_examples=40 * CAMPAIGN)
def test_shards_are_balanced_by_bytes(tmp_path, lengths, count):
    with ShardedWriter(tmp_path / "t", shards=count) as writer:
        writer.write_many(map(bytes, lengths))
    sizes = [os.path.getsize(path) for path in writer.paths]
    assert len(sizes) == count
    assert sum(sizes) == sum(length + OVERHEAD for length in lengths)
    assert max(sizes) - min(sizes) <= max(lengths, default=0) + OVERHEAD


def test_equal_records_are_dealt_out_in_turn(folder):
    with ShardedWriter("t", shards=3) as writer:
        writer.write_many(b"%d" % i for i in range(9))
    assert list(shards(folder).values()) == [[b"0", b"3", b"6"], [b"1", b"4", b"7"], [b"2", b"5", b"8"]]


def test_number_of_shards_may_be_known_at_the_end_only(folder):
    with ShardedWriter("t@*.x", max_records=4) as writer:
        for i in range(10):
            writer.write(b"%d" % i)
    assert writer.paths == [f"t-0000{i}-of-00003.x" for i in range(3)]
    assert list(read_records(writer.paths)) == [b"%d" % i for i in range(10)]
    assert [len(part) for part in shards(folder).values()] == [4, 4, 2]


@given(st.lists(st.integers(0, 300), max_size=40), st.integers(1, 500), st.integers(1, 10))
@settings(max_examples=25 * CAMPAIGN)
def test_filled_shards_keep_their_limits_and_the_order(tmp_path, lengths, max_bytes, max_records):
    records = [bytes([i]) * length for i, length in enumerate(lengths)]
    with ShardedWriter(tmp_path / "t", max_bytes=max_bytes, max_records=max_records) as writer:
        writer.write_many(records)
    assert list(read_records(writer.paths)) == records
    for path in writer.paths:
        count = sum(1 for _ in read_records(path))
        assert count <= max_records
        assert os.path.getsize(path) <= max_bytes or count == 1
    for path in writer.paths:
        os.unlink(path)


def test_no_records_are_one_empty_shard_or_as_many_as_asked_for(folder):
    with ShardedWriter("t", max_records=4) as writer:
        pass
    assert writer.paths == ["t-00000-of-00001"]
    with ShardedWriter("u", shards=2) as writer:
        pass
    assert shards(folder) == {"t-00000-of-00001": [], "u-00000-of-00002": [], "u-00001-of-00002": []}


@each
def test_shards_follow_the_options(folder, options):
    with ShardedWriter("t@2", options=options) as writer:
        writer.write_many(RECORDS * 20)
    assert sorted(read_records("t@2")) == sorted(RECORDS * 20)
    head = Path(writer.paths[0]).read_bytes()[:2]
    assert head == {None: frame(b"")[:0], "ZLIB": b"\x78\x9c"}.get(options, b"\x1f\x8b") or options is None


def test_shards_appear_together_at_the_end(folder):
    with ShardedWriter("t@2") as writer:
        writer.write_many(RECORDS)
        writer.flush()
        assert not [name for name in leftovers(folder) if not name.startswith(".")]
    assert leftovers(folder) == writer.paths


def test_exception_discards_all_shards(folder):
    for how in ({"shards": 3}, {"max_records": 2}):
        with contextlib.suppress(KeyError), ShardedWriter("t", **how) as writer:
            writer.write_many(RECORDS)
            raise KeyError
        assert leftovers(folder) == []
        with pytest.raises(ClosedError):
            writer.write(b"x")


def test_bad_record_is_an_encode_error_whatever_the_sharding(folder):
    for how in ({"shards": 2}, {"max_records": 2}):
        with ShardedWriter("t", **how) as writer:
            with pytest.raises(EncodeError):
                writer.write(None)
            writer.write(b"good")
        assert list(read_records(writer.paths)) == [b"good"]


def test_forgotten_shards_are_discarded_with_a_warning(folder):
    writer = ShardedWriter("t", max_records=1)
    writer.write_many(RECORDS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del writer
    assert [warning.category for warning in caught] == [ResourceWarning]
    assert leftovers(folder) == []


def test_use_of_sharded_writer_after_close_is_a_closed_error(folder):
    writer = ShardedWriter("t@2")
    writer.close()
    writer.close()
    for use in (lambda: writer.write(b"x"), lambda: writer.write_many([])):
        with pytest.raises(ClosedError):
            use()
    assert "(closed)" in repr(writer)


@pytest.mark.parametrize(
    ("pattern", "how"),
    [
        ("t", {}),
        ("t@3", {"shards": 4}),
        ("t@3", {"max_records": 4}),
        ("t@0", {}),
        ("t", {"shards": 0}),
        ("t", {"max_bytes": 0}),
        ("t", {"shards": 2, "max_bytes": 10}),
        ("t", {"shards": 2, "options": "FOO"}),
    ],
)
def test_impossible_sharding_is_refused_at_once(folder, pattern, how):
    with pytest.raises(ValueError, match=r"\w"):
        ShardedWriter(pattern, **how)
    assert leftovers(folder) == []


def test_shards_that_cannot_be_opened_leave_nothing_behind(tmp_path):
    program = """
        import os, resource, sys, purerecord
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
        try:
            purerecord.ShardedWriter(sys.argv[1] + "/t", shards=100)
        except OSError as error:
            print(error.errno, os.listdir(sys.argv[1]))
    """
    assert run(program, str(tmp_path)).stdout.strip() == f"{errno.EMFILE} []"


def test_shard_that_cannot_get_its_name_leaves_no_temporary_files(folder):
    (folder / "t-00001-of-00002").mkdir()
    writer = ShardedWriter("t@2")
    with pytest.raises(OSError, match="t-00001-of-00002"):
        writer.close()
    assert not [name for name in leftovers(folder) if name.startswith(".")]


def replacing(monkeypatch, at: int, act) -> None:
    """Lets ``act`` happen instead of rename number ``at``."""
    rename, count = os.replace, itertools.count(1)

    def replace(source, target):
        if next(count) == at:
            act()
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_killed_while_it_replaces_shards_leaves_no_mix(folder, monkeypatch):
    old, new = [b"old %d" % i for i in range(40)], [b"new %d" % i for i in range(40)]
    seen = set()
    for at in range(1, 10):
        for name in leftovers(folder):
            os.unlink(name)
        with ShardedWriter("t@4") as writer:
            writer.write_many(old)
        child = os.fork()
        if child == 0:
            replacing(monkeypatch, at, lambda: os._exit(9))
            with ShardedWriter("t@4") as writer:
                writer.write_many(new)
            os._exit(0)
        killed = os.waitpid(child, 0)[1] != 0
        assert killed == (at < 9)
        kinds = {record.split()[0] for name in glob.glob("t-*") for record in read_records(name)}
        assert len(kinds) <= 1
        whole = len(glob.glob("t-*")) == 4
        seen.add((whole, *kinds))
        if whole:
            assert sorted(read_records("t@4")) == sorted(new if kinds == {b"new"} else old)
        else:
            for pattern in ("t@4", "t@*", "t-?????-of-?????"):
                with pytest.raises(FileNotFoundError):
                    read_records(pattern)
    assert seen == {(True, b"old"), (False, b"old"), (False,), (False, b"new"), (True, b"new")}


@pytest.mark.parametrize("error", [PermissionError(errno.EPERM, "immutable"), KeyboardInterrupt()])
def test_an_error_while_shards_are_replaced_leaves_the_old_ones(folder, monkeypatch, error):
    def fail():
        raise error

    old = [b"old %d" % i for i in range(40)]
    with ShardedWriter("t@4") as writer:
        writer.write_many(old)
    names = leftovers(folder)
    for at in range(1, 9):
        with monkeypatch.context() as patched:
            replacing(patched, at, fail)
            writer = ShardedWriter("t@4")
            writer.write_many([b"new"] * 40)
            with pytest.raises(type(error)):
                writer.close()
        complete = glob.glob(".t-*.complete-*")
        assert len(complete) == (4 if isinstance(error, PermissionError) else 0)
        for name in complete:
            assert set(read_records(name)) == {b"new"}
            os.unlink(name)
        assert leftovers(folder) == names
        assert sorted(read_records("t@4")) == sorted(old)


@pytest.mark.parametrize(("how", "name"), [("t@2", "t-00000-of-00002"), ("t@*", "t-00000-of-?????")])
def test_errors_of_the_disk_name_the_shard(folder, monkeypatch, how, name):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    writer = ShardedWriter(how, max_records=None if how == "t@2" else 50)
    writer.write_many(RECORDS)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=re.escape(repr(name))):
        writer.close()


def test_file_url_is_a_path_for_shards_too(folder):
    with ShardedWriter(f"file://{folder}/t@2") as writer:
        writer.write_many(RECORDS)
    assert sorted(read_records(f"file://{folder}/t@*")) == sorted(RECORDS)


def test_shards_do_not_appear_when_one_cannot(tmp_path):
    (tmp_path / "s-00001-of-00003").mkdir()
    writer = ShardedWriter(tmp_path / "s", shards=3)
    writer.write_many([b"a", b"b", b"c"])
    with pytest.raises(IsADirectoryError):
        writer.close()
    assert sorted(os.listdir(tmp_path)) == ["s-00001-of-00003"]


@pytest.mark.parametrize("how", [{"shards": 3}, {"max_bytes": 3000}, {"max_records": 7}])
@pytest.mark.parametrize("as_given", [iter, Records.of])
def test_shards_are_the_same_in_whichever_form_records_come(tmp_path, how, as_given):
    payloads = [random.Random(i).randbytes(i % 300) for i in range(100)]
    files = []
    for folder, form in (("one", list), ("other", as_given)):
        (tmp_path / folder).mkdir()
        with ShardedWriter(tmp_path / folder / "s", **how) as writer:
            writer.write_many(form(payloads))
        files.append([Path(path).read_bytes() for path in writer.paths])
    assert files[0] == files[1]
    assert len(files[0]) > 1


# Failure of the disk: a shard that is cut, or that lacks records, never gets its name.

FULL_DISK = """
    import resource, signal, sys, purerecord
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit = lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    pattern, options = sys.argv[1], eval(sys.argv[2])
    writer = purerecord.ShardedWriter(pattern, **options)
    limit(100_000)
    records = [b"%06d" % number + b"x" * 1000 for number in range(4000)]
    try:
        if sys.argv[3] == "many":
            writer.write_many(records)
        else:
            for record in records:
                writer.write(record)
    except OSError as error:
        print("failed", error.errno)
    limit(resource.RLIM_INFINITY)
    for again in (writer.close, writer.flush, lambda: writer.write(b"x"), writer.close):
        try:
            again()
            print("went on")
        except purerecord.ClosedError as error:
            print("refused", "File too large" in str(error) and "write them again" in str(error))
    print(writer.paths)
"""


@pytest.mark.parametrize("how", ["many", "one by one"])
@pytest.mark.parametrize("options", [{"shards": 4}, {"max_bytes": 150_000}, {"max_records": 120}], ids=str)
def test_nothing_gets_a_name_after_a_write_that_failed(options, how, tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            textwrap.dedent(FULL_DISK),
            "out@*.tfrecord",
            repr(options),
            how,
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": HOME},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == [f"failed {errno.EFBIG}", *["refused True"] * 4, "[]"]
    assert list(tmp_path.iterdir()) == []


def test_record_that_is_none_does_not_count_as_a_failure_of_the_disk(tmp_path):
    with ShardedWriter(tmp_path / "out", shards=2) as writer:
        with pytest.raises(EncodeError):
            writer.write_many([b"a", 7])
        writer.write(b"b")
    assert sorted(record for path in writer.paths for record in read_records(path)) == [b"a", b"b"]


# Windows


def test_windows_syncs_shards_that_are_open_for_writing(folder, monkeypatch):
    sync_as_windows(monkeypatch)
    with ShardedWriter(folder / "x", shards=2) as writer:
        writer.write_many([b"a", b"b"])
    assert [list(read_records(path)) for path in writer.paths] == [[b"a"], [b"b"]]


def test_shards_that_a_program_has_open_on_windows_keep_their_new_data(folder, monkeypatch):
    names = [str(folder / f"x-0000{number}-of-00004") for number in range(4)]
    for name in names:
        Path(name).write_bytes(b"old")
    replace_as_windows(monkeypatch, names[1], names[3])
    writer = ShardedWriter(folder / "x", shards=4)
    writer.write_many([b"0", b"1", b"2", b"3"])
    with pytest.raises(PermissionError) as caught:
        writer.close()
    kept = sorted(str(path) for path in folder.glob(".x-*.complete-*"))
    assert caught.value.filename == names[1]
    assert f"complete and kept as {', '.join(kept)}" in str(caught.value)
    assert [Path(name).read_bytes() for name in names] == [b"old"] * 4
    assert [list(read_records(path)) for path in kept] == [[b"0"], [b"1"], [b"2"], [b"3"]]
    assert len(os.listdir(folder)) == 8


@pytest.mark.parametrize(
    "division", [{"shards": 3}, {"max_records": 40}, {"shards": 2, "options": "GZIP"}, {"max_bytes": 500}]
)
def test_manifest_lists_what_was_written(tmp_path, division):
    payloads = [b"%d" % n * (n % 5) for n in range(100)]
    with ShardedWriter(tmp_path / "x@*.tfrecord", manifest=True, **division) as writer:
        for begin in range(0, 100, 7):
            writer.write_many(payloads[begin : begin + 7])
    assert writer.manifest_path == str(tmp_path / "x.tfrecord.manifest.json")
    manifest = purerecord.load_manifest(writer.manifest_path)
    assert manifest.paths() == writer.paths
    assert [entry.size for entry in manifest.files] == [os.path.getsize(path) for path in writer.paths]
    assert manifest.records == 100
    assert purerecord.validate(writer.paths, manifest=manifest).ok


def test_an_old_manifest_is_replaced(tmp_path):
    for count in (5, 8):
        with ShardedWriter(tmp_path / "x@2", manifest=True) as writer:
            writer.write_many([b"x"] * count)
        assert purerecord.load_manifest(writer.manifest_path).records == count
    assert sorted(os.listdir(tmp_path)) == ["x-00000-of-00002", "x-00001-of-00002", "x.manifest.json"]


def test_an_error_keeps_the_old_files_and_their_manifest(tmp_path):
    with ShardedWriter(tmp_path / "x@2", manifest=True) as writer:
        writer.write_many([b"old"] * 5)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    with contextlib.suppress(RuntimeError), ShardedWriter(tmp_path / "x@2", manifest=True) as writer:
        writer.write_many([b"new"] * 5)
        raise RuntimeError
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before
