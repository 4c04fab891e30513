"""Open files: plain bytes from any kind of file, growing, compressed, remote or interrupted."""

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
from purerecord import ChecksumError, TFRecordWriter, TruncatedError, read_records
from purerecord.container.looks_like import open_source
from purerecord.storage import opened
from tests.support.all_readers import Trickle
from tests.support.damage import frame, frames, header
from tests.support.interop import interop
from tests.support.settings import sampled

RECORDS = [b"one", b"", b"three" * 100]
DATA = frames(RECORDS)
HOME = str(Path(purerecord.__file__).parents[1])


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
            assert next(reader) == record  # each record at once, not when a buffer is full
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

    class Interrupted(opened._OwnFile):
        def read_at(self, offset, size):
            if next(moments) == 0:
                raise interrupt
            return super().read_at(offset, size)

        def readinto_at(self, offset, buffer):
            if next(moments) == 0:
                raise interrupt
            return super().readinto_at(offset, buffer)

    monkeypatch.setattr(opened, "_OwnFile", Interrupted)
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

    class Interrupted(opened._OwnFile):
        def readinto_at(self, offset, buffer):
            if next(moments) == 0:
                raise OSError(errno.EIO, "once")
            return super().readinto_at(offset, buffer)

    monkeypatch.setattr(opened, "_OwnFile", Interrupted)
    for moment in sampled(range(1, 9), 2):
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


@pytest.mark.parametrize("options", ["", "GZIP", "ZLIB"])
def test_url_is_written_and_read_through_fsspec(options):
    fsspec = interop("fsspec")
    url = "memory://purerecord/a.tfrecord"
    with TFRecordWriter(url, options) as writer:
        writer.write_many(RECORDS)
    assert list(read_records(url)) == RECORDS
    assert list(read_records("memory://purerecord/*.tfrecord")) == RECORDS
    with pytest.raises(FileNotFoundError):
        list(read_records("memory://purerecord/missing"))
    fsspec.filesystem("memory").rm("/purerecord", recursive=True)
