"""Outlines: the entries of one record, or nothing if its form is unusual."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given

from purerecord.payload.columns.header_templates import FIRST_KEY_BYTES
from purerecord.payload.columns.outline import (
    Entry,
    common,
    first_key,
    has_keys,
    outline,
    prefix_of,
)
from purerecord.payload.columns.tuning import Tuning
from purerecord.payload.wire import FLOAT, INT64, UNSET, decode_features, delimited
from tests.support import handmade_messages as messages
from tests.support.column_batches import batch, strange_entries
from tests.support.strategies import example_payloads

DEFAULT = Tuning()


def kinds(payload: bytes) -> list[tuple[bytes, int]] | None:
    entries = outline(payload)
    return None if entries is None else [(entry.key, entry.kind) for entry in entries]


@pytest.mark.parametrize("seed", range(50))
def test_outline_is_what_the_row_decoder_finds(seed):
    (payload,) = batch(Random(seed), 1)
    assert kinds(payload) == [(name.encode(), kind) for name, (kind, _) in decode_features(payload).items()]


def test_entries_are_short_if_each_length_is_one_byte():
    for size in (0, 1, 50, 110, 118, 119, 127, 128, 300):
        payload = messages.example([("a", messages.strings(bytes(size)))])
        assert [entry.short for entry in outline(payload)] == [size + 9 < 128]
    assert not outline(messages.example([("a", messages.strings(b"x", b"y"))]))[0].short
    assert not outline(messages.example([("a", messages.ints())]))[0].short
    assert outline(messages.example([("a", b"")])) == (Entry(b"a", UNSET, False, False),)


@pytest.mark.parametrize("key", ["", "a", "é", "k" * DEFAULT.longest_key])
@pytest.mark.parametrize("values", [0, 1, 100, 10_000])
def test_first_key_is_found_in_the_head_of_a_record(key, values):
    payload = messages.example([(key, messages.floats(*[0.5] * values)), ("b", messages.ints(1))])
    assert first_key(payload[:FIRST_KEY_BYTES]) == key.encode()


@pytest.mark.parametrize("payload", [b"", b"\x0a", b"\x0a\x00", b"\x0a\x80", b"\xff" * 200])
def test_record_without_entries_or_of_another_form_has_no_first_key(payload):
    assert first_key(payload) is None


def test_keys_of_a_record_are_known_by_their_order():
    names = ["", "a", "é", "k" * DEFAULT.longest_key]
    payload = messages.example([(name, messages.floats(*range(50))) for name in names])
    prefixes = [prefix_of(entry) for entry in outline(payload)]
    assert has_keys(payload, prefixes)
    assert not has_keys(payload, prefixes[::-1])
    assert not has_keys(payload, prefixes[:-1])
    assert not has_keys(payload, [*prefixes, prefixes[0]])
    assert not any(has_keys(payload[:length], prefixes) for length in range(len(payload)))


def test_entries_that_serve_for_two_records_are_short_only_if_they_are_in_both():
    one, other = (
        outline(messages.example([("f", messages.floats(*[1] * number)), ("i", feature)]))
        for number, feature in ((1, b""), (100, messages.ints(1)))
    )
    assert common(one, other) == (Entry(b"f", FLOAT, False, False), Entry(b"i", INT64, False, False))
    assert common(one, one) == one
    assert common(one, one[::-1]) == common(one, one[:1]) == ()


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"junk",
        b"\x0a\x05",
        messages.example([("a", messages.ints(1))]) + b"\x10\x05",
        messages.example([("a", messages.ints(1))])[:-1],
        messages.example([("a", messages.ints(1)), ("a", messages.ints(2))]),
        messages.example([("x" * (DEFAULT.longest_key + 1), messages.ints(1))]),
        messages.example([(str(i), b"") for i in range(DEFAULT.most_entries + 1)]),
        delimited(1, delimited(1, delimited(1, b"\xff") + delimited(2, b""))),
        delimited(1, delimited(1, delimited(2, b"") + delimited(1, b"a"))),
        delimited(1, delimited(1, delimited(1, b"a") + delimited(2, b"\x22\x00"))),
        delimited(1, b"\x10\x05"),
    ],
)
def test_record_of_an_unusual_form_has_no_outline(payload):
    assert outline(payload) is None


@given(example_payloads)
def test_outline_of_any_bytes_is_entries_or_nothing(payload):
    entries = outline(payload)
    assert entries is None or all(entry.key.decode() is not None for entry in entries)


def test_outline_of_strange_entries_raises_nothing():
    for seed in range(200):
        outline(strange_entries(Random(seed)))
