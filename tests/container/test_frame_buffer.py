"""The buffer under both readers: its cursor, its records, its memory, and how much to read for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import ChecksumError
from purerecord.container.frame_buffer import AHEAD, FrameBuffer, expected_size, should_read_ahead
from tests.support.damage import HEADER, OVERHEAD, cut, flip_byte, frame, frames, starts

PAYLOADS = [b"one", b"", b"three" * 100, b"four"]
DATA = frames(PAYLOADS)


def loaded(data: bytes = DATA, base: int = 1000, record: int = 7) -> FrameBuffer:
    """A buffer in the middle of a file."""
    buffer = FrameBuffer("file", record=record)
    buffer.load(data, base)
    return buffer


@given(st.lists(st.binary(max_size=50), max_size=100), st.lists(st.integers(1, 40)))
def test_records_come_in_order_with_their_place(payloads, counts):
    data = frames(payloads)
    buffer, edges, got = loaded(data), starts(payloads), []
    for count in [*counts, len(payloads)]:
        assert (buffer.record, buffer.offset) == (7 + len(got), 1000 + edges[len(got)])
        records = buffer.take(count)
        if len(records):
            assert records.origin(0) == ("file", 7 + len(got), 1000 + edges[len(got)])
        got += records
    assert got == payloads
    assert (buffer.ready, buffer.tail) == (0, 0)


@pytest.mark.parametrize("missing", [1, 4, 10, 19])
def test_incomplete_frame_is_the_tail(missing):
    buffer = loaded(cut(DATA, len(DATA) - missing))
    assert list(buffer.take()) == PAYLOADS[:3]
    assert (buffer.tail, buffer.bad_length) == (len(frame(b"four")) - missing, False)


@pytest.mark.parametrize("size", [HEADER, OVERHEAD])
def test_wrong_length_is_noted_however_little_there_is(size):
    assert loaded(flip_byte(DATA, 0)[:size]).bad_length
    assert not loaded(DATA[:size]).bad_length


def test_records_before_a_bad_one_come_first_and_then_its_error():
    edges = starts(PAYLOADS)
    buffer = loaded(flip_byte(DATA, edges[2] + HEADER))
    buffer.check()
    assert list(buffer.take()) == PAYLOADS[:2]
    for _ in range(2):
        with pytest.raises(ChecksumError) as caught:
            buffer.take()
        error = caught.value
        assert (error.path, error.record, error.offset) == ("file", 9, 1000 + edges[2])
    buffer.cursor += 1
    assert list(buffer.take()) == PAYLOADS[3:]


def test_only_what_is_checked_is_bad():
    buffer = loaded(flip_byte(DATA, len(DATA) - 1))
    buffer.check(3)
    assert list(buffer.take(3)) == PAYLOADS[:3]
    buffer.check(1)
    with pytest.raises(ChecksumError):
        buffer.take(1)


def test_memory_that_may_be_written_to_is_handed_out_read_only():
    memory = memoryview(bytearray(frames([b"payload"] * 100)))
    buffer = loaded(memory)
    buffer.check()
    records = buffer.take()
    assert list(records) == [b"payload"] * 100
    assert records.buffer.readonly
    assert bytes(memory) != frames([b"payload"] * 100), "the checksums were checked in place"


def test_release_keeps_a_small_tail_and_its_place():
    data = frames([bytes(100)] * 20)
    for taken in (0, 10, 19):
        buffer = loaded(memoryview(bytearray(data)))
        buffer.take(taken)
        before = buffer.offset, buffer.record, buffer.ready, buffer.tail
        buffer.release()
        assert (buffer.offset, buffer.record, buffer.ready, buffer.tail) == before
        assert (buffer.base > 1000) == (taken == 19), "only a tail of at most an eighth is copied"
        assert list(buffer.take()) == [bytes(100)] * (20 - taken)


def test_released_buffer_still_knows_its_bad_records():
    payloads = [bytes(100)] * 20
    buffer = loaded(flip_byte(frames(payloads), starts(payloads)[19] + HEADER))
    buffer.check()
    buffer.take(18)
    buffer.release()
    assert len(buffer.take()) == 1
    with pytest.raises(ChecksumError):
        buffer.take()


def test_discard_drops_bytes_at_the_front():
    buffer = loaded()
    buffer.discard(5)
    assert (buffer.data, buffer.base) == (DATA[5:], 1005)


@pytest.mark.parametrize("mean", [1, 100, 60_000])
@pytest.mark.parametrize("count", [1, 7, 8, 9, 64, 10_000])
def test_expected_size_leaves_a_margin_but_not_a_large_one(count, mean):
    assert count * mean <= expected_size(count, mean) <= 1.25 * count * mean


def test_small_batches_are_read_ahead_and_large_ones_are_not():
    assert should_read_ahead(64, 100)
    assert should_read_ahead(1, AHEAD // 5)
    assert not should_read_ahead(1000, AHEAD)
    assert not should_read_ahead(64, AHEAD // 64)
