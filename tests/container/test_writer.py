"""Writing: what is accepted, what is on disk and when, and what a failure leaves behind."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import random
import re
import signal
import socket
import subprocess
import sys
import textwrap
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purerecord
from purerecord import (
    ClosedError,
    CorruptionError,
    EncodeError,
    Example,
    RecordFile,
    Records,
    TFRecordOptions,
    TFRecordWriter,
    decode_example,
    read_records,
)
from tests.support.damage import cut, flip_byte, frames, starts
from tests.support.other_systems import limit_calls_as_macos, replace_as_windows
from tests.support.settings import CAMPAIGN, sampled

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


# What is accepted


def test_record_may_be_anything_that_has_bytes(path):
    message = Example()
    given_ = [
        b"bytes",
        bytearray(b"bytearray"),
        memoryview(b"memoryview"),
        memoryview(b"xsxtxexpx")[1::2],
        memoryview(np.arange(3, dtype=np.uint16)),
        "text äöü",
        np.bytes_(b"numpy"),
        np.str_("numpy text"),
        message,
    ]
    expected = [
        b"bytes",
        b"bytearray",
        b"memoryview",
        b"step",
        np.arange(3, dtype=np.uint16).tobytes(),
        "text äöü".encode(),
        b"numpy",
        b"numpy text",
        message.SerializeToString(),
    ]
    with TFRecordWriter(path) as writer:
        for record in given_:
            writer.write(record)
        writer.write_many(given_)
        writer.write(record=b"by name")
    assert list(read_records(path)) == [*expected, *expected, b"by name"]


@pytest.mark.parametrize("wrong", [None, 5, 1.5, [b"list"], {}, np.zeros(3), object(), "\ud800"])
def test_what_has_no_bytes_is_an_encode_error_and_harms_nothing(path, wrong):
    with TFRecordWriter(path) as writer:
        writer.write(b"before")
        with pytest.raises(EncodeError):
            writer.write(wrong)
        with pytest.raises(EncodeError):
            writer.write_many([b"first", wrong, b"never"])
        writer.write(b"after")
    assert list(read_records(path)) == [b"before", b"first", b"after"]


@pytest.mark.parametrize("wrong", [b"one record", "text", bytearray(b"x"), memoryview(b"x")])
def test_write_many_of_one_record_is_a_type_error(path, wrong):
    with TFRecordWriter(path) as writer, pytest.raises(TypeError, match="for one there is write"):
        writer.write_many(wrong)


def test_iterable_that_fails_leaves_what_it_gave(path):
    def failing():
        yield from RECORDS * 3000
        raise KeyError("mine")

    with TFRecordWriter(path) as writer:
        with pytest.raises(KeyError, match="mine"):
            writer.write_many(failing())
        writer.write(b"last")
    assert list(read_records(path)) == [*RECORDS * 3000, b"last"]


@each
@given(st.lists(st.binary(max_size=300), max_size=20), st.integers(0, 20))
@settings(max_examples=40 * CAMPAIGN)
def test_write_many_is_many_writes(tmp_path, options, records, split):
    one, many = tmp_path / "one", tmp_path / "many"
    with TFRecordWriter(one, options) as writer:
        for record in records:
            writer.write(record)
    with TFRecordWriter(many, options) as writer:
        writer.write_many(records[:split])
        writer.write_many(Records.of(records[split:]))
    assert list(read_records(one)) == list(read_records(many)) == records
    if options != BLOCKED:  # where blocks begin may differ
        assert one.read_bytes() == many.read_bytes()
    if options is None:
        assert one.read_bytes() == frames(records)


@pytest.mark.light(8)
@each
@pytest.mark.parametrize(
    "lengths", [[0] * 5000, [1 << 20] * 5, [10, 3 << 20, 10], [70_000] * 30, [4096] * 600]
)
def test_small_and_large_records_are_written_alike(path, options, lengths):
    records = [bytes([i % 256]) * length for i, length in enumerate(lengths)]
    with TFRecordWriter(path, options) as writer:
        writer.write_many(records)
        for record in records:
            writer.write(record)
    assert list(read_records(path)) == records * 2
    if options is None:
        assert path.read_bytes() == frames(records * 2)


def test_generator_is_written_as_it_comes(path):
    """A generator may be endless: the writer takes no more of it than it handles at once."""
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            if taken > 50_000:
                raise StopAsyncIteration
            yield b"x"

    with TFRecordWriter(path) as writer, pytest.raises(StopAsyncIteration):
        writer.write_many(endless())
    assert sum(1 for _ in read_records(path)) == 50_000


def test_object_that_is_filled_anew_for_each_record_is_written_as_it_was(path):
    def buffers():
        buffer = bytearray(4)
        for number in range(5000):
            buffer[:] = b"%04d" % number
            yield buffer

    def messages():
        message = Example()
        for number in range(100):
            numbers = message.features.feature["id"].int64_list
            numbers.ClearField("value")  # value[:] = ... crashes in protobuf 4.21.0
            numbers.value.append(number)
            yield message

    with TFRecordWriter(path) as writer:
        writer.write_many(buffers())
        writer.write_many(messages())
    records = list(read_records(path))
    assert records[:5000] == [b"%04d" % number for number in range(5000)]
    assert [decode_example(record)["id"][0] for record in records[5000:]] == list(range(100))


def test_generator_of_large_records_is_never_held_as_a_whole(path):
    tracemalloc.start()
    with TFRecordWriter(path) as writer:
        writer.write_many(bytes(size) for size in [10] * 5000 + [1 << 18] * 600)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(1 for _ in read_records(path)) == 5600
    assert peak < 75 << 20


# Where it is written


def test_path_may_have_every_spelling(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(["a", b"b", Path("c"), f"file://{tmp_path}/d"]):
        with TFRecordWriter(name) as writer:
            writer.write(b"%d" % number)
    assert [list(read_records(name)) for name in "abcd"] == [[b"0"], [b"1"], [b"2"], [b"3"]]


@each
def test_open_file_is_written_and_stays_open(options):
    file = io.BytesIO()
    with TFRecordWriter(file, options) as writer:
        writer.write_many(RECORDS)
    assert not file.closed
    file.seek(0)
    assert list(read_records(file)) == RECORDS


@each
def test_pipe_is_written(options):
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source:
        with os.fdopen(writing, "wb", buffering=0) as sink, TFRecordWriter(sink, options) as writer:
            writer.write_many(RECORDS)
        assert list(read_records(source)) == RECORDS


def test_raw_file_that_takes_only_a_part_gets_the_rest():
    class Small(io.RawIOBase):
        data = b""

        def writable(self):
            return True

        def write(self, data):
            self.data += bytes(data[:7])
            return min(7, len(data))

    file = Small()
    with TFRecordWriter(file) as writer:
        writer.write_many(RECORDS)
    assert file.data == frames(RECORDS)


def test_socket_that_takes_no_more_says_so_and_goes_on_exactly():
    here, there = socket.socketpair()
    records = [random.Random(i).randbytes(5000) for i in range(500)]
    with here, there, here.makefile("wb", buffering=0) as file, there.makefile("rb") as source:
        here.setblocking(False)
        there.settimeout(10)
        writer = TFRecordWriter(file)
        reader = read_records(source)
        got, blocked = [], 0
        for record in records:
            try:
                writer.write(record)
            except BlockingIOError:
                blocked += 1
                got.append(next(reader))  # the record was accepted; only its rest waits
        while True:
            try:
                writer.flush()
                break
            except BlockingIOError:
                blocked += 1
                got.append(next(reader))
        writer.close()
        here.shutdown(socket.SHUT_WR)
        assert blocked
        assert got + list(reader) == records


def test_one_call_never_writes_more_than_macos_allows(path, monkeypatch):
    assert purerecord.container.writer._MOST_AT_ONCE < 1 << 31
    monkeypatch.setattr(purerecord.container.writer, "_MOST_AT_ONCE", 1 << 16)
    monkeypatch.setattr(purerecord.storage.file_handles, "MOST_AT_ONCE", 1 << 16)
    limit_calls_as_macos(monkeypatch, 1 << 16)
    records = [bytes([number]) * (number * 10_000) for number in range(1, 20)]
    with TFRecordWriter(path) as writer:
        writer.write_many(records)
    assert list(read_records(path)) == records


def test_bad_arguments_harm_no_file(path):
    path.write_bytes(frames(RECORDS))
    for wrong in (
        {"options": "FOO"},
        {"mode": "x"},
        {"mode": "r"},
        {"options": "GZIP", "index": True},
        {"mode": "a", "atomic": True},
    ):
        with pytest.raises(ValueError, match=r"\w"):
            TFRecordWriter(path, **wrong)
    with pytest.raises(ValueError, match="window_bits"):
        TFRecordWriter(path, TFRecordOptions("ZLIB", window_bits=-8))
    with pytest.raises(TypeError):
        TFRecordWriter(5)
    assert path.read_bytes() == frames(RECORDS)


def test_missing_folder_and_folder_are_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        TFRecordWriter(tmp_path / "missing" / "file")
    with pytest.raises(IsADirectoryError):
        TFRecordWriter(tmp_path)
    assert leftovers(tmp_path) == []


def test_open_files_cannot_be_appended_to_made_atomic_or_indexed():
    for wrong in ({"mode": "a"}, {"atomic": True}, {"index": True}):
        with pytest.raises(ValueError, match="not an open file"):
            TFRecordWriter(io.BytesIO(), **wrong)


# Life


@each
def test_use_after_close_is_a_closed_error_and_close_may_be_repeated(path, options):
    writer = TFRecordWriter(path, options)
    assert not writer.closed
    writer.write(b"x")
    writer.close()
    writer.close()
    assert writer.closed
    for use in (lambda: writer.write(b"y"), lambda: writer.write_many([]), writer.flush):
        with pytest.raises(ClosedError):
            use()
    with writer:
        pass
    assert list(read_records(path)) == [b"x"]
    assert repr(writer) == f"<TFRecordWriter {str(path)!r} (closed)>"


@each
def test_flush_makes_everything_so_far_readable(path, options):
    with TFRecordWriter(path, options) as writer:
        for number in range(5):
            writer.write(b"%d" % number * 50)
            writer.flush()
            got = []
            reader = read_records(path)
            while len(got) <= number:
                got.append(next(reader))
            assert got == [b"%d" % i * 50 for i in range(number + 1)]


@each
def test_exception_in_a_with_block_leaves_a_whole_file(path, options):
    with contextlib.suppress(KeyError), TFRecordWriter(path, options) as writer:
        writer.write_many(RECORDS)
        raise KeyError
    assert list(read_records(path)) == RECORDS


@each
def test_writer_that_is_forgotten_is_finished(path, options):
    writer = TFRecordWriter(path, options)
    writer.write_many(RECORDS)
    del writer
    assert list(read_records(path)) == RECORDS


@each
def test_abandoned_file_keeps_what_was_flushed(path, options):
    writer = TFRecordWriter(path, options)
    writer.write(b"flushed")
    writer.flush()
    writer.write(b"not flushed")
    writer.abandon()
    assert writer.closed
    reader = read_records(path)
    assert next(reader) == b"flushed"
    with pytest.raises((StopIteration, CorruptionError)):
        next(reader)


# Atomic


@each
def test_atomic_file_appears_when_it_is_complete(tmp_path, path, options):
    path.write_bytes(b"old")
    with TFRecordWriter(path, options, atomic=True) as writer:
        writer.write_many(RECORDS)
        writer.flush()
        assert path.read_bytes() == b"old"
    assert list(read_records(path)) == RECORDS
    assert leftovers(tmp_path) == [path.name]


def test_atomic_file_that_fails_never_appears(tmp_path, path):
    with contextlib.suppress(KeyError), TFRecordWriter(path, atomic=True) as writer:
        writer.write(b"x")
        raise KeyError
    assert leftovers(tmp_path) == []
    writer = TFRecordWriter(path, atomic=True)
    writer.write(b"x")
    writer.abandon()
    assert leftovers(tmp_path) == []


def test_atomic_file_that_is_forgotten_is_discarded_with_a_warning(tmp_path, path):
    writer = TFRecordWriter(path, atomic=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del writer
    assert [warning.category for warning in caught] == [ResourceWarning]
    assert leftovers(tmp_path) == []


def test_atomic_file_that_a_program_has_open_on_windows_keeps_its_new_data(tmp_path, path, monkeypatch):
    path.write_bytes(b"old")
    replace_as_windows(monkeypatch, path)
    writer = TFRecordWriter(path, atomic=True)
    writer.write(b"new")
    with pytest.raises(PermissionError) as caught:
        writer.close()
    (kept,) = tmp_path.glob(".*.complete-*")
    assert caught.value.filename == str(path)
    assert f"a program has the old one open; the new file is complete and kept as {kept}" in str(caught.value)
    assert path.read_bytes() == b"old"
    assert list(read_records(kept)) == [b"new"]


def test_two_atomic_writers_of_one_name_do_not_mix(tmp_path, path):
    first, second = TFRecordWriter(path, atomic=True), TFRecordWriter(path, atomic=True)
    first.write_many([b"first"] * 100)
    second.write_many([b"second"] * 100)
    first.close()
    assert list(read_records(path)) == [b"first"] * 100
    second.close()
    assert list(read_records(path)) == [b"second"] * 100
    assert leftovers(tmp_path) == [path.name]


@pytest.mark.parametrize("atomic", [False, True])
@pytest.mark.parametrize("options", [None, BLOCKED], ids=["plain", "blocked"])
def test_index_beside_the_file(path, options, atomic):
    with TFRecordWriter(path, options, atomic=atomic, index=True) as writer:
        writer.write_many(RECORDS)
    index = purerecord.load_index(f"{path}.index")
    index.check(path)
    assert list(RecordFile(path, index=index)) == RECORDS


# Append


@pytest.mark.parametrize("options", [None, "GZIP", BLOCKED], ids=["plain", "GZIP", "blocked"])
def test_append_adds_to_what_is_there(path, options):
    for number in range(3):
        with TFRecordWriter(path, options, mode="a") as writer:
            writer.write(b"%d" % number)
    assert list(read_records(path)) == [b"0", b"1", b"2"]


def test_append_to_zlib_is_refused_for_tensorflow_would_not_read_it(path):
    with TFRecordWriter(path, "ZLIB", mode="a") as writer:  # there is no file yet
        writer.write(b"x")
    with pytest.raises(ValueError, match="ZLIB file cannot be appended to"):
        TFRecordWriter(path, "ZLIB", mode="a")
    assert list(read_records(path)) == [b"x"]


def test_append_to_every_cut_file_is_refused_and_changes_nothing(path):
    data = frames(RECORDS)
    for size in {*starts(RECORDS), *sampled(range(len(data)), 80)}:
        path.write_bytes(cut(data, size))
        if size in starts(RECORDS):
            with TFRecordWriter(path, mode="a") as writer:
                writer.write(b"more")
            assert list(read_records(path))[-1] == b"more"
            continue
        with pytest.raises(CorruptionError):
            TFRecordWriter(path, mode="a")
        assert path.read_bytes() == cut(data, size)


def test_append_to_a_cut_gzip_or_another_compression_is_refused(path):
    with TFRecordWriter(path, "GZIP") as writer:
        writer.write_many(RECORDS)
    data = path.read_bytes()
    with pytest.raises(CorruptionError):
        TFRecordWriter(path, mode="a")
    for damaged in (data[:-1], data[: len(data) // 2], data + b"junk", flip_byte(data, len(data) - 6)):
        path.write_bytes(damaged)
        with pytest.raises(CorruptionError):
            TFRecordWriter(path, "GZIP", mode="a")
        assert path.read_bytes() == damaged
    path.write_bytes(frames(RECORDS))
    with pytest.raises(CorruptionError):
        TFRecordWriter(path, "GZIP", mode="a")


@pytest.mark.parametrize("options", ["GZIP", BLOCKED], ids=["GZIP", "blocked"])
def test_append_leaves_no_empty_member_behind_which_tensorflow_would_stop(path, options):
    TFRecordWriter(path, options).close()  # one empty member
    with TFRecordWriter(path, options, mode="a") as writer:
        writer.write(b"first")
    whole = path.read_bytes()
    with TFRecordWriter(path, options, mode="a") as writer:
        writer.flush()
    assert path.read_bytes() == whole
    with TFRecordWriter(path, options) as writer:
        writer.write(b"first")
    assert path.read_bytes() == whole  # as if there had never been an empty file
    empty = gzip.compress(b"")
    path.write_bytes(whole + empty)
    with pytest.raises(ValueError, match="empty GZIP member"):
        TFRecordWriter(path, options, mode="a")
    assert path.read_bytes() == whole + empty


def test_append_with_an_index_covers_all(path):
    for number in range(3):
        with TFRecordWriter(path, mode="a", index=True) as writer:
            writer.write_many([b"%d" % number] * 10)
    assert len(RecordFile(path)) == 30


# Failure of the disk


class Full(io.RawIOBase):
    """A disk that has room for ``room`` bytes."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.data = b""

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = bytes(data[: self.room])
        self.room -= len(taken)
        self.data += taken
        return len(taken)


