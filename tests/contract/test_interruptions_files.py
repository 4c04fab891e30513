"""Readers and writers after something went wrong: Ctrl-C, an error of the disk, a fork, at any moment.

Whoever goes on with the same object gets exactly what comes next, or an error that says that it cannot go on;
never anything else.
"""

from __future__ import annotations

import gzip
import os
import signal
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from purerecord import ClosedError, RecordFile, TFRecordOptions, TFRecordWriter, read_batches, read_records
from tests.support.all_readers import Trickle
from tests.support.damage import frames
from tests.support.interruptions import Moments
from tests.support.settings import tries
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


def at_random(source: Any) -> Iterator[bytes]:
    return iter(RecordFile(source))


Make = Callable[[Path], Any]
Way = Callable[[Any], Iterator[Any]]
ALWAYS_EXACT: list[tuple[Make, Way]] = [
    *((make, way) for make in (plain, large, damaged) for way in (by_record, by_next, by_batch)),
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


def moments_of(make: Make, way: Way, folder: Path) -> Iterator[tuple[int, Any, list[bytes]]]:
    """Some moments of reading a source in one way, the source, and all its records."""
    source = make(folder)
    expected = records_of(way(source))
    if make is stream:
        source = make(folder)
    with Moments().counted() as moments:
        records_of(way(source))
    random = Random(f"{make.__name__} {way.__name__}")
    for at in random.choices(range(1, moments.count), k=tries(30)):
        yield at, make(folder) if make is stream else source, expected


@pytest.mark.light(10)
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
@pytest.mark.light(8)
@pytest.mark.parametrize(("make", "way"), ALWAYS_EXACT + MAY_REFUSE)
def test_a_reader_in_a_forked_process_goes_on_exactly_there_or_refuses(tmp_path, make, way):
    for at, source, expected in moments_of(make, way, tmp_path):
        children: list[int] = []

        def fork(children: list[int] = children) -> None:
            children.append(os.fork())
            if children == [0]:
                signal.alarm(30)  # kills a child that hangs

        with Moments(at, fork).counted():
            items = way(source)
            got, refused = read_on(items)
        if children == [0]:
            os._exit(0 if got == expected or (refused and got == expected[: len(got)]) else 1)
        assert got == expected, at
        assert not any(os.waitpid(child, 0)[1] for child in children), at
