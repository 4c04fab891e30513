"""Storage: what a caller may name, and plain bytes from whatever it is."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import itertools
import lzma
import mmap
import os
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import purerecord
from purerecord import ChecksumError, ShardedWriter, TFRecordWriter, TruncatedError, read_records
from purerecord.container.looks_like import detect, open_source
from purerecord.storage import opened
from purerecord.storage.paths import is_url, resolve, resolve_paths, shard_names, split_pattern
from tests.support.all_readers import Trickle
from tests.support.damage import frame, frames, header
from tests.support.interop import interop
from tests.support.settings import sampled

RECORDS = [b"one", b"", b"three" * 100]
DATA = frames(RECORDS)
HOME = str(Path(purerecord.__file__).parents[1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(*names: str) -> list[str]:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(frame(name.encode()))
    return list(names)


# Names


def test_path_is_itself_in_every_spelling(folder):
    touch("a")
    for source in ("a", b"a", Path("a"), "file://a", ["a"], ("a",), iter(["a"]), [["a"]]):
        assert [os.fspath(name) for name in resolve(source)] == ["a"]


def test_file_url_is_an_absolute_path(folder):
    touch("a")
    assert list(read_records(f"file://{folder}/a")) == [b"a"]


def test_glob_is_sorted_and_leaves_folders_out(folder):
    touch("b.tfrecord", "a.tfrecord", "sub/c.tfrecord")
    Path("z.tfrecord").mkdir()
    assert resolve("*.tfrecord") == ["a.tfrecord", "b.tfrecord"]
    assert resolve("**/*.tfrecord") == ["a.tfrecord", "b.tfrecord", "sub/c.tfrecord"]
    assert resolve("[b]*") == ["b.tfrecord"]
    assert resolve(["b*", "a*"]) == ["b.tfrecord", "a.tfrecord"]


def test_name_that_looks_like_a_pattern_but_exists_is_a_name(folder):
    names = touch("a[1]?.tfrecord", "b@2", "c@*")
    for name in names:
        assert resolve(name) == [name]


def test_missing_file_is_a_file_not_found_error_with_its_name(folder):
    for name in (
        "missing",
        "missing-*",
        "missing@*",
        "missing@3",
        "missing-?????-of-?????",
        "file://missing",
    ):
        with pytest.raises(FileNotFoundError) as caught:
            read_records(name)
        assert "missing" in str(caught.value.filename)


def test_one_missing_file_of_many_is_said_before_anything_is_read(folder):
    touch("a")
    with pytest.raises(FileNotFoundError, match="b"):
        read_records(["a", "b"])


def test_dangling_link_folder_and_no_permission_are_os_errors(folder):
    Path("link").symlink_to("nowhere")
    Path("folder").mkdir()
    with pytest.raises(FileNotFoundError):
        read_records("link")
    with pytest.raises(IsADirectoryError):
        read_records("folder")
    touch("secret")
    Path("secret").chmod(0)
    if os.geteuid() != 0:
        with pytest.raises(PermissionError):
            read_records("secret")


@pytest.mark.parametrize("wrong", [5, None, 1.5, [5], [None], [b"a", object()]])
def test_what_is_neither_path_nor_file_is_a_type_error(folder, wrong):
    touch("a")
    with pytest.raises(TypeError):
        read_records(wrong)


SHARDS = ["t-00000-of-00003", "t-00001-of-00003", "t-00002-of-00003"]


def test_shards_by_count_by_star_and_by_question_marks(folder):
    touch(*SHARDS)
    for pattern in ("t@3", "t@*", "t-?????-of-?????", "t-*-of-*", "t-?????-of-00003"):
        assert resolve(pattern) == SHARDS


def test_shards_with_a_suffix_or_in_a_folder(folder):
    names = [f"d/t-0000{i}-of-00002.tfrecord" for i in range(2)]
    touch(*names)
    for pattern in ("d/t@2.tfrecord", "d/t@*.tfrecord", "d/t-?????-of-?????.tfrecord"):
        assert resolve(pattern) == names
    tfds = touch("mnist-train.tfrecord-00000-of-00001")
    assert resolve("mnist-train.tfrecord@1") == tfds
    assert resolve("mnist-train.tfrecord@*") == tfds


def test_shards_in_a_folder_that_is_named_like_one(folder):
    names = touch("x-00001-of-00009/t-00000-of-00002", "x-00001-of-00009/t-00001-of-00002")
    assert resolve("x-00001-of-00009/t@*") == names
    assert resolve("x-00001-of-00009/t-?????-of-?????") == names


def test_what_lies_beside_the_shards_is_none_of_them(folder):
    touch(*SHARDS, *(f"{name}.index" for name in SHARDS), "t-more-of-this")
    assert resolve("t@*") == SHARDS


@pytest.mark.parametrize("pattern", ["t@3", "t@*", "t-?????-of-?????", "t-?????-of-00003"])
def test_missing_shard_is_an_error_that_names_it(folder, pattern):
    touch(SHARDS[0], SHARDS[2])
    with pytest.raises(FileNotFoundError, match=r"00001|number 1"):
        resolve(pattern)


def test_plain_glob_asks_for_no_completeness(folder):
    touch(SHARDS[0], SHARDS[2])
    assert resolve("t-*") == [SHARDS[0], SHARDS[2]]


def test_shards_of_two_datasets_at_once_are_refused(folder):
    touch(*SHARDS, "t-00000-of-00001")
    with pytest.raises(ValueError, match="several datasets"):
        resolve("t@*")
    assert resolve("t@1") == ["t-00000-of-00001"]


def test_no_shards_are_refused(folder):
    with pytest.raises(ValueError, match="no shards"):
        resolve("t@0")


def test_shard_names_are_those_of_tensorflow():
    assert shard_names("t", 2) == ["t-00000-of-00002", "t-00001-of-00002"]
    assert shard_names("t.x", 1, at=1) == ["t-00000-of-00001.x"]
    assert shard_names("t", 100_000)[-1] == "t-099999-of-100000"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("t", ("t", "", None)),
        ("t@10", ("t", "", 10)),
        ("t@10.gz", ("t", ".gz", 10)),
        ("t@*.gz", ("t", ".gz", None)),
        ("me@home/t", ("me@home/t", "", None)),
        ("me@2/t@3", ("me@2/t", "", 3)),
        ("@3", ("@3", "", None)),
    ],
)
def test_patterns_are_taken_apart(pattern, expected):
    assert split_pattern(pattern) == expected


def test_urls_are_told_from_paths():
    assert [is_url(name) for name in ("s3://b/k", "memory://x", "gs://b")] == [True] * 3
    assert [is_url(name) for name in ("file://x", "/a://b", "a/b", "c:/x", "FILE:///x")] == [False] * 5


def test_open_files_pass_where_order_suffices_and_are_refused_where_not(folder):
    file = io.BytesIO(DATA)
    assert resolve(file) == [file]
    assert resolve([file, file]) == [file, file]
    with pytest.raises(TypeError, match="open files"):
        resolve_paths([file])


# Files of all kinds


def zip_file(path: Path) -> io.IOBase:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inside", DATA)
    return zipfile.ZipFile(path).open("inside")


def tar_file(path: Path) -> io.IOBase:
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo("inside")
        entry.size = len(DATA)
        archive.addfile(entry, io.BytesIO(DATA))
    file = tarfile.open(path).extractfile("inside")  # noqa: SIM115 - the caller closes it
    assert file is not None
    return file


def written(path: Path, data: bytes = DATA) -> Path:
    path.write_bytes(data)
    return path


def spooled(path: Path) -> tempfile.SpooledTemporaryFile:
    file = tempfile.SpooledTemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(DATA)
    file.seek(0)
    return file


OPENERS = {
    "buffered": lambda path: written(path).open("rb"),
    "raw": lambda path: written(path).open("rb", buffering=0),
    "BytesIO": lambda path: io.BytesIO(DATA),
    "BufferedReader over a trickle": lambda path: io.BufferedReader(Trickle(DATA, 5)),
    "gzip": lambda path: gzip.open(written(path, gzip.compress(DATA))),  # noqa: SIM115 - the test closes it
    "bz2": lambda path: bz2.open(written(path, bz2.compress(DATA))),  # noqa: SIM115 - the test closes it
    "lzma": lambda path: lzma.open(written(path, lzma.compress(DATA))),  # noqa: SIM115 - the test closes it
    "zip": zip_file,
    "tar": tar_file,
    "spooled": spooled,
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("opener", OPENERS.values(), ids=OPENERS.keys())
def test_any_binary_file_is_read_and_stays_open(tmp_path, opener):
    with opener(tmp_path / "file") as file:
        with read_records(file) as reader:
            assert list(reader) == RECORDS
        assert not file.closed


def test_mmap_is_read(tmp_path):
    with (
        written(tmp_path / "file").open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
    ):
        assert list(read_records(mapped)) == RECORDS


def test_open_file_is_read_from_where_it_stands(tmp_path):
    with written(tmp_path / "file", b"before" + DATA).open("rb") as file:
        file.seek(6)
        assert list(read_records(file)) == RECORDS


@pytest.mark.parametrize("text", [io.StringIO("text"), io.TextIOWrapper(io.BytesIO(DATA))])
def test_text_file_is_refused(text):
    with pytest.raises(TypeError, match=r"binary mode|must give bytes"):
        list(read_records(text))


def test_file_that_gives_no_bytes_is_refused():
    class Strange:
        def read(self, size):
            return "text"

    with pytest.raises(TypeError, match="must give bytes, not str"):
        list(read_records(Strange()))


def test_pipe_is_read_as_it_fills():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as sink:
        reader = read_records(source)
        for record in RECORDS:
            sink.write(frame(record))
            assert next(reader) == record  # each at once, not when a buffer is full
        sink.close()
        assert list(reader) == []


def test_device_is_read_although_it_has_no_size():
    with read_records("/dev/zero") as reader, pytest.raises(ChecksumError):
        next(reader)


def test_named_pipe_is_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    thread = threading.Thread(target=path.write_bytes, args=(DATA,))
    thread.start()
    assert list(read_records(path)) == RECORDS
    thread.join()


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zlib.compress])
def test_socket_is_read(compress):
    here, there = socket.socketpair()
    with here, there, here.makefile("rb") as file:
        there.sendall(compress(DATA))
        there.shutdown(socket.SHUT_WR)
        assert list(read_records(file)) == RECORDS


def test_socket_that_has_nothing_at_the_moment_loses_nothing():
    here, there = socket.socketpair()
    with here, there, here.makefile("rb", buffering=0) as file:
        here.setblocking(False)
        reader = read_records(file)
        got = []
        for at in range(0, len(DATA), 7):
            there.sendall(DATA[at : at + 7])
            try:
                while True:
                    got.append(next(reader))
            except BlockingIOError:
                pass
        there.close()
        assert got + list(reader) == RECORDS


@pytest.mark.light(3)
@pytest.mark.parametrize("compress", [bytes, gzip.compress, zlib.compress])
@pytest.mark.parametrize("source", ["sys.stdin.buffer", "'/dev/stdin'"])
def test_stdin_is_read_in_a_process(compress, source):
    program = f"import sys, purerecord; print(list(map(len, purerecord.read_records({source}))))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=compress(DATA),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": HOME},
    )
    assert done.stdout.decode().strip() == str(list(map(len, RECORDS)))


def test_empty_things_hold_no_records(tmp_path):
    for source in (written(tmp_path / "empty", b""), "/dev/null", io.BytesIO(), []):
        for compression in ("auto", "", "GZIP", "ZLIB"):
            assert list(read_records(source, compression=compression)) == []


def test_file_that_fails_to_be_read_raises_its_own_error_after_what_came_before():
    class Failing(Trickle):
        def readinto(self, buffer):
            size = super().readinto(buffer)
            if not size:
                raise OSError(errno.EIO, "the disk is gone")
            return size

    for batch_size in (1, 2, 100):
        reader = read_records(Failing(DATA + header(100), 50))
        batches = reader.batches(batch_size)
        got = []
        with pytest.raises(OSError, match="the disk is gone"):
            got.extend(record for batch in batches for record in batch)
        assert got == RECORDS


@pytest.mark.parametrize(
    "interrupt", [OSError(errno.EIO, "once"), KeyboardInterrupt()], ids=["disk", "ctrl-C"]
)
@pytest.mark.parametrize("batch_size", [0, 7, 4096])
def test_reading_goes_on_where_it_was_interrupted(tmp_path, monkeypatch, interrupt, batch_size):
    payloads = [bytes([i % 256]) * (20_000 if i % 700 == 0 else i % 300) for i in range(9000)]
    path = written(tmp_path / "file", frames(payloads))
    moments: Iterator[int] = iter(())

    class Interrupted(opened._SelfClosingFile):
        def read(self, size=-1):
            if next(moments) == 0:
                raise interrupt
            return super().read(size)

        def readinto(self, buffer):
            if next(moments) == 0:
                raise interrupt
            return super().readinto(buffer)

    monkeypatch.setattr(opened, "_SelfClosingFile", Interrupted)
    for moment in sampled(range(2, 30), 8):
        moments = itertools.count(-moment)
        reader = read_records(path)
        parts = reader.batches(batch_size) if batch_size else ([record] for record in reader)
        got: list[bytes] = []
        try:
            for part in parts:
                got += part
        except type(interrupt):
            parts = reader.batches(batch_size) if batch_size else [reader]
            got += [record for part in parts for record in part]
        assert got == payloads


@pytest.mark.parametrize("batch_size", [1, 7, 900])
def test_damage_is_found_where_it_is_also_if_reading_is_interrupted(tmp_path, monkeypatch, batch_size):
    data = bytearray(frames([b"%05d" % i * 90 for i in range(10_000)]))
    for number in range(100, 10_000, 323):
        data[number * 466 + 50] ^= 1
    path = written(tmp_path / "file", bytes(data))
    expected = list(read_records(path, on_error="skip"))
    moments: Iterator[int] = iter(())

    class Interrupted(opened._SelfClosingFile):
        def readinto(self, buffer):
            if next(moments) == 0:
                raise OSError(errno.EIO, "once")
            return super().readinto(buffer)

    monkeypatch.setattr(opened, "_SelfClosingFile", Interrupted)
    for moment in sampled(range(1, 9), 4):
        moments = itertools.count(-moment)
        reader = read_records(path, on_error="skip")
        got: list[bytes] = []
        try:
            for batch in reader.batches(batch_size):
                got += batch
        except OSError:
            got += [record for batch in reader.batches(batch_size) for record in batch]
        assert got == expected
        assert reader.skipped == 31


# What a file is


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (DATA, ""),
        (gzip.compress(DATA), "GZIP"),
        (zlib.compress(DATA), "ZLIB"),
        (b"", ""),
        (DATA[:11], ""),
        (b"something else", ""),
    ],
)
def test_compression_is_found_from_the_content(data, expected):
    assert detect(data) == expected


def test_plain_file_that_begins_like_a_compressed_one_is_plain():
    # The length decides: its CRC holds.
    for length in (0x8B1F, 0x9C78, 0x0178):
        payload = bytes(length)
        assert detect(frame(payload)[:4096]) == ""
        assert list(read_records(io.BytesIO(frame(payload)))) == [payload]


def test_opened_tells_its_name_and_compression(tmp_path):
    path = written(tmp_path / "file", gzip.compress(DATA))
    opened = open_source(str(path))
    assert opened.compression is None
    assert opened.read(100) == DATA[:100]
    assert (opened.compression, opened.name) == ("GZIP", str(path))
    opened.close()
    assert open_source(io.BytesIO()).name == "<stream>"


# Files that grow


def test_plain_file_that_grows_goes_on(tmp_path):
    path = written(tmp_path / "file", b"")
    reader = read_records(path)
    assert list(reader) == []
    with open(path, "ab") as file:
        for record in (b"first", b"second", b"third" * 10_000, b""):
            file.write(frame(record))
            file.flush()
            assert list(reader) == [record]
            assert list(reader) == []


def test_frame_that_is_completed_later_is_then_read(tmp_path):
    path = written(tmp_path / "file", frame(b"whole"))
    reader = read_records(path)
    assert next(reader) == b"whole"
    data = frame(b"in pieces" * 5000)
    with open(path, "ab", buffering=0) as file:
        at = 0
        for size in (1, 11, 12, 13, 100, 40_000, len(data) - 1):
            file.write(data[at:size])
            at = size
            with pytest.raises(TruncatedError):
                next(reader)
        file.write(data[at:])
    assert list(reader) == [b"in pieces" * 5000]


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_compressed_file_that_is_still_written_gives_what_was_flushed(tmp_path, compression):
    path = tmp_path / "file"
    with TFRecordWriter(path, compression) as writer:
        writer.write(b"first")
        writer.flush()
        reader = read_records(path)
        assert next(reader) == b"first"
        writer.write(b"second")
        writer.flush()
        assert next(reader) == b"second"
        with pytest.raises(purerecord.CompressionError, match="cut"):
            next(reader)
    assert list(reader) == []


def test_only_the_last_file_is_waited_for(tmp_path):
    first, second = written(tmp_path / "1", frame(b"1")), written(tmp_path / "2", frame(b"2"))
    reader = read_records([first, second])
    assert list(reader) == [b"1", b"2"]
    with open(first, "ab") as file:
        file.write(frame(b"late"))
    assert list(reader) == []


# Remote files


def test_url_without_fsspec_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    for use in (read_records, TFRecordWriter):
        with pytest.raises(ImportError, match=r"purerecord\[remote\]"):
            use("memory://somewhere")


@pytest.mark.parametrize("options", ["", "GZIP", "ZLIB"])
def test_url_is_written_and_read_through_fsspec(options):
    fsspec = interop("fsspec")
    url = "memory://purerecord/a.tfrecord"
    with TFRecordWriter(url, options) as writer:
        writer.write_many(RECORDS)
    assert list(read_records(url)) == RECORDS
    assert list(read_records("memory://purerecord/*.tfrecord")) == RECORDS
    with pytest.raises(ValueError, match="local"):
        purerecord.RecordFile(url)
    with pytest.raises(FileNotFoundError):
        list(read_records("memory://purerecord/missing"))
    fsspec.filesystem("memory").rm("/purerecord", recursive=True)


def test_sharded_files_come_back_by_their_pattern(folder):
    with ShardedWriter("t@3.tfrecord") as writer:
        writer.write_many(b"%d" % i for i in range(10))
    assert sorted(read_records("t@*.tfrecord")) == [b"%d" % i for i in range(10)]


def test_an_absurd_number_of_shards_is_refused_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_records(tmp_path / "name@99999999999999.tfrecord")
