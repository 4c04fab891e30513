"""Readers and writers after something went wrong: Ctrl-C, an error of the disk, a fork, at any moment.

Whoever goes on with the same object gets exactly what comes next, or an error that says that it cannot go on;
never anything else.
"""

from __future__ import annotations

import gc
import gzip
import os
import signal
import sys
import traceback
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest

from purerecord import (
    ClosedError,
    RecordFile,
    ShardedWriter,
    TFRecordOptions,
    TFRecordWriter,
    read_batches,
    read_records,
)
from purerecord.container import writer as writer_module
from tests.support.all_readers import Trickle
from tests.support.damage import frames
from tests.support.interruptions import Moments
from tests.support.settings import LONG, tries
from tests.support.small_buffers import buffers

SMALL = [b"%d " % number * (number % 30) for number in range(400)]
LARGE = [b"%d " % number * (9000 if number % 5 == 0 else number % 50) for number in range(60)]


def plain(folder: Path) -> Any:
    (folder / "plain").write_bytes(frames(SMALL))
    return folder / "plain"


def large(folder: Path) -> Any:
    (folder / "large").write_bytes(frames(LARGE))
    return folder / "large"


def gzipped(folder: Path) -> Any:
    (folder / "gzip").write_bytes(gzip.compress(frames(SMALL[:200])) + gzip.compress(frames(SMALL[200:])))
    return folder / "gzip"


def zlibbed(folder: Path) -> Any:
    (folder / "zlib").write_bytes(zlib.compress(frames(SMALL)))
    return folder / "zlib"


def blocked(folder: Path) -> Any:
    with TFRecordWriter(folder / "blocked", TFRecordOptions("GZIP", block_size=900)) as writer:
        writer.write_many(SMALL)
    return folder / "blocked"


def damaged(folder: Path) -> Any:
    data = bytearray(frames(SMALL))
    data[3000] ^= 1
    data[9000:9300] = bytes(300)
    (folder / "damaged").write_bytes(data)
    return folder / "damaged"


def several(folder: Path) -> Any:
    return [plain(folder), large(folder), blocked(folder), damaged(folder), plain(folder)]


def stream(folder: Path) -> Any:
    return Trickle(frames(SMALL), 500)


def by_record(source: Any) -> Iterator[bytes]:
    return iter(read_records(source, on_error="skip"))


def by_next(source: Any) -> Iterator[bytes]:
    reader = read_records(source, on_error="skip")
    return map(next, iter(lambda: reader, None))


def by_batch(source: Any) -> Iterator[Any]:
    return read_batches(source, batch_size=37, on_error="skip")


def by_parts(source: Any) -> Iterator[Any]:
    middle = os.path.getsize(source) // 2
    parts = [(0, middle), (middle, None)]
    return chain(*(read_batches(source, byte_range=part, batch_size=7, on_error="skip") for part in parts))


def at_random(source: Any) -> Iterator[bytes]:
    return iter(RecordFile(source))


Make = Callable[[Path], Any]
Way = Callable[[Any], Iterator[Any]]
ALWAYS_EXACT: list[tuple[Make, Way]] = [
    *((make, way) for make in (plain, large, damaged) for way in (by_record, by_next, by_batch, by_parts)),
    *((make, at_random) for make in (plain, large, blocked)),
]
MAY_REFUSE: list[tuple[Make, Way]] = [
    *((make, way) for make in (gzipped, zlibbed, blocked, several, stream) for way in (by_record, by_batch)),
]


# Python may be interrupted when a file is open, but nobody holds it yet.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(autouse=True)
def _edges_everywhere() -> Iterator[None]:
    with buffers(_SMALLEST_READ=2000, _BUFFER_SIZE=3000, _DIRECT_PAYLOAD=5000):
        yield


def records_of(got: Iterable[Any]) -> list[bytes]:
    """The records of what an iterator gave: records, or batches of them."""
    return [record for item in got for record in ([item] if isinstance(item, bytes) else item)]


