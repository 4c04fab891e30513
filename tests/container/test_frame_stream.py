"""The stream of frames: how much it reads, buffers that end anywhere, and sources that pause."""

from __future__ import annotations

import gzip
import io
import os
import random
import tracemalloc
from collections.abc import Callable
from itertools import pairwise

import pytest

from purerecord import (
    ChecksumError,
    TruncatedError,
    read_batches,
    read_records,
)
from purerecord.storage.opened import Opened
from tests.support.all_readers import Trickle, joined, outcome
from tests.support.damage import HEADER, OVERHEAD, cut, flip_byte, frame, frames, header, starts
from tests.support.settings import tries


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.tfrecord"


def count_bytes_read(monkeypatch) -> Callable[[], int]:
    """Starts to count the bytes read, and gives a function that returns their number."""
    sizes, readinto = [0], Opened.readinto

    def counted(opened, buffer):
        sizes.append(readinto(opened, buffer))
        return sizes[-1]

    monkeypatch.setattr(Opened, "readinto", counted)
    return lambda: sum(sizes)


@pytest.mark.light(6)
@pytest.mark.parametrize("batch_size", [4, 16, 40, 64, 128, None])
@pytest.mark.parametrize("length", [3_000, 60_000])
def test_a_file_is_read_about_once_whatever_the_batches(batch_size, length, path, monkeypatch):
    path.write_bytes(frames([bytes(length + 16 * (n % 9)) for n in range(16_000_000 // length)]))
    total = count_bytes_read(monkeypatch)
    assert sum(map(len, read_batches(path, batch_size=batch_size))) == 16_000_000 // length
    assert total() < 1.3 * path.stat().st_size


def test_a_batch_that_is_larger_than_was_to_be_expected_is_not_read_many_times(path, monkeypatch):
    lengths = ([94] * 10_000 + [94] * 9_950 + [100_000] * 50) * 2
    path.write_bytes(frames([bytes(length) for length in lengths]))
    total = count_bytes_read(monkeypatch)
    assert sum(map(len, read_batches(path, batch_size=10_000))) == len(lengths)
    assert total() < 2.5 * path.stat().st_size


@pytest.mark.parametrize("batch_size", [2, 3])
def test_few_large_records_are_read_about_once(batch_size, path, monkeypatch):
    path.write_bytes(frames([bytes(350_000)] * 60))
    total = count_bytes_read(monkeypatch)
    assert sum(map(len, read_batches(path, batch_size=batch_size))) == 60
    assert total() < 1.25 * path.stat().st_size


MIB = 1 << 20
EDGES = [(1 << 14) - 16, 1 << 14, MIB - 16, MIB, MIB + 4096, (1 << 24) + 5]


@pytest.mark.light(20)
@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("distance", [-17, -16, -12, -5, -4, -1, 0, 1, 4, 12, 16])
def test_frame_that_ends_around_a_buffers_edge(path, edge, distance):
    first = bytes(edge + distance - OVERHEAD)
    records = [first, b"", b"x", b"last" * 10]
    path.write_bytes(frames(records))
    assert list(read_records(path)) == records
    assert [record for batch in read_batches(path) for record in batch] == records
    with open(path, "rb") as file:
        assert list(read_records(file)) == records


@pytest.mark.parametrize("small", [0, 1, 100, 16_383, 16_384, 16_385, 70_000])
@pytest.mark.parametrize("large", [16_383, 16_384, 200_000, MIB, 3 * MIB])
def test_small_and_large_records_alternate(path, small, large):
    records = [bytes([i]) * (large if i % 2 else small) for i in range(7)]
    path.write_bytes(frames(records))
    assert list(read_records(path)) == records
    assert [record for batch in read_batches(path, batch_size=2) for record in batch] == records


@pytest.mark.light(2)
@pytest.mark.parametrize("shift", range(0, 60, 13))
def test_many_small_frames_across_many_buffers(path, shift):
    records = [b"." * shift] + [b"%08d" % i for i in range(120_000)]
    data = frames(records[:1]) + frames(records[1:])
    path.write_bytes(data[: 2 * MIB])
    whole = [edge for edge in starts(records) if edge <= 2 * MIB]
    read = []
    with pytest.raises(TruncatedError) if whole[-1] < 2 * MIB else open(os.devnull):
        read.extend(read_records(path))
    got = sum(map(len, read_batches(path, on_error="stop")))
    assert got == len(whole) - 1


@pytest.mark.parametrize("size", [20_000, 3 * MIB])
def test_large_record_cut_or_damaged_is_reported_like_any_other(path, size):
    record = random.Random(0).randbytes(size)
    data = frames([b"first", record, b"last"])
    begin = len(frame(b"first"))
    for damaged, error in (
        (cut(data, begin + size // 2), TruncatedError),
        (cut(data, begin + len(record) + HEADER), TruncatedError),
        (cut(data, begin + len(record) + HEADER + 3), TruncatedError),
        (flip_byte(data, begin + size // 2), ChecksumError),
        (flip_byte(data, begin + len(record) + HEADER), ChecksumError),
    ):
        path.write_bytes(damaged)
        expected = ([b"first"], (error, 1, begin))
        assert outcome(read_records(path)) == expected
        assert outcome(joined(read_batches(path))) == expected
        assert outcome(read_records(io.BytesIO(damaged))) == expected


@pytest.mark.parametrize("length", [2**40, 2**62, 2**63, 2**64 - 1])
@pytest.mark.parametrize("kind", ["path", "stream", "pipe", "gzip"])
def test_absurd_length_with_a_valid_crc_takes_no_memory(path, length, kind):
    data = frames([b"first"]) + header(length) + b"abc"
    path.write_bytes(gzip.compress(data) if kind == "gzip" else data)
    tracemalloc.start()
    source = {"stream": io.BytesIO(data), "pipe": Trickle(data, 5)}.get(kind, path)
    reader = read_records(source)
    assert next(reader) == b"first"
    with pytest.raises(TruncatedError):
        next(reader)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 26


def test_header_damage_before_a_large_record_takes_linear_time_in_a_stream():
    class Counted(io.BytesIO):
        reads = 0

        def read1(self, size=-1):
            Counted.reads += 1
            return super().read1(min(size, 1 << 16))

    large = random.Random(0).randbytes(8_000_000)
    data = flip_byte(frames([b"first", large, b"last"]), 3)
    records = list(read_records(Counted(data), on_error="skip"))
    assert records[-2:] == [large, b"last"]
    assert Counted.reads < 1000


class Pausing(io.RawIOBase):
    """A non-blocking pipe: after each piece, one read reports that there is no data at the moment."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = [piece for each in pieces for piece in (each, None)]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes | None:
        if not self._pieces:
            return b""
        piece = self._pieces.pop(0)
        if piece is not None and 0 <= size < len(piece):
            self._pieces.insert(0, piece[size:])
            piece = piece[:size]
        return piece


@pytest.mark.parametrize("seed", range(tries(60)))
def test_who_asks_again_after_a_pause_gets_what_comes_without_one(seed):
    rng = random.Random(seed)
    data = frames([rng.randbytes(rng.choice([0, 5, 50, 3000])) for _ in range(rng.randrange(2, 12))])
    for _ in range(rng.randrange(1, 4)):
        data = flip_byte(data, rng.randrange(len(data)))
    if rng.random() < 0.3:
        data = cut(data, rng.randrange(len(data)))
    cuts = sorted({0, *rng.choices(range(len(data) + 1), k=rng.randrange(1, 6)), len(data)})
    reader = read_records(
        Pausing([data[low:high] for low, high in pairwise(cuts)]), compression="", on_error="skip"
    )
    found = []
    while True:
        try:
            found.append(next(reader))
        except BlockingIOError:
            continue
        except StopIteration:
            break
    whole = read_records(io.BytesIO(data), compression="", on_error="skip")
    assert (found, reader.skipped) == (list(whole), whole.skipped)


def test_a_batch_of_a_slow_stream_does_not_wait_for_more_than_its_records():
    payloads = [b"%05d" % number for number in range(2000)]
    size = len(frames(payloads[:1]))
    stream = Trickle(frames(payloads), size)
    for number, batch in enumerate(read_batches(stream, batch_size=10), 1):
        assert list(batch) == payloads[10 * number - 10 : 10 * number]
        assert stream.given <= (10 * number + 2) * size
