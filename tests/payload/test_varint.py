"""purerecord.payload.varint: one and many, against a definition of three lines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.errors import DecodeError
from purerecord.payload.varint import (
    decode_varints,
    read_varint,
    varint,
    varint_edges,
    varint_sizes,
    varint_words,
    varints,
)
from tests.support.strategies import int64s

KNOWN = [
    (0, "00"),
    (1, "01"),
    (127, "7f"),
    (128, "8001"),
    (300, "ac02"),
    (2**32, "8080808010"),
    (2**63 - 1, "ffffffffffffffff7f"),
    (-1, "ffffffffffffffffff01"),
    (-(2**63), "80808080808080808001"),
]


@pytest.mark.parametrize(("value", "octets"), KNOWN)
def test_known_values_have_known_bytes_both_ways(value: int, octets: str) -> None:
    assert varint(value).hex() == octets
    assert decode_varints(bytes.fromhex(octets), 0, None).tolist() == [value]
    data = b"?" + bytes.fromhex(octets) + b"?"
    assert read_varint(data, 1, len(data)) == (value % 2**64, len(data) - 1)


@given(st.lists(int64s, max_size=100))
def test_many_are_one_behind_the_other_and_come_back(values: list[int]) -> None:
    packed = varints(np.array(values, np.int64))
    assert packed == b"".join(map(varint, values))
    decoded = decode_varints(packed, 0, None)
    assert decoded.dtype == np.int64
    assert decoded.tolist() == values


@pytest.mark.parametrize("bits", range(1, 65))
def test_many_of_every_size_are_those_one_by_one(bits: int) -> None:
    values = np.array([0, 1, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1] * 20, np.uint64).view(
        np.int64
    )
    for some in (values, values[2::5].copy(), values[3::5].copy()):
        assert varints(np.repeat(some, 5)) == b"".join(varint(value) * 5 for value in some.tolist())


@given(st.lists(st.integers(0, 2**56 - 1) | st.integers(0, 2**15), min_size=1, max_size=20))
def test_words_hold_one_varint_each_and_zeros_behind_it(values: list[int]) -> None:
    array = np.array(values, np.int64)
    sizes = varint_sizes(array)
    assert sizes.tolist() == [len(varint(value)) for value in values]
    assert varint_edges(array) == (sizes.min(), sizes.max())
    words = varint_words(array, sizes, int(sizes.max()))
    expected = [varint(value).ljust(words.itemsize, b"\0") for value in values]
    assert words.tobytes() == b"".join(expected)


# Alone the plain loop decodes them, after a hundred others the numpy passes.
BEFORE = [b"", b"\x81\x01" * 100]


@pytest.mark.parametrize("before", BEFORE, ids=["few", "many"])
@pytest.mark.parametrize(
    ("octets", "value"),
    [
        ("8100", 1),
        ("81808080808080808000", 1),
        ("ffffffffffffffffff7f", -1),
        ("80808080808080808002", 0),
        ("80808080808080808003", -(2**63)),
    ],
)
def test_longer_than_needed_is_legal_and_bits_beyond_64_are_dropped(
    before: bytes, octets: str, value: int
) -> None:
    assert decode_varints(before + bytes.fromhex(octets), 0, None)[-1] == value


@pytest.mark.parametrize("before", BEFORE, ids=["few", "many"])
@pytest.mark.parametrize("octets", ["80", "ffff", "8080808080808080808000", "80" * 99 + "01"])
def test_cut_or_too_long_is_a_decode_error_that_says_where(before: bytes, octets: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_varints(before + bytes.fromhex(octets), 7, "f")
    assert (caught.value.position, caught.value.feature) == (7, "f")


@pytest.mark.parametrize("octets", ["", "80", "ffff", "8080808080808080808000"])
def test_one_that_is_cut_or_too_long_is_a_decode_error_that_says_where(octets: str) -> None:
    data = b"?" + bytes.fromhex(octets)
    with pytest.raises(DecodeError) as caught:
        read_varint(data, 1, len(data), "f")
    assert (caught.value.position, caught.value.feature) == (1, "f")


def test_nothing_is_nothing() -> None:
    assert varints(np.empty(0, np.int64)) == b""
    assert decode_varints(b"", 0, None).tolist() == []