def read_on(items: Iterator[Any]) -> tuple[list[bytes], bool]:
    """All records of ``items``, also after an interrupt, and whether the iterator refused to go on then."""
    got: list[Any] = []
    while True:
        try:
            for item in items:
                got.append(item)
            return records_of(got), False
        except (KeyboardInterrupt, OSError):
            pass
        except ClosedError:
            return records_of(got), True


def moments_of(
    make: Make, way: Way, folder: Path, *, only_lines: bool = False
) -> Iterator[tuple[int, Any, list[bytes]]]:
    """Some moments of reading a source in one way, the source, and all its records."""
    source = make(folder)
    expected = records_of(way(source))
    if make is stream:
        source = make(folder)
    with Moments(only_lines=only_lines).counted() as moments:
        records_of(way(source))
    random = Random(f"{make.__name__} {way.__name__}")
    for at in random.choices(range(1, moments.count), k=tries(30)):
        yield at, make(folder) if make is stream else source, expected


@pytest.mark.light(6)
@pytest.mark.parametrize(("make", "way"), ALWAYS_EXACT + MAY_REFUSE)
def test_a_reader_that_was_interrupted_goes_on_exactly_there_or_refuses(tmp_path, make, way):
    for at, source, expected in moments_of(make, way, tmp_path):
        with Moments(at).counted():
            try:
                items = way(source)
            except KeyboardInterrupt:
                continue
            got, refused = read_on(items)
        assert got == expected or (refused and got == expected[: len(got)]), at
        assert not refused or (make, way) in MAY_REFUSE, at


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.light(4)
@pytest.mark.parametrize(("make", "way"), ALWAYS_EXACT + MAY_REFUSE)
def test_a_reader_in_a_forked_process_goes_on_exactly_there_or_refuses(tmp_path, make, way):
    # Only before lines: a handler of signals that forks between two calls of one line is not considered.
    for at, source, expected in moments_of(make, way, tmp_path, only_lines=True):
        children: list[int] = []

        def fork(children: list[int] = children) -> None:
            children.append(os.fork())
            if children == [0]:
                signal.alarm(30)  # kills a child that hangs

        with Moments(at, fork, only_lines=True).counted():
            items = way(source)
            got, refused = read_on(items)
        if children == [0]:
            os._exit(0 if got == expected or (refused and got == expected[: len(got)]) else 1)
        assert got == expected, at
        assert not any(os.waitpid(child, 0)[1] for child in children), at


# Writers

WRITTEN = SMALL[:44]  # so few that many moments can be tried
BLOCKS = TFRecordOptions("GZIP", block_size=200)
WRITERS: dict[str, Callable[[Path], Any]] = {
    "plain": lambda folder: TFRecordWriter(folder / "out"),
    "gzip": lambda folder: TFRecordWriter(folder / "out", "GZIP"),
    "blocked": lambda folder: TFRecordWriter(folder / "out", BLOCKS),
    "append": lambda folder: TFRecordWriter(folder / "old", mode="a"),
    "atomic": lambda folder: TFRecordWriter(folder / "out", atomic=True, index=True),
    "sharded": lambda folder: ShardedWriter(folder / "out@3"),
    "filled": lambda folder: ShardedWriter(folder / "out@*", max_records=16),
}


@pytest.fixture(autouse=True)
def _small_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "_BUFFERED_BYTES", 160)


def write_one_by_one(writer: Any, payloads: list[bytes]) -> None:
    for number, payload in enumerate(payloads):
        writer.write(payload)
        if number % 12 == 11:
            writer.flush()


def write_many(writer: Any, payloads: list[bytes]) -> None:
    for begin in range(0, len(payloads), 10):
        writer.write_many(payloads[begin : begin + 10])


def written(folder: Path) -> list[bytes]:
    """The records that can be read now; for a file that is cut, those before the cut."""
    names = sorted(path for path in folder.glob("o*") if path.suffix != ".index")
    return [record for name in names for record in read_records(name, on_error="stop")]


Write = Callable[[Any, list[bytes]], None]