@each
def test_writing_goes_on_exactly_where_the_disk_was_full(options):
    records = [random.Random(i).randbytes(i) for i in range(300)]
    for room in (0, 1, 11, 500, 20_000):
        file = Full(room)
        writer = TFRecordWriter(file, options)
        failures = 0
        for number, record in enumerate(records):
            writer.write(record)
            if number % 10 == 0:
                while True:
                    try:
                        writer.flush()
                        break
                    except OSError as error:
                        failures += 1
                        assert error.errno == errno.ENOSPC  # noqa: PT017 - the others are to be raised
                        file.room = 3000  # space became free
        file.room = 1 << 30
        writer.close()
        assert failures
        assert list(read_records(io.BytesIO(file.data))) == records


@each
def test_writer_says_how_many_records_it_has_accepted_when_many_fail(options):
    records = [random.Random(i).randbytes(3000) for i in range(2000)]
    file = Full(100_000)
    writer = TFRecordWriter(file, options)
    assert writer.records == 0
    with pytest.raises(OSError, match="No space left"):
        writer.write_many(records)
    accepted = writer.records
    assert 0 < accepted < len(records)
    file.room = 1 << 30
    writer.flush()
    writer.write_many(records[accepted:])
    writer.close()
    assert writer.records == len(records)
    assert list(read_records(io.BytesIO(file.data))) == records


