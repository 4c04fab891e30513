"""Faults while writing: kill -9 between any two system calls, a full disk, a disk that fails.

Real processes are killed, and a real file system runs full where one can be mounted. Flushed records are
readable afterwards, and an incomplete file never has the name of a complete one.
"""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import purerecord
from purerecord import (
    ShardedWriter,
    TFRecordOptions,
    TFRecordWriter,
    build_index,
    read_records,
    salvage,
    validate,
)
from tests.support.damage import flip_byte, frames

HOME = str(Path(purerecord.__file__).parents[1])


def run(program: str, *arguments: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program), *arguments],
        env={**os.environ, "PYTHONPATH": HOME},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# kill -9

# A child process is forked for every moment at which it can die: before each write, in the middle of it, and
# before each sync, close, rename and removal, until one child reaches the end. After each death, the files
# that are left are checked.
KILLING = """
    import io, os, shutil, signal, sys
    from pathlib import Path
    import purerecord
    from purerecord import read_records, validate; from purerecord.container import writer as writer_module

    PAYLOADS = [b"%d " % i * (i % 40) for i in range(300)]
    DAMAGED = Path("damaged").read_bytes()

    def plain(told, options=None, **more):
        with purerecord.TFRecordWriter("work/out", options, **more) as writer:
            for number, payload in enumerate(PAYLOADS):
                writer.write(payload)
                if number % 60 == 59:
                    writer.flush()
                    os.write(told, b"%d\\n" % (number + 1))
        os.write(told, b"done")

    def sharded(told):
        with purerecord.ShardedWriter("work/out@5") as writer:
            writer.write_many(PAYLOADS)
        os.write(told, b"done")

    def salvaged(told):
        purerecord.salvage("damaged", "work/out", quarantine="work/bad")

    ACTIONS = {
        "plain": plain,
        "gzip": lambda told: plain(told, "GZIP"),
        "zlib": lambda told: plain(told, "ZLIB"),
        "blocked": lambda told: plain(told, purerecord.TFRecordOptions("GZIP", block_size=800)),
        "append": lambda told: plain(told, mode="a"),
        "atomic": lambda told: plain(told, atomic=True, index=True),
        "sharded": sharded,
        "salvage": salvaged,
    }

    def check(action, told):
        done = told.endswith(b"done")
        flushed = max(map(int, told.replace(b"done", b"").split()), default=0)
        if action == "salvage":
            assert Path("damaged").read_bytes() == DAMAGED
            if os.path.exists("work/out"):
                assert validate("work/out").ok and len(list(read_records("work/out"))) == 99
            if os.path.exists("work/bad"):
                assert sorted(os.listdir("work/bad"))[-1] == "damages.json"
        elif action == "atomic":
            assert os.path.exists("work/out") or not done
            if os.path.exists("work/out"):
                assert list(read_records("work/out")) == PAYLOADS
            if os.path.exists("work/out.index"):
                assert len(purerecord.RecordFile("work/out")) == 300
        elif action == "sharded":
            complete = [name for name in os.listdir("work") if not name.startswith(".")]
            for name in complete:
                assert validate(f"work/{name}").ok
                assert len(list(read_records(f"work/{name}"))) in range(50, 70)
            assert len(complete) == 5 or not done
        elif os.path.exists("work/out"):
            kept = list(read_records("work/out", on_error="stop"))
            assert kept == PAYLOADS[: len(kept)] and len(kept) >= flushed, (len(kept), flushed)
        else:
            assert not flushed

    def live(action, point, told):
        moments = iter(range(1, 1 << 30))

        def moment():
            if next(moments) == point:
                os.kill(os.getpid(), signal.SIGKILL)

        class Dying(io.FileIO):
            def write(self, data):
                moment()
                half = super().write(data[: len(data) // 2])
                moment()
                return half + super().write(data[half:])

            def close(self):
                if not self.closed:
                    moment()
                super().close()

        def before(function):
            def called(*arguments):
                moment()
                return function(*arguments)
            return called

        writer_module.open = lambda path, mode, buffering: Dying(path, mode.replace("b", ""))
        del os.writev  # then the writer uses write
        os.fsync, os.replace, os.unlink = map(before, (os.fsync, os.replace, os.unlink))
        ACTIONS[action](told)
        os._exit(0)

    action, point, status = sys.argv[1], 0, 1
    while status:
        point += 1
        shutil.rmtree("work", ignore_errors=True)
        os.mkdir("work")
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                live(action, point, writing)
            finally:
                os._exit(1)
        os.close(writing)
        with open(reading, "rb") as pipe:
            told = pipe.read()
        status = os.waitpid(child, 0)[1]
        assert status in (0, signal.SIGKILL), "the child failed in some other way"
        check(action, told)
    print(point)
"""