def attempt(folder: Path, kind: str, write: Write, payloads: list[bytes], at: int | None) -> tuple[int, bool]:
    """Write, going on after an interrupt; the number of moments, and whether the writer refused that."""
    folder.mkdir()
    (folder / "old").write_bytes(frames([b"old"])) if kind == "append" else None
    refused, done = False, 0
    with Moments(at).counted() as moments:
        try:
            writer = WRITERS[kind](folder)
        except KeyboardInterrupt:
            return moments.count, True
        while True:
            try:
                write(writer, payloads[done:])
                writer.close()
                break
            except KeyboardInterrupt:
                done = writer.records
            except ClosedError:
                refused = True
                break
        del writer
    return moments.count, refused


def check_moments(folder: Path, kind: str, write: Write, payloads: list[bytes], places: int) -> None:
    """Interrupt the writing of ``payloads`` at so many moments, or at all if there are not more."""
    count, _ = attempt(folder / "whole", kind, write, payloads, None)
    expected = written(folder / "whole")
    assert sorted(expected) == sorted(payloads + [b"old"] * (kind == "append"))
    random = Random(f"{kind} {write.__name__}")
    for number, at in enumerate(random.sample(range(1, count + 1), min(places, count))):
        _, refused = attempt(folder / str(number), kind, write, payloads, at)
        got = written(folder / str(number))
        if not refused:
            assert got == expected, at
        elif kind in ("sharded", "filled", "atomic"):
            assert got in ([], expected), at
        else:
            assert got == expected[: len(got)], at
        assert not list((folder / str(number)).glob(".*")), at


@pytest.mark.light(4)
@pytest.mark.parametrize("write", [write_one_by_one, write_many])
@pytest.mark.parametrize("kind", WRITERS)
def test_a_writer_that_was_interrupted_goes_on_exactly_there_or_refuses(tmp_path, kind, write):
    check_moments(tmp_path, kind, write, WRITTEN, tries(90))


@pytest.mark.parametrize("kind", WRITERS)
def test_no_moment_of_opening_and_closing_a_writer_leaves_half_a_file(tmp_path, kind, monkeypatch):
    ignored: list[Any] = []  # errors in __del__
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    check_moments(tmp_path, kind, write_many, [b"record"], 10_000 if LONG else 40)
    gc.collect()
    assert not ignored


@pytest.mark.parametrize("write", [write_one_by_one, write_many])
def test_an_interrupt_in_a_with_block_leaves_all_accepted_records(tmp_path, write):
    with Moments().counted() as moments, TFRecordWriter(tmp_path / "out") as writer:
        write(writer, WRITTEN)
    random = Random(write.__name__)
    for at in random.choices(range(1, moments.count), k=tries(60)):
        closing = False
        try:
            with TFRecordWriter(tmp_path / "out") as writer:
                with Moments(at).counted():
                    write(writer, WRITTEN)
                closing = True
        except KeyboardInterrupt:
            assert not closing
        except ClosedError:
            raise AssertionError(at) from None
        assert list(read_records(tmp_path / "out", on_error="raise")) == WRITTEN[: writer.records], at


def in_a_fork(act: Callable[[], None]) -> None:
    """Run ``act`` in a forked process that ends like a Python program; an error there is a failure."""
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            act()
            gc.collect()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.light(4)
@pytest.mark.parametrize("kind", WRITERS)
def test_a_forked_process_writes_nothing_and_removes_nothing(tmp_path, kind):
    (tmp_path / "old").write_bytes(frames([b"old"])) if kind == "append" else None
    made = [WRITERS[kind](tmp_path)]

    def use() -> None:
        for call in (lambda: made[0].write(b"child"), made[0].flush, made[0].close):
            with pytest.raises(ClosedError, match="fork"):
                call()

    def leave() -> None:
        with pytest.raises(SystemExit), made[0]:
            raise SystemExit

    for begin in range(0, len(WRITTEN), 11):
        made[0].write_many(WRITTEN[begin : begin + 11])
        in_a_fork(use)
        in_a_fork(made.clear)
        in_a_fork(leave)
    made[0].close()
    assert sorted(written(tmp_path)) == sorted(WRITTEN + [b"old"] * (kind == "append"))
