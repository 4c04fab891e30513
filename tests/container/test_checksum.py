"""CRC-32C: published check values, the mask, and many payloads checked with one CRC."""

from __future__ import annotations

import random
import struct
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord.container import checksum
from tests.support.damage import FOOTER, HEADER, OVERHEAD, flip_byte, frames, masked, starts
from tests.support.settings import CAMPAIGN

ASCENDING = bytes(range(32))
ISCSI_READ = bytes.fromhex(
    "01c000000000000000000000000000001400000000000400000000140000001828000000000000000200000000000000"
)


@pytest.mark.parametrize(
    ("data", "crc"),
    [
        (b"", 0x00000000),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (ASCENDING, 0x46DD794E),
        (ASCENDING[::-1], 0x113FDB5C),
        (ISCSI_READ, 0xD9963A56),
    ],
)
def test_crc_has_the_values_that_rfc_3720_publishes(data, crc):
    assert checksum.crc32c(data) == crc


def test_mask_of_the_empty_crc_is_the_constant():
    assert checksum.masked_crc(b"") == 0xA282EAD8


@given(st.integers(0, 0xFFFFFFFF))
def test_mask_is_what_the_format_says_and_can_be_undone(crc):
    one = checksum.mask(crc)
    many = checksum.mask_many(np.array([crc], np.uint32))
    assert many.tolist() == [one]
    assert checksum.unmask_many(many).tolist() == [crc]
    assert one == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


@given(st.lists(st.binary(max_size=40)))
def test_masked_crcs_are_the_single_ones(payloads):
    assert checksum.masked_crcs(payloads, len(payloads)).tolist() == list(map(masked, payloads))


EDGES = [0, 1, 0xFF, 0x100, 0xFFFF, 0x10000, 2**24, 2**31, 2**32 - 1, 2**32, 2**40, 2**56, 2**63, 2**64 - 1]


@pytest.mark.parametrize("length", EDGES)
def test_length_crc_at_the_edges_of_its_bytes(length):
    array = np.array([length], np.uint64)
    assert checksum.masked_length_crcs(array).tolist() == [masked(struct.pack("<Q", length))]


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_length_crcs_are_the_single_ones(lengths):
    expected = [masked(struct.pack("<Q", length)) for length in lengths]
    assert checksum.masked_length_crcs(np.array(lengths, np.uint64)).tolist() == expected


def match(data: bytes, payloads: list[bytes]) -> bool | None:
    """The result of ``payloads_match`` for a file that should hold the frames of ``payloads``."""
    edges = np.array(starts(payloads), np.int64)
    begins, ends = edges[:-1] + HEADER, edges[1:] - FOOTER
    stored = np.array([struct.unpack_from("<I", data, end)[0] for end in ends.tolist()], np.uint32)
    return checksum.payloads_match(data, begins, ends, stored)


def lengths_of(kind: str) -> list[int]:
    rng = random.Random(kind)
    return {
        "empty": [0] * 200,
        "one byte": [1] * 200,
        "empty first and last": [0, *(rng.randrange(50) for _ in range(198)), 0],
        "mixed": [rng.randrange(100) for _ in range(300)],
        "as few as count as many": [10] * 128,
        "one long one": [20] * 300 + [1 << 14] + [20] * 300,
        "several runs": [1500] * 800,
        "runs that end with empty ones": [1007, 0, 0] * 700,
    }[kind]


KINDS = [
    "empty",
    "one byte",
    "empty first and last",
    "mixed",
    "as few as count as many",
    "one long one",
    "several runs",
    "runs that end with empty ones",
]


def some(kind: str) -> list[bytes]:
    return [random.Random(kind).randbytes(length) for length in lengths_of(kind)]


@pytest.mark.parametrize("kind", KINDS)
def test_whole_payloads_match(kind):
    payloads = some(kind)
    assert match(frames(payloads), payloads) is True


@pytest.mark.parametrize("kind", KINDS)
def test_one_damaged_payload_or_footer_never_matches(kind):
    payloads = some(kind)
    data = frames(payloads)
    rng = random.Random(kind)
    edges = starts(payloads)
    whole = [*range(20), *(rng.randrange(len(payloads)) for _ in range(40)), len(payloads) - 1]
    for number in whole:
        begin, end = edges[number] + HEADER, edges[number + 1]
        for at in {begin, end - FOOTER - 1, end - 1, rng.randrange(begin, end)}:
            if begin <= at:
                assert match(flip_byte(data, at, 1 << rng.randrange(8)), payloads) is False