@pytest.mark.light(4)
@pytest.mark.parametrize(
    "action", ["plain", "gzip", "zlib", "blocked", "append", "atomic", "sharded", "salvage"]
)
def test_killed_between_any_two_system_calls(tmp_path, action):
    (tmp_path / "damaged").write_bytes(flip_byte(frames([b"%d" % i * 20 for i in range(100)]), 50))
    moments = int(run(KILLING, action, cwd=tmp_path))
    assert moments > 3


# A full disk


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of 128 kB, and 0; if no disk can be mounted, a folder and a limit for its files."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(folder)],
            capture_output=True,
            check=False,
        ).returncode
        == 0
        if sys.platform == "linux"
        else False
    )
    yield folder, 0 if mounted else 128 << 10
    if mounted:
        subprocess.run(["umount", str(folder)], check=True)


FULL = """
    import os, resource, signal, sys
    import purerecord

    action, limit, source = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if limit:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    def write(**more):
        with purerecord.TFRecordWriter("out", **more) as writer:
            for number in range(3000):
                writer.write(b"%d " % number * 20)

    def shard():
        with purerecord.ShardedWriter("out", max_bytes=200_000) as writer:
            writer.write_many(b"%d " % number * 20 for number in range(6000))

    actions = {
        "plain": write,
        "atomic": lambda: write(atomic=True),
        "sharded": shard,
        "salvage": lambda: purerecord.salvage(source, "out", quarantine="bad"),
        "index": lambda: purerecord.build_index(source).save("out"),
    }
    try:
        actions[action]()
    except OSError as error:
        print(error.errno)
"""


@pytest.fixture
def large(tmp_path):
    """A file that is too large for the small disk, as is its index. Its first record is damaged."""
    path = tmp_path / "large"
    path.write_bytes(flip_byte(frames([b"%d " % i for i in range(30_000)]), 14))
    return path


@pytest.mark.light(3)
@pytest.mark.parametrize("action", ["plain", "atomic", "sharded", "salvage", "index"])
def test_full_disk_is_an_error_and_nothing_half_done_is_left(small_disk, large, action):
    folder, limit = small_disk
    before = large.read_bytes()
    said = run(FULL, action, str(limit), str(large), cwd=folder)
    assert said.strip() in (str(errno.ENOSPC), str(errno.EFBIG))
    assert large.read_bytes() == before
    if action == "plain":
        kept = list(read_records(folder / "out", on_error="stop"))
        assert kept == [b"%d " % number * 20 for number in range(len(kept))]
        assert len(kept) > 500
    else:
        assert os.listdir(folder) == []


# A disk that fails


@pytest.fixture
def failing_sync(monkeypatch):
    def fail(_file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("os.fsync", fail)


def atomic(folder: Path) -> None:
    with TFRecordWriter(folder / "out", atomic=True) as writer:
        writer.write(b"x")


def sharded(folder: Path) -> None:
    with ShardedWriter(folder / "out", shards=3) as writer:
        writer.write_many([b"x"] * 10)


def salvaged(folder: Path) -> None:
    salvage(folder / "source", folder / "out", quarantine=folder / "bad")


@pytest.mark.parametrize("write", [atomic, sharded, salvaged])
def test_what_cannot_be_synced_never_appears(tmp_path, failing_sync, write):
    (tmp_path / "source").write_bytes(flip_byte(frames([b"x" * 20] * 10), 14))
    with pytest.raises(OSError, match="Input/output"):
        write(tmp_path)
    assert os.listdir(tmp_path) == ["source"]


@pytest.mark.parametrize("options", [None, "GZIP", TFRecordOptions("GZIP", block_size=100)])
def test_flush_that_fails_can_be_tried_again(tmp_path, monkeypatch, options):
    failures = iter([True, True, False])

    class Stubborn(io.FileIO):
        def write(self, data):
            if next(failures, False):
                raise OSError(errno.EIO, "Input/output error")
            return super().write(data)

    monkeypatch.setattr(
        "purerecord.container.writer.open", lambda path, mode, buffering: Stubborn(path, "w"), raising=False
    )
    writer = TFRecordWriter(tmp_path / "out", options)
    writer.write_many([b"a", b"b"])
    for _ in range(2):
        with pytest.raises(OSError, match="Input/output"):
            writer.flush()
    writer.flush()
    assert list(read_records(tmp_path / "out", on_error="stop")) == [b"a", b"b"]
    writer.write(b"c")
    writer.close()
    assert validate(tmp_path / "out").ok
    assert list(read_records(tmp_path / "out")) == [b"a", b"b", b"c"]


def test_index_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(frames([b"x"] * 5))
    index = build_index(tmp_path / "a")
    index.save(tmp_path / "a.index")
    before = (tmp_path / "a.index").read_bytes()

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="Input/output"):
        index.save(tmp_path / "a.index")
    assert (tmp_path / "a.index").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["a", "a.index"]
