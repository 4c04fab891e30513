"""Long entries: those of the usual form are told by their size, all others byte by byte, with one result."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from purerecord.payload.columns.located import RecordBlock, read_values
from purerecord.payload.columns.long_entries import _read_field_by_field, _read_usual, read_long
from purerecord.payload.columns.outline import Entry
from purerecord.payload.varint import varint
from purerecord.payload.wire import BYTES, FLOAT, INT64, UNSET
from tests.support import handmade_messages as messages
from tests.support.column_batches import block

# Bytes of values, around every size at which a length takes a byte more.
EDGES = [
    size + more
    for size in (0, 1 << 7, 1 << 14, 1 << 21)
    for more in (-24, -20, -16, -12, -9, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 4, 8)
    if size + more >= 0
]


def entries_of(features: list[bytes], key: str = "key") -> RecordBlock:
    return block([messages.entry(key, feature) for feature in features])


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 4000, 5000])
def test_long_entries_of_any_size(size):
    some = entries_of([messages.floats(*[0.5] * size), messages.floats(1), messages.floats()] * 3)
    found, stop, valid = read_long(some.octets, some.begins, some.ends, Entry(b"key", FLOAT, False, False))
    assert valid.all()
    assert stop.tolist() == some.ends.tolist()
    assert read_values(found, some)[1].tolist() == [size, 1, 0] * 3


def test_long_entry_of_another_key_or_kind_or_form_is_not_valid():
    good = messages.ints(*range(200))
    features = [good, messages.floats(1), good + b"\x10\x05", good[:-1], b"", messages.ints(1, packed=False)]
    some = entries_of(features)
    entry = Entry(b"key", INT64, False, False)
    found, _, valid = read_long(some.octets, some.begins, some.ends, entry)
    assert valid.tolist() == [True, False, False, False, True, False]
    assert found.kinds.tolist()[4] == UNSET
    _, _, valid = read_long(some.octets, some.begins, some.ends, entry._replace(key=b"kex"))
    assert not valid.any()
    _, _, valid = read_long(some.octets, some.ends + 5, some.ends, entry)
    assert not valid.any()


@pytest.mark.parametrize(
    ("feature", "count"),
    [
        (messages.floats(*[0.5] * 1024), 1024),
        (messages.ints(*range(200)), 200),
        (messages.strings(bytes(300)), 1),
        (messages.floats(1), 1),
    ],
)
def test_long_entries_of_one_size_are_all_found_and_one_that_differs_is_not_taken_for_one_of_them(
    feature, count
):
    kind = feature[0] >> 3
    entry = Entry(b"key", kind, False, False)
    some = entries_of([feature] * 50)
    found, stop, valid = read_long(some.octets, some.begins, some.ends, entry)
    assert valid.all()
    assert stop.tolist() == some.ends.tolist()
    assert len(read_values(found, some)[0]) == 50 * count
    whole = messages.entry("key", feature)
    for position in range(min(len(whole) - 4 * count, 16)):
        odd = bytearray(whole)
        odd[position] ^= 1
        mixed = block([whole] * 40 + [bytes(odd)] + [whole] * 9)
        found, _, valid = read_long(mixed.octets, mixed.begins, mixed.ends, entry)
        assert np.delete(valid, 40).all()
        assert found.listed if valid[40] else not found.listed  # a list is looked at when it is taken
    _, _, valid = read_long(some.octets, some.begins, some.ends - 1, entry)
    assert not valid.any()


def test_long_entry_of_no_kind_takes_the_kind_that_others_have():
    some = entries_of([b"", messages.strings(b"x"), b"", messages.ints(1)])
    found, _, valid = read_long(some.octets, some.begins, some.ends, Entry(b"key", UNSET, False, False))
    assert (found.kind, valid.tolist()) == (BYTES, [True, True, True, False])


def feature_of(kind: int, size: int) -> bytes:
    """A Feature with so many bytes of values, none of which ends outside of a value."""
    values = bytes(size)
    content = b"\x0a" + varint(size) + values
    return bytes((kind << 3 | 2,)) + varint(len(content)) + content


@pytest.mark.light(5)
@pytest.mark.parametrize("kind", [BYTES, FLOAT, INT64])
@pytest.mark.parametrize(
    "key", ["", "k", "of eight", "a key of some length, of which there are more words " * 2]
)
def test_every_size_around_an_edge_is_told_by_its_size_alone(kind, key):
    entry = Entry(key.encode(), kind, False, False)
    whole = [size for size in EDGES if kind != FLOAT or size % 4 == 0]
    for around in (b"", b"\n" * 40):
        for size in whole:
            some = block([messages.entry(key, feature_of(kind, size))] * 3, around)
            found, stop, valid = _read_usual(some.octets, some.begins, some.ends, entry)
            if size < (1 << 21) - 150 and not (1 << 14) - 150 < size < 1 << 14:
                assert valid.all(), (
                    size
                )  # others are read field by field: larger, or with lengths of two and of three bytes
            found, stop, valid = read_long(some.octets, some.begins, some.ends, entry)
            assert valid.all()
            assert stop.tolist() == some.ends.tolist()
            assert found.sizes.tolist() == [size] * 3
            assert found.begins.tolist() == (some.ends - size).tolist()


@pytest.mark.parametrize("kind", [BYTES, FLOAT, INT64])
@pytest.mark.parametrize("size", [0, 4, 100, 124, 128, 300, 16_000, 16_384, 20_000, 70_000])
def test_what_differs_in_one_byte_of_its_header_is_what_it_is_byte_by_byte(kind, size):
    whole = messages.entry("key", feature_of(kind, size))
    entry = Entry(b"key", kind, False, False)
    odd = []
    for position in range(len(whole) - size):
        for change in (1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0xFF):
            changed = bytearray(whole)
            changed[position] ^= change
            odd.append(bytes(changed) + bytes(300))  # so that a greater length may find its bytes
    some = block([whole] * 2 + odd)
    _, stop, valid = _read_usual(some.octets, some.begins, some.ends, entry)
    _, true_stop, true_valid = _read_field_by_field(some.octets, some.begins, some.ends, entry)
    assert valid[:2].all()
    assert not bool((valid & ~true_valid).any())
    assert stop[valid].tolist() == true_stop[valid].tolist()


def test_longer_lengths_than_needed_and_other_forms_are_left_to_others():
    feature = messages.ints(*range(200))
    long_length = b"\x0a\x83\x00" + b"key" + b"\x12" + varint(len(feature)) + feature  # of the key
    long_inner = b"\x0a\x03key\x12" + varint(len(feature)) + feature
    odd = b"\x0a" + bytes((len(long_inner) & 0x7F | 0x80, len(long_inner) >> 7 | 0x80, 0)) + long_inner
    some = block([b"\x0a" + varint(len(long_length)) + long_length, odd, messages.entry("key", feature)])
    entry = Entry(b"key", INT64, False, False)
    _, _, valid = _read_usual(some.octets, some.begins, some.ends, entry)
    assert valid.tolist() == [False, False, True]
    found, stop, valid = read_long(some.octets, some.begins, some.ends, entry)
    assert valid.tolist()[1:] == [True, True]
    assert stop.tolist()[1:] == some.ends.tolist()[1:]
    assert found.sizes.tolist()[1] == found.sizes.tolist()[2]


@pytest.mark.parametrize("seed", range(20))
def test_a_few_of_another_form_among_many_are_found_too(seed):
    random = Random(seed)
    sizes = [random.choice(EDGES[:40]) for _ in range(40)]
    entries = [messages.entry("key", feature_of(INT64, size)) for size in sizes]
    empty = random.sample(range(40), 5)
    for place in empty:
        entries[place] = messages.entry("key", b"\x1a\x00")  # a list without a field
    some = block(entries)
    found, stop, valid = read_long(some.octets, some.begins, some.ends, Entry(b"key", INT64, False, False))
    assert valid.all()
    assert stop.tolist() == some.ends.tolist()
    assert found.sizes.tolist() == [0 if place in empty else size for place, size in enumerate(sizes)]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("odd", ["unset", "several"])
def test_what_is_odd_in_a_few_records_is_found_beside_the_usual(seed, odd):
    random = Random(seed)
    strings = [[random.randbytes(random.choice([0, 1, 127, 128, 16_384, 30_000]))] for _ in range(30)]
    features = [messages.strings(*one) for one in strings]
    for place in random.sample(range(30), 4):
        if odd == "unset":
            strings[place], features[place] = [], b""
        else:
            strings[place] *= random.choice([2, 3])
            features[place] = messages.strings(*strings[place])
    some = entries_of(features)
    found, stop, valid = read_long(some.octets, some.begins, some.ends, Entry(b"key", BYTES, False, False))
    assert valid.all()
    assert stop.tolist() == some.ends.tolist()
    values, counts = read_values(found, some)
    assert values.tolist() == [value for one in strings for value in one]
    assert counts == 1 if isinstance(counts, int) else counts.tolist() == list(map(len, strings))


@pytest.mark.parametrize("size", [200, 20_000])
def test_floats_that_are_not_whole_are_not_accepted(size):
    good, bad = feature_of(FLOAT, size), feature_of(FLOAT, size + 2)
    some = entries_of([good] * 9 + [bad])
    _, _, valid = read_long(some.octets, some.begins, some.ends, Entry(b"key", FLOAT, False, False))
    assert valid.tolist() == [True] * 9 + [False]


def test_a_length_that_is_cut_short_is_not_taken_for_one_of_a_single_byte():
    inner = b"\x80\x0a\x7e\x0a\x7c" + bytes(0x7C)
    odd = b"\x0a\x03key\x12" + inner
    some = block([messages.entry("key", feature_of(BYTES, 124))] * 9 + [b"\x0a" + varint(len(odd)) + odd])
    _, _, valid = read_long(some.octets, some.begins, some.ends, Entry(b"key", BYTES, False, False))
    assert valid.tolist() == [True] * 9 + [False]