def test_every_single_byte_of_a_small_run_is_looked_at():
    payloads = [random.Random(i).randbytes(i % 7) for i in range(130)]
    data = frames(payloads)
    edges = starts(payloads)
    seen = set()
    for number, payload in enumerate(payloads):
        begin = edges[number] + HEADER
        for at in range(begin, begin + len(payload) + FOOTER):
            seen.add(at)
            assert match(flip_byte(data, at), payloads) is False
    assert len(seen) == sum(map(len, payloads)) + FOOTER * len(payloads)


def test_headers_are_not_looked_at():
    payloads = some("mixed")
    data = bytearray(frames(payloads))
    for start in starts(payloads)[:-1]:
        data[start : start + HEADER] = b"\xaa" * HEADER
    assert match(bytes(data), payloads) is True


@pytest.mark.parametrize("distance", range(-3, 4))
def test_payloads_on_both_sides_of_a_run_boundary_are_looked_at(distance):
    size = 1024 - OVERHEAD
    count = checksum._COPIED_AT_ONCE // 1024 + 3
    payloads = [bytes([i % 251]) * size for i in range(count)]
    payloads[5] += b"." * (distance % 1024)  # moves the boundary through frames
    data = frames(payloads)
    assert match(data, payloads) is True
    edges = starts(payloads)
    for number in range(count - 6, count):
        assert match(flip_byte(data, edges[number] + HEADER), payloads) is False
        assert match(flip_byte(data, edges[number + 1] - FOOTER - 1, 1), payloads) is False


def test_swapped_payloads_of_equal_length_do_not_match():
    payloads = [random.Random(i).randbytes(30) for i in range(150)]
    swapped = payloads.copy()
    swapped[10], swapped[90] = swapped[90], swapped[10]
    data = bytearray(frames(payloads))
    at = [start + HEADER for start in starts(payloads)]
    data[at[10] : at[10] + 30], data[at[90] : at[90] + 30] = payloads[90], payloads[10]
    assert match(bytes(data), payloads) is False
    assert match(frames(swapped), payloads) is True


@pytest.mark.parametrize(
    "lengths",
    [[10] * (checksum._FEWEST_PAYLOADS - 1), [9000] * 200, [0] * 500 + [1 << 15]],
    ids=["too few", "too large", "one too long"],
)
def test_where_single_crcs_are_as_quick_nothing_is_answered(lengths):
    payloads = [bytes(length) for length in lengths]
    assert match(frames(payloads), payloads) is None


@given(st.lists(st.binary(max_size=30), min_size=128, max_size=140), st.data())
@settings(max_examples=30 * CAMPAIGN)
def test_answer_is_that_of_the_single_crcs(payloads, data):
    whole = frames(payloads)
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = flip_byte(whole, at, data.draw(st.integers(0, 255)))
    edges = starts(payloads)
    expected = all(
        struct.pack("<I", masked(damaged[begin + HEADER : end - FOOTER])) == damaged[end - FOOTER : end]
        for begin, end in pairwise(edges)
    )
    assert match(damaged, payloads) is expected


def match_in_place(memory: bytearray, payloads: list[bytes]) -> bool | None:
    edges = np.array(starts(payloads), np.int64)
    return checksum.payloads_match_in_place(memoryview(memory), edges[:-1] + HEADER, edges[1:] - FOOTER)


@pytest.mark.parametrize("kind", KINDS)
def test_payloads_that_match_in_place_are_still_there(kind):
    payloads = some(kind)
    memory = bytearray(frames(payloads) + b"behind")
    assert match_in_place(memory, payloads)
    edges = starts(payloads)
    for payload, start, stop in zip(payloads, edges, edges[1:], strict=False):
        assert memory[start + HEADER : stop - FOOTER] == payload
    assert memory[edges[-1] :] == b"behind"


@pytest.mark.parametrize("kind", KINDS)
def test_memory_in_which_something_does_not_match_is_as_it_was(kind):
    payloads = some(kind)
    data = frames(payloads)
    edges = starts(payloads)
    for number in [0, 1, len(payloads) // 2, len(payloads) - 1]:
        for place in {edges[number] + HEADER, edges[number + 1] - 1}:
            memory = bytearray(flip_byte(data, place))
            before = bytes(memory)
            assert match_in_place(memory, payloads) is False
            assert memory == before


def test_few_or_long_payloads_in_place_are_left_to_others():
    for payloads in ([b"x"] * 10, [b"x"] * 200 + [bytes(checksum.LONGEST_IN_BATCH + 1)]):
        memory = bytearray(frames(payloads))
        assert match_in_place(memory, payloads) is None
        assert memory == frames(payloads)