@each
def test_full_device_is_an_error_at_the_latest_on_close(options):
    writer = TFRecordWriter("/dev/full", options)
    writer.write(b"x")
    with pytest.raises(OSError, match="No space left"):
        writer.flush()
    with pytest.raises(OSError, match="No space left"):
        writer.close()
    assert writer.closed
    with pytest.raises(ClosedError, match="closing /dev/full has failed"):
        writer.close()


LIMITED = """
    import resource, signal, sys, purerecord
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path, limit, atomic, size = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "atomic", int(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    writer = purerecord.TFRecordWriter(path, atomic=atomic)
    failed = 0
    for number in range(200):
        try:
            writer.write(bytes([number]) * size)
            writer.flush()
        except OSError as error:
            failed += 1
    assert failed
    if sys.argv[5] == "recovers":
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        writer.close()
    else:
        try:
            writer.close()
        except OSError as error:
            print(error.errno)
"""


@pytest.mark.parametrize("size", [100, 10_000])
def test_real_file_that_may_grow_again_has_every_record(path, size):
    run(LIMITED, str(path), "7777", "", str(size), "recovers")
    assert list(read_records(path)) == [bytes([number]) * size for number in range(200)]


def test_real_file_that_stays_full_has_all_that_fits_and_says_so(path):
    assert run(LIMITED, str(path), "7777", "", "100", "fails").stdout.strip() == str(errno.EFBIG)
    assert path.stat().st_size == 7777
    got = list(read_records(path, on_error="stop"))
    assert got == [bytes([number]) * 100 for number in range(7777 // 116)]


def test_atomic_file_on_a_full_disk_never_appears(tmp_path, path):
    assert run(LIMITED, str(path), "7777", "atomic", "100", "fails").stdout.strip() == str(errno.EFBIG)
    assert leftovers(tmp_path) == []


KILLED = """
    import os, sys, purerecord
    options = eval("purerecord." + sys.argv[2]) if sys.argv[2] else None
    writer = purerecord.TFRecordWriter(sys.argv[1], options, atomic=sys.argv[3] == "atomic")
    number = 0
    while True:
        for _ in range(7):
            writer.write(b"%d " % number * (number % 50))
            number += 1
        writer.flush()
        print(number, flush=True)
"""


@pytest.mark.light(2)
@pytest.mark.parametrize(
    "options",
    ["", "TFRecordOptions('GZIP')", "TFRecordOptions('ZLIB')", "TFRecordOptions('GZIP', block_size=1000)"],
)
def test_killed_process_leaves_every_flushed_record_readable(path, options):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(path), options, ""],
        env={**os.environ, "PYTHONPATH": HOME},
        stdout=subprocess.PIPE,
        text=True,
    )
    flushed = [int(process.stdout.readline()) for _ in range(30)][-1]
    process.send_signal(signal.SIGKILL)
    said = [int(line) for line in process.stdout.read().split()]
    process.stdout.close()
    process.wait()
    flushed = max([flushed, *said])
    got = list(read_records(path, on_error="stop"))
    assert len(got) >= flushed
    assert got == [b"%d " % number * (number % 50) for number in range(len(got))]


