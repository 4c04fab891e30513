"""Frames: one table of cases for both directions, and every edge at which a buffer may end."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import ChecksumError, Records, TruncatedError
from purerecord.container import frames as frame
from purerecord.container.frame_chain import split
from tests.support.damage import (
    FOOTER,
    HEADER,
    OVERHEAD,
    cut,
    flip_bit,
    flip_byte,
    frames,
    header,
    set_length,
    starts,
)
from tests.support.settings import tries

# Records and the file they make, for writing and for reading.
CASES = {
    "nothing": ([], ""),
    "hello": ([b"hello"], "0500000000000000 eab2043e 68656c6c6f bb1f1c19"),
    "an empty record": ([b""], "0000000000000000 29039807 d8ea82a2"),
    "two empty records": ([b"", b""], "0000000000000000 29039807 d8ea82a2" * 2),
    "hello and nothing": (
        [b"hello", b""],
        "0500000000000000 eab2043e 68656c6c6f bb1f1c19 0000000000000000 29039807 d8ea82a2",
    ),
}
MORE = {
    "equal lengths": [b"%04d" % i for i in range(300)],
    "equal, then others": [b"equal"] * 100 + [b"o" * i for i in range(50)],
    "others, then equal": [b"o" * i for i in range(50)] + [b"equal"] * 100,
    "all lengths": [bytes([i % 256]) * i for i in range(300)],
    "large ones": [b"\x00" * 70_000, b"\xff" * 70_001, b""],
    "a TFRecord in a record": [frames([b"inner"] * 20)] * 3,
}
FILES = {name: (payloads, bytes.fromhex(data)) for name, (payloads, data) in CASES.items()}
FILES |= {name: (payloads, frames(payloads)) for name, payloads in MORE.items()}
each_file = pytest.mark.parametrize(("payloads", "data"), FILES.values(), ids=FILES.keys())


def payloads_in(data: bytes, found: frame.Frames) -> list[bytes]:
    return [data[begin:end] for begin, end in zip(found.begins.tolist(), found.ends.tolist(), strict=True)]


@each_file
def test_encode_gives_the_file(payloads, data):
    assert b"".join(piece for payload in payloads for piece in frame.encode(payload)) == data
    assert b"".join(frame.encode_many(payloads)) == data


@each_file
def test_encode_gives_header_payload_and_footer(payloads, data):
    for payload in payloads:
        assert [len(piece) for piece in frame.encode(payload)] == [HEADER, len(payload), FOOTER]
        assert frame.encode(payload)[1] is payload


@each_file
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_encode_of_records_gives_the_file_wherever_they_lie(payloads, data, kind):
    records = Records.of(payloads)
    assert b"".join(frame.encode_many(Records(kind(records.buffer), records.begins, records.ends))) == data
    apart = Records.of([part for payload in payloads for part in (b"between", payload)])
    assert b"".join(frame.encode_many(apart.take(slice(1, None, 2)))) == data
    backwards = Records.of(payloads[::-1])
    assert b"".join(frame.encode_many(backwards.take(slice(None, None, -1)))) == data


@each_file
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_split_gives_the_records(payloads, data, kind):
    found = split(kind(data))
    assert payloads_in(data, found) == payloads
    assert (found.stop, found.bad) == (len(data), False)
    assert not len(frame.bad_payloads(kind(data), found.begins, found.ends))


@each_file
def test_split_begins_anywhere(payloads, data):
    found = split(b"before" + data, 6)
    assert payloads_in(b"before" + data, found) == payloads
    assert (found.stop, found.bad) == (6 + len(data), False)


@pytest.mark.parametrize("name", ["hello and nothing", "equal lengths", "equal, then others", "all lengths"])
def test_split_of_any_beginning_gives_the_whole_frames_in_it(name):
    payloads, data = FILES[name]
    edges = starts(payloads)
    sizes = range(len(data)) if len(data) < 8000 else random.Random(1).sample(range(len(data)), tries(2000))
    for size in sizes:
        found = split(cut(data, size))
        whole = sum(edge <= size for edge in edges) - 1
        assert len(found.begins) == whole
        assert (found.stop, found.bad) == (edges[whole], False)


@pytest.mark.parametrize("name", CASES)
def test_byte_by_byte_a_frame_appears_with_its_last_byte(name):
    payloads, data = FILES[name]
    buffer, base, got = b"", 0, []
    for byte in data:
        buffer += bytes([byte])
        found = split(buffer)
        got += payloads_in(buffer, found)
        base += found.stop
        buffer = buffer[found.stop :]
        assert base in starts(payloads)
    assert got == payloads
    assert buffer == b""


@each_file
@pytest.mark.parametrize("garbage", [b"\x00" * 12, b"\xff" * 12, b"<!doctype html>", header(3)[:8] + b"junk"])
def test_garbage_behind_the_frames_is_bad_and_no_frame(payloads, data, garbage):
    found = split(data + garbage)
    assert payloads_in(data, found) == payloads
    assert (found.stop, found.bad) == (len(data), True)


@pytest.mark.parametrize("name", ["equal lengths", "all lengths", "equal, then others"])
def test_a_wrong_length_ends_the_frames_there(name):
    payloads, data = FILES[name]
    edges = starts(payloads)
    rng = random.Random(name)
    for number in range(len(payloads)):
        for length in (0, 4, 1 << 20, 2**63, 2**64 - 1, rng.randrange(300)):
            if length == len(payloads[number]):
                continue
            found = split(set_length(data, edges[number], length))
            assert len(found.begins) == number
            assert (found.stop, found.bad) == (edges[number], True)


def test_every_flipped_bit_of_a_header_is_seen():
    payloads = [b"one", b"", b"three" * 5] * 8
    data = frames(payloads)
    for number, start in enumerate(starts(payloads)[:-1]):
        for bit in range(8 * HEADER):
            found = split(flip_bit(data, 8 * start + bit))
            assert (len(found.begins), found.stop, found.bad) == (number, start, True)


@pytest.mark.parametrize("count", [3, 400], ids=["few", "many"])
def test_every_damaged_payload_is_named(count):
    payloads = [random.Random(i).randbytes(i % 50) for i in range(count)]
    data = frames(payloads)
    edges = starts(payloads)
    found = split(data)
    for number in range(count):
        damaged = flip_byte(data, edges[number + 1] - 1, 1)
        if payloads[number]:
            damaged = flip_byte(damaged, edges[number] + HEADER)
        assert frame.bad_payloads(damaged, found.begins, found.ends).tolist() == [number]
    twice = flip_byte(flip_byte(data, edges[1] + HEADER), edges[count - 1] + HEADER)
    for kind in (bytes, bytearray, lambda data: memoryview(bytearray(data))):
        assert frame.bad_payloads(kind(twice), found.begins, found.ends).tolist() == [1, count - 1]


# Sizes at which the code takes another path: parts of a frame, equal runs, small and large payloads.
EDGES = [0, 1, 8, 12, 16, 64, 1024, 2048, 1 << 14]
NEAR = sorted({max(0, edge + distance) for edge in EDGES for distance in (-1, 0, 1)})


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129])
@pytest.mark.parametrize("length", NEAR)
def test_sizes_and_counts_around_every_edge(length, count):
    payloads = [random.Random(i).randbytes(length) for i in range(min(count, 3))] * count
    payloads = payloads[:count]
    data = frames(payloads)
    found = split(data)
    assert b"".join(frame.encode_many(payloads)) == data
    assert found.stop == len(data)
    assert payloads_in(data, found) == payloads
    assert not len(frame.bad_payloads(data, found.begins, found.ends))
    if length:
        damaged = flip_byte(data, len(data) - FOOTER - 1)
        assert frame.bad_payloads(damaged, found.begins, found.ends).tolist() == [count - 1]
    assert len(split(data[:-1]).begins) == count - 1


@given(st.lists(st.binary(max_size=60), max_size=30))
def test_decode_of_encode_is_the_same(payloads):
    data = b"".join(frame.encode_many(payloads))
    assert data == frames(payloads)
    found = split(data)
    assert payloads_in(data, found) == payloads


@given(st.binary(max_size=300), st.integers(0, 20))
def test_any_bytes_give_only_frames_whose_length_holds(data, start):
    data = frames([b"x"] * (start % 3)) + data
    found = split(data)
    for begin, end in zip(found.begins.tolist(), found.ends.tolist(), strict=True):
        assert data[begin - HEADER : begin] == header(end - begin)
    assert found.stop <= len(data)
    assert found.bad == (len(data) - found.stop >= HEADER and not frame.header_holds(data, found.stop))


@pytest.mark.parametrize("length", [0, 1, 2**31, 2**40, 2**62, 2**63, 2**64 - 1])
def test_header_with_any_length_is_decoded_as_it_stands(length):
    assert frame.decode_header(header(length)) == length
    assert frame.decode_header(b"abc" + header(length), 3) == length
    assert frame.header_holds(header(length))


def test_wrong_header_raises_checksum_error_with_both_numbers():
    with pytest.raises(ChecksumError, match=r"length checksum 0x\w{8}, stored 0x\w{8}") as caught:
        frame.decode_header(flip_bit(header(5), 3))
    stored = struct.unpack("<I", header(5)[8:])[0]
    assert caught.value.part == "length"
    assert caught.value.expected == stored
    assert caught.value.got != stored


def test_wrong_payload_is_a_checksum_error_of_the_data():
    footer = frames([b"hello"])[-FOOTER:]
    assert frame.payload_holds(b"hello", footer)
    assert not frame.payload_holds(b"hellO", footer)
    error = frame.payload_error(b"hellO", footer)
    assert (error.part, error.expected) == ("data", struct.unpack("<I", footer)[0])
    assert "hell" not in str(error)


def test_data_may_end_at_a_frame_boundary_only():
    data = frames([b"hello"])
    frame.check_end(b"", 0)
    for size in range(1, len(data)):
        with pytest.raises(TruncatedError) as caught:
            frame.check_end(data[:size], size)
        assert caught.value.expected == (HEADER if size < HEADER else len(data))
        assert caught.value.got == size
        assert isinstance(caught.value, EOFError)


def test_absurd_length_with_a_valid_crc_is_a_truncation():
    for length in (2**40, 2**62, 2**63, 2**64 - 1):
        with pytest.raises(TruncatedError) as caught:
            frame.check_end(header(length) + b"abc", HEADER + 3)
        assert caught.value.expected == length + OVERHEAD


def test_u32_at_needs_no_alignment():
    data = bytes(range(40))
    offsets = np.array([0, 1, 7, 36])
    expected = [struct.unpack_from("<I", data, offset)[0] for offset in offsets.tolist()]
    assert frame.u32_at(data, offsets).tolist() == expected
    assert frame.u32_at(b"", np.empty(0, np.int64)).tolist() == []
