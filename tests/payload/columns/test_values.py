"""Values: spans anywhere in a buffer, decoded all at once."""

from __future__ import annotations

import tracemalloc
from itertools import chain
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.payload.columns.tuning import tuned
from purerecord.payload.columns.values import (
    are_integers,
    floats,
    gather_bytes,
    integers,
    single_integers,
    strings,
    words_at,
)
from purerecord.payload.varint import varint
from tests.support.settings import tries
from tests.support.strategies import int64s


def scattered(parts: list[bytes], random: Random) -> tuple[bytes, np.ndarray, np.ndarray, np.ndarray]:
    """A buffer with ``parts`` in it, in any order: (buffer, octets, begins, sizes)."""
    begins = [0] * len(parts)
    buffer = bytearray(random.randbytes(random.randrange(9)))
    for k in random.sample(range(len(parts)), len(parts)):
        begins[k] = len(buffer)
        buffer += parts[k] + random.randbytes(random.randrange(9))
    octets = np.frombuffer(bytes(buffer), np.uint8)
    return bytes(buffer), octets, np.array(begins, np.int64), np.array([*map(len, parts)], np.int64)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 30, 200])
@pytest.mark.parametrize("width", [1, 8, 24, 64])
@pytest.mark.parametrize("offset", [-60, -1, 0, 5])
def test_fetch_gives_zeros_outside_of_the_buffer(size, width, offset):
    data = Random(size).randbytes(size)
    octets = np.frombuffer(data, np.uint8)
    begins = np.arange(0, size + 80)
    around = bytes(100) + data + bytes(300)
    expected = [around[100 + begin + offset :][:width] for begin in begins.tolist()]
    assert [bytes(one) for one in gather_bytes(octets, width, begins, offset).tolist()] == expected
    square = gather_bytes(octets, width, begins[: size // 2 * 2 + 80].reshape(2, -1), offset)
    assert [bytes(one) for one in square.reshape(-1).tolist()] == expected[: square.size]


def test_words_are_little_endian():
    assert words_at(np.arange(20, dtype=np.uint8), np.array([1, 12])).tolist() == [
        0x0807060504030201,
        0x13121110_0F0E0D0C,
    ]


@given(st.lists(st.lists(int64s, max_size=30), max_size=12), st.randoms())
def test_integers_of_all_spans(lists, random):
    parts = [b"".join(map(varint, numbers)) for numbers in lists]
    _, octets, begins, sizes = scattered(parts, random)
    values, counts = integers(octets, begins, sizes)
    assert values.tolist() == [*chain.from_iterable(lists)]
    assert counts.tolist() == [*map(len, lists)]
    assert are_integers(octets, begins, sizes)
    single = single_integers(octets, begins, sizes)
    assert (single is not None) == all(len(numbers) == 1 for numbers in lists)
    assert single is None or single.tolist() == values.tolist()


varint_like = st.builds(
    lambda more, last: b"\xff" * more + last, st.integers(0, 12), st.sampled_from([b"\1", b""])
)


@given(st.lists(st.lists(varint_like, max_size=8).map(b"".join), max_size=6), st.randoms())
def test_spans_are_integers_just_if_they_can_be_decoded(parts, random):
    _, octets, begins, sizes = scattered(parts, random)
    assert are_integers(octets, begins, sizes) == (integers(octets, begins, sizes) is not None)


@pytest.mark.parametrize("chunk", [1, 100, 1 << 18])
@pytest.mark.parametrize("length", [1, 8, 63, 64, 65, 130, 1000])
def test_lists_of_any_length_in_chunks_of_any_size(chunk, length):
    random = Random(length)
    lists = [
        [random.getrandbits(random.choice([5, 12, 64])) for _ in range(random.randrange(length))]
        for _ in range(20)
    ]
    _, octets, begins, sizes = scattered([b"".join(map(varint, numbers)) for numbers in lists], random)
    with tuned(bytes_of_integers_per_pass=chunk):
        values, counts = integers(octets, begins, sizes)
        assert values.view(np.uint64).tolist() == [*chain.from_iterable(lists)]
        assert counts.tolist() == [*map(len, lists)]
        assert are_integers(octets, begins, sizes)


@pytest.mark.parametrize("length", [40, 400])
@pytest.mark.parametrize("seed", range(tries(15)))
def test_spans_that_are_no_integers(seed, length):
    random = Random(seed)
    lists = [[random.getrandbits(20) for _ in range(random.randrange(length))] for _ in range(10)]
    good = [b"".join(map(varint, numbers)) for numbers in lists]
    for bad in (
        b"\x80",
        b"\x05\x80",
        bytes(70) + b"\x81",
        b"\x80" * 10 + b"\x01",
        bytes(63) + b"\x80" * 11 + b"\x01",
    ):
        _, octets, begins, sizes = scattered([*good, bad], random)
        assert integers(octets, begins, sizes) is None
        assert single_integers(octets, begins, sizes) is None
        assert not are_integers(octets, begins, sizes)


@given(st.lists(st.lists(st.floats(width=32), max_size=10), max_size=10), st.randoms())
def test_floats_of_all_spans(lists, random):
    parts = [np.array(numbers, "<f4").tobytes() for numbers in lists]
    _, octets, begins, sizes = scattered(parts, random)
    values = floats(octets, begins, sizes)
    assert values.dtype == np.float32
    assert values.tobytes() == b"".join(parts)


def test_floats_of_spans_of_one_size():
    parts = [np.arange(k, k + 500, dtype="<f4").tobytes() for k in range(20)]
    _, octets, begins, sizes = scattered(parts, Random(0))
    assert floats(octets, begins, sizes).tobytes() == b"".join(parts)


STRINGS = [
    [],
    [b""] * 5,
    [b"x\0\0"] * 100,
    [bytes(k % 3) for k in range(300)],
    [bytes([k % 256]) * (k % 40) for k in range(100)],
    [bytes(k % 5) + b"\0" for k in range(2000)],
    [b"x" * 255, b"y" * 256, b"z" * 257],
    [b"x" * 5000, b""],
]


@pytest.mark.parametrize("parts", STRINGS)
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_strings_of_all_spans(parts, kind):
    buffer, octets, begins, sizes = scattered(parts, Random(1))
    values = strings(kind(buffer), octets, begins, sizes)
    assert values.dtype == object
    assert values.tolist() == parts
    assert all(type(value) is bytes for value in values)


def test_one_longer_string_among_many_short_ones_takes_little_memory():
    count = 200_000
    data = bytes(count) + b"x" * 256
    octets = np.frombuffer(data, np.uint8)
    begins, sizes = np.arange(count + 1), np.append(np.arange(count) % 2, 256)
    tracemalloc.start()
    made = strings(data, octets, begins, sizes)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert made.tolist() == [b"", b"\0"] * (count // 2) + [b"x" * 256]
    assert peak < 64 * count


@pytest.mark.parametrize("length", [65_535, 65_536, 70_000, 131_072])
def test_lists_of_very_many_integers_are_counted(length):
    _, octets, begins, sizes = scattered([bytes(length)] * 5, Random(length))
    found = integers(octets, begins, sizes)
    assert found is not None
    assert found[1].tolist() == [length] * 5
    assert not found[0].any()


def test_long_lists_and_then_many_empty_ones():
    _, octets, begins, sizes = scattered([b"\x05" * 200_000] * 20 + [b""] * 60, Random(1))
    found = integers(octets, begins, sizes)
    assert found is not None
    assert found[1].tolist() == [200_000] * 20 + [0] * 60
    assert found[0].size == 4_000_000