def test_killed_process_leaves_no_atomic_file(path):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(path), "", "atomic"],
        env={**os.environ, "PYTHONPATH": HOME},
        stdout=subprocess.PIPE,
        text=True,
    )
    for _ in range(5):
        process.stdout.readline()
    process.kill()
    process.communicate()
    assert not path.exists()


# What is refused, and blocks


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_appending_behind_damaged_data_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(flip_byte(frames([b"first", b"second"]), 14))
    before = path.read_bytes()
    with pytest.raises(purerecord.ChecksumError):
        TFRecordWriter(path, mode="a")
    assert path.read_bytes() == before


class Odd:
    def __init__(self, result):
        self.result = result

    def SerializeToString(self):  # noqa: N802 - protobuf's name
        return self.result


@pytest.mark.parametrize("record", [Odd(5), Odd("text"), Odd(None), purerecord.Example])
def test_what_serializes_to_something_else_than_bytes_is_refused(tmp_path, record):
    with TFRecordWriter(tmp_path / "file") as writer, pytest.raises(EncodeError):
        writer.write(record)


@pytest.mark.parametrize("as_given", [list, iter, Records.of])
def test_blocks_of_small_records_are_as_large_as_asked_for(as_given, tmp_path):
    payloads = [b"%04d" % number for number in range(10_000)]
    with TFRecordWriter(tmp_path / "file", TFRecordOptions("GZIP", block_size=4096)) as writer:
        writer.write_many(as_given(payloads))
    blocks = np.diff(purerecord.build_index(tmp_path / "file").first_records) * 20
    assert 4096 <= np.median(blocks) < 6000
    assert 4096 <= blocks.min() <= blocks.max() < 2 * 4096 + 1000


@pytest.mark.parametrize("atomic", [False, True])
@pytest.mark.parametrize("call", ["writev", "fsync", "replace"])
def test_errors_of_the_disk_name_the_file(path, monkeypatch, atomic, call):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    if call != "writev" and not atomic:
        pytest.skip("only an atomic file is synced and renamed")
    monkeypatch.setattr(os, call, full)
    writer = TFRecordWriter(path, atomic=atomic)
    writer.write(bytes(100_000))
    with pytest.raises(OSError, match=re.escape(repr(str(path)))):
        writer.close()
    assert not [name for name in os.listdir(path.parent) if name.startswith(".")]
