"""A pool lends memory again only if nothing refers to it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import purerecord as pr
from purerecord.memory import recycling as memory_module
from purerecord.memory.recycling import BufferPool
from tests.support.damage import frames


def address(view: memoryview) -> int:
    return np.frombuffer(view, np.uint8).ctypes.data


def test_buffer_has_the_size_that_was_asked_for():
    buffers = BufferPool()
    for size in (0, 1, 100, 3, 1 << 20):
        assert len(buffers.lend(size)) == size


def test_buffer_lies_in_its_page_as_the_file_does():
    buffers = BufferPool()
    for offset in (0, 1, 4095, 4096, 123_456_789):
        for size in (1, 1000, 5 << 20):
            view = buffers.lend(size, offset)
            assert address(view) % 4096 == offset % 4096
            assert len(view) == size


@pytest.mark.parametrize("offset", range(0, 4096, 400))
def test_buffer_is_never_shorter_than_asked_for(offset):
    buffers = BufferPool()
    buffers.lend(1 << 20)
    for size in ((1 << 20) + (1 << 17) + more for more in (-4096, -100, 0, 100, 4096)):
        assert len(buffers.lend(size, offset)) == size


def test_what_somebody_holds_is_never_given_again():
    buffers = BufferPool()
    held = []
    for number in range(10):
        view = buffers.lend(1000)
        view[:] = bytes([number]) * 1000
        held.append(view.toreadonly()[1:-1])
    assert [bytes(view) for view in held] == [bytes([number]) * 998 for number in range(10)]


counting = pytest.mark.skipif(not hasattr(sys, "getrefcount"), reason="this Python does not count references")


@counting
def test_what_nobody_holds_is_given_again():
    buffers = BufferPool()
    places = {address(buffers.lend(1000)) for _ in range(10)}
    assert len(places) == 1


def test_buffer_for_little_keeps_no_room_for_much():
    buffers = BufferPool()
    buffers.lend(1 << 28)
    held = [buffers.lend(1 << 20) for _ in range(3)]
    assert max(np.frombuffer(view.obj, np.uint8).size for view in held) < 1 << 23
    assert sum(array.size for array in buffers._arrays) < 1 << 24


@counting
def test_buffer_for_much_is_given_up_where_only_little_is_asked_for():
    buffers = BufferPool()
    buffers.lend(1 << 20)
    buffers.lend(1 << 28)
    for _ in range(20):
        buffers.lend(1 << 20)
    assert sum(array.size for array in buffers._arrays) < 1 << 24


@counting
@pytest.mark.parametrize("seen", [-1, 0, 1, 5])
def test_how_references_are_counted_is_found_out(monkeypatch, seen):
    """Newer interpreters and compilers count fewer references, for instance of a function's arguments."""
    counted = sys.getrefcount
    monkeypatch.setattr(sys, "getrefcount", lambda value: counted(value) + seen)
    monkeypatch.setattr(memory_module, "_UNUSED", memory_module._count_unused())
    buffers = BufferPool()
    assert len({address(buffers.lend(1000)) for _ in range(10)}) == 1
    held = [buffers.lend(1000) for _ in range(10)]
    assert len(set(map(address, held))) == 10


@counting
def test_where_references_are_not_counted_nothing_is_used_again(monkeypatch):
    monkeypatch.setattr(sys, "getrefcount", lambda _: 1)
    monkeypatch.setattr(memory_module, "_UNUSED", memory_module._count_unused())
    assert memory_module._UNUSED is None
    buffers = BufferPool()
    held = [buffers.lend(1000) for _ in range(10)]
    assert len(set(map(address, held))) == 10


def test_an_array_made_from_a_view_holds_it():
    buffers = BufferPool()
    array = np.frombuffer(buffers.lend(100), np.uint8)[10:20]
    array[:] = 7
    buffers.lend(100)[:] = bytes(100)
    assert array.tolist() == [7] * 10


def test_batches_that_are_kept_keep_their_records(tmp_path):
    path = tmp_path / "file"
    payloads = [b"%06d" % number * 50 for number in range(40_000)]
    path.write_bytes(frames(payloads))
    assert [record for batch in list(pr.read_batches(path)) for record in batch] == payloads
    kept = [batch[::999] for batch in pr.read_batches(path, batch_size=5000)]
    assert [record for some in kept for record in some] == [
        record for low in range(0, 40_000, 5000) for record in payloads[low : low + 5000 : 999]
    ]


def test_batches_that_are_kept_keep_their_records_beyond_their_file(tmp_path):
    paths, payloads = [], []
    for number in range(5):
        payloads += (own := [b"%d-%04d" % (number, i) * 30 for i in range(2000)])
        paths.append(tmp_path / str(number))
        paths[-1].write_bytes(frames(own))
    for batch_size in (None, 700, 2000):
        kept = [batch[::7] for batch in pr.read_batches(paths, batch_size=batch_size)]
        firsts = range(0, len(payloads), 2000)
        step = batch_size or 2000
        expected = [
            payloads[low : min(low + step, f + 2000)][::7] for f in firsts for low in range(f, f + 2000, step)
        ]
        assert [list(some) for some in kept] == expected
    dataset = pr.TFRecordDataset(paths).batch(700)
    assert [list(batch) for batch in list(dataset)] == [
        payloads[low : low + 700] for low in range(0, 10_000, 700)
    ]


@counting
def test_what_was_read_of_one_file_makes_room_for_the_next(tmp_path, monkeypatch):
    paths = [tmp_path / str(number) for number in range(8)]
    for path in paths:
        path.write_bytes(frames([path.name.encode() * 100_000] * 20))
    fresh = []
    empty = np.empty

    def counted(shape, dtype=float):
        if dtype == np.uint8:
            fresh.append(shape)
        return empty(shape, dtype)

    monkeypatch.setattr(memory_module.np, "empty", counted)
    for batch in pr.read_batches(paths):
        assert len(batch) == 20
    assert len(fresh) <= 4


@pytest.mark.light(2)
@counting
@pytest.mark.parametrize(
    "batches",
    [
        pr.read_batches,
        lambda path: pr.read_batches(path, batch_size=500),
        lambda path: pr.TFRecordDataset(path).batch(500),
    ],
    ids=["read_batches", "read_batches of a size", "dataset"],
)
def test_batches_that_nobody_keeps_are_read_into_the_same_memory(tmp_path, batches):
    path = tmp_path / "file"
    path.write_bytes(frames([b"%06d" % number * 1500 for number in range(10_000)]))
    places, count = [], 0
    iterator = iter(batches(path))
    while (batch := next(iterator, None)) is not None:
        places.append(memoryview(batch.buffer).obj.ctypes.data)
        count += len(batch)
        del batch
    assert count == 10_000
    assert len(places) >= 10
    assert max(map(places[3:].count, set(places[3:]))) >= len(places[3:]) - 2


def test_a_batch_cannot_be_written_to(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(frames([b"abc"] * 100))
    (batch,) = pr.read_batches(path)
    with pytest.raises(TypeError):
        batch.buffer[0] = 1
