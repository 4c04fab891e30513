"""Every known key is found, by few bytes or by many, whatever else is in the buffer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.payload.columns import key_table
from purerecord.payload.columns.key_table import KeyTable
from purerecord.payload.columns.tuning import Tuning
from tests.support import handmade_messages as messages


def found(keys: list[str], value: bytes) -> list[int]:
    """The numbers at which keys are found, from entries that hold ``value``."""
    entries = [messages.entry(key, value) for key in keys]
    ends = np.cumsum([len(entry) for entry in entries])
    starts = ends - [len(entry) for entry in entries]
    table = KeyTable(tuple(key.encode() for key in keys), Tuning())
    return table.find(np.frombuffer(b"".join(entries), np.uint8), starts).tolist()


@pytest.mark.parametrize("number", [1, 2, 40, 400, 1024])
@pytest.mark.parametrize("form", ["%d", "feature_%d", "f%d_and_a_long_rest", "the same for a long time %d"])
def test_table_finds_every_key(number, form):
    assert found([form % i for i in range(number)], messages.ints(5)) == list(range(number))


@pytest.mark.parametrize(
    "keys",
    [
        ["a", "b"],
        ["a", "ab", "abc", "b"],
        ["", "a"],
        ["x", "image/height", "image/width", "image/encoded"],  # different only after the end of the shortest
        ["\x12", "\x12\x12", "\x12\x12\x12"],
    ],
)
@pytest.mark.parametrize("value", [messages.ints(), messages.ints(1), messages.strings(b"abc"), b""])
def test_what_follows_a_key_makes_no_difference(keys, value):
    assert found(keys, value) == list(range(len(keys)))


@given(st.lists(st.text(max_size=25), min_size=1, max_size=40, unique=True), st.integers(-(2**63), 2**63 - 1))
def test_table_finds_any_keys(keys, value):
    assert found(keys, messages.ints(value)) == list(range(len(keys)))


def test_other_keys_are_found_somewhere_or_not_at_all():
    table = KeyTable((b"a", b"b"), Tuning())
    octets = np.frombuffer(bytes(range(256)) * 3, np.uint8)
    numbers = table.find(octets, np.arange(octets.size + 5))
    assert set(numbers.tolist()) <= {0, 1, 2}


def test_keys_whose_differences_cancel_out_are_told_apart_all_the_same():
    # Upper and lower case are swapped at the ends of two words; the short key forces a look at whole words.
    keys = ["x", "aaaa" + "b" * 15 + "A", "aaaA" + "b" * 15 + "a", "aaaa" + "b" * 14 + "zz"]
    assert found(keys, messages.ints(5)) == list(range(4))


def test_keys_that_no_factors_tell_apart_are_not_found(monkeypatch):
    monkeypatch.setattr(key_table.Random, "getrandbits", lambda self, bits: 0)
    assert found(["a", "b"], messages.ints(5)) == [2, 2]


def test_buffer_may_be_shorter_than_where_keys_differ():
    table = KeyTable((b"a" * 30, b"a" * 29 + b"b"), Tuning())
    assert set(table.find(np.zeros(3, np.uint8), np.arange(3)).tolist()) <= {0, 1, 2}
