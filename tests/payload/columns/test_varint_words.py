"""Varint words: many varints at a time are what one varint at a time is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.payload.columns.varint_words import decode_lengths, decode_long, decode_packed, decode_single
from purerecord.payload.varint import varint
from tests.support.strategies import int64s

MASK = 2**64 - 1
EDGES = sorted(
    {value for k in range(1, 10) for value in (2 ** (7 * k) - 1, 2 ** (7 * k))} | {0, 1, 2**63, MASK}
)


def word(octets: bytes, filling: int = 0xFF) -> int:
    """The first eight bytes, filled up if there are fewer."""
    return int.from_bytes((octets + bytes([filling]) * 8)[:8], "little")


def words(*octets: bytes, filling: int = 0xFF) -> np.ndarray:
    return np.array([word(one, filling) for one in octets], np.uint64)


def sizes(*octets: bytes) -> np.ndarray:
    return np.array([len(one) for one in octets], np.uint64)


@pytest.mark.parametrize("longest", range(1, 11))
@pytest.mark.parametrize("filling", [0, 0x7F, 0x80, 0xFF])
def test_scalars_of_all_lengths(longest, filling):
    encoded = [varint(value) for value in EDGES if len(varint(value)) <= longest]
    values, valid = decode_single(words(*encoded, filling=filling), sizes(*encoded))
    assert valid.tolist() == [len(one) <= 8 for one in encoded]
    for value, one, ok in zip(values.view(np.uint64).tolist(), encoded, valid.tolist(), strict=True):
        assert not ok or varint(value) == one


@given(st.lists(st.tuples(st.binary(min_size=8, max_size=8), st.integers(0, 12)), min_size=1, max_size=20))
def test_scalar_is_valid_only_if_it_ends_where_its_size_says(cases):
    given_words = np.array([int.from_bytes(octets, "little") for octets, _ in cases], np.uint64)
    given_sizes = np.array([size for _, size in cases], np.uint64)
    values, valid = decode_single(given_words, given_sizes)
    for (octets, size), value, ok in zip(cases, values.tolist(), valid.tolist(), strict=True):
        content = octets[:size]
        one = 1 <= size <= 8 and content[-1] < 0x80 and all(octet >= 0x80 for octet in content[:-1])
        assert ok == one
        if one:
            assert value == sum((octet & 0x7F) << 7 * k for k, octet in enumerate(content))


def test_no_scalars_at_all():
    values, valid = decode_single(np.empty((3, 0), np.uint64), np.empty((3, 0), np.uint64))
    assert values.shape == valid.shape == (3, 0)


@given(st.lists(st.integers(2**56, MASK), min_size=1, max_size=20))
def test_varints_in_two_words(numbers):
    encoded = [varint(number) for number in numbers]
    high = words(*(one[8:] for one in encoded))
    values = decode_long(words(*encoded), high, sizes(*encoded).astype(np.int64))
    assert values.view(np.uint64).tolist() == numbers


@pytest.mark.parametrize(
    "octets",
    [
        b"\x80" * 8 + b"\x80",
        b"\x80" * 10,
        b"\x80" * 8 + b"\x01\x01",
        b"\x80" * 7 + b"\x01\x01",
        b"\x80" * 8,
        b"\1",
    ],
)
def test_what_is_not_one_varint_in_two_words(octets):
    assert decode_long(words(octets), words(octets[8:]), np.array([len(octets)])) is None


@given(st.lists(st.sampled_from([varint(value) for value in EDGES]), min_size=1, max_size=20))
def test_sizes_at_the_beginning_of_words(encoded):
    values, width, valid = decode_lengths(words(*encoded))
    widths = np.broadcast_to(width, values.shape).tolist()
    for one, value, found, ok in zip(encoded, values.tolist(), widths, valid.tolist(), strict=True):
        assert ok == (len(one) <= 4)
        if ok:
            assert (varint(value), found) == (one, len(one))


def test_sizes_of_one_and_of_two_bytes_together():
    sizes = [0, 1, 127, 128, 129, 255, 256, 16383]
    values, width, valid = decode_lengths(words(*map(varint, sizes)))
    assert values.tolist() == sizes
    assert np.broadcast_to(width, 8).tolist() == [1, 1, 1, 2, 2, 2, 2, 2]
    assert valid.all()


def test_size_may_be_longer_than_it_needs_to_be():
    for octets in (b"\x85\x00", b"\x85\x80\x00", b"\x85\x80\x80\x00"):
        values, width, valid = decode_lengths(words(octets))
        assert (values.tolist(), width, valid.all()) == ([5], len(octets), True)


@given(st.lists(st.one_of(int64s, st.integers(0, 300)), min_size=1, max_size=200))
def test_packed_varints(numbers):
    encoded = [varint(number) for number in numbers]
    octets = np.frombuffer(b"".join(encoded) + bytes(10), np.uint8)
    begins = np.cumsum([0, *map(len, encoded)])[:-1]
    out = np.empty(len(numbers), np.uint64)
    assert decode_packed(octets, begins, out)
    assert out.view(np.int64).tolist() == numbers


@pytest.mark.parametrize(
    "octets", [b"\x80" * 9 + b"\x01", b"\xff" * 9 + b"\x7f", b"\x80\x00", b"\x81\x80\x80\x80\x00"]
)
def test_packed_varint_of_any_form_is_taken_modulo_two_to_the_64(octets):
    out = np.empty(1, np.uint64)
    assert decode_packed(np.frombuffer(octets + bytes(10), np.uint8), np.array([0]), out)
    assert out.tolist() == [sum((octet & 0x7F) << 7 * k for k, octet in enumerate(octets)) & MASK]


def test_packed_varint_that_is_too_long():
    octets = np.frombuffer(b"\x01" + b"\x80" * 10 + b"\x01" + bytes(10), np.uint8)
    assert not decode_packed(octets, np.array([0, 1]), np.empty(2, np.uint64))
