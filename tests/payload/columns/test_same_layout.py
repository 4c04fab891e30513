"""Same layout: which records have a layout, and what is read from them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from purerecord.payload.columns.header_templates import layout_of
from purerecord.payload.columns.located import read_values
from purerecord.payload.columns.outline import outline
from purerecord.payload.columns.same_layout import follow, open_records
from purerecord.payload.columns.short_entries import Everything
from purerecord.payload.varint import varint
from purerecord.payload.wire import BYTES, FLOAT, INT64, delimited
from tests.support import handmade_messages as messages
from tests.support.column_batches import batch, block
from tests.support.strategies import mutate


def usual(size: int, *, values: int = 1) -> list[bytes]:
    return [
        messages.example(
            [
                ("id", messages.ints(*[i << 20] * values)),
                ("x", messages.floats(i)),
                ("s", messages.strings(b"s%d" % i)),
            ]
        )
        for i in range(size)
    ]


def test_records_that_are_one_message():
    payloads = [b"\x0a\x00", b"", b"\x0a\x01\x00", b"\x0a\x02\x00", b"\x12\x00", b"\x0a\x00\x0a\x00"]
    payloads += [delimited(1, bytes(size)) for size in (1, 127, 128, 16384, 70000)] + [b"\x0a\x81\x00\x05"]
    cursor, valid = open_records(block(payloads))
    assert valid.tolist() == [True, False, True, False, False, False, *[True] * 6]
    assert cursor.tolist()[0] == 2


@pytest.mark.parametrize("around", [b"", b"\n" * 40])
def test_records_of_one_layout_are_all_found(around):
    payloads = usual(30)
    records = block(payloads, around)
    found, alive = follow(layout_of(outline(payloads[7])), records, Everything())
    assert alive.all()
    assert [found[key].kind for key in (b"id", b"x", b"s")] == [INT64, FLOAT, BYTES]
    assert found[b"id"].values.tolist() == [i << 20 for i in range(30)]
    assert found[b"x"].values.tolist() == list(range(30))
    assert read_values(found[b"s"], records)[0].tolist() == [b"s%d" % i for i in range(30)]


def test_layout_of_few_records_is_not_followed():
    payloads = [*usual(10), *(messages.example([("other", messages.ints(1))]) for _ in range(11))]
    assert follow(layout_of(outline(payloads[0])), block(payloads), Everything()) is None


def test_only_what_is_wanted_is_found_and_what_has_to_be_checked():
    payloads = usual(10, values=9)
    found, alive = follow(layout_of(outline(payloads[0])), block(payloads), {b"x"})
    assert alive.all()
    assert set(found) == {b"id", b"x"}
    found, _ = follow(layout_of(outline(usual(1)[0])), block(usual(10)), {b"s"})
    assert set(found) == {b"s"}


@pytest.mark.parametrize("number", [100, 300])
def test_wide_records_are_found_too(number):
    random = Random(number)
    payloads = [
        messages.example(
            [
                (
                    f"feature_{i:03}",
                    messages.floats(i) if i % 3 else messages.ints(random.getrandbits(i % 60)),
                )
                for i in range(number)
            ]
        )
        for _ in range(20)
    ]
    found, alive = follow(layout_of(outline(payloads[0])), block(payloads), Everything())
    assert alive.all()
    assert found[b"feature_098"].values.tolist() == [98.0] * 20


@pytest.mark.parametrize("seed", range(40))
def test_damaged_record_among_others_does_not_change_them(seed):
    random = Random(seed)
    payloads = batch(random, 20, usual=True)
    damaged = list(payloads)
    damaged[11] = mutate(payloads[11], random)
    layout = layout_of(outline(payloads[0]))
    clean, dirty = (follow(layout, block(some), Everything()) for some in (payloads, damaged))
    if clean is None or dirty is None:
        return  # lists that are empty, and so not short, in half of the records
    assert dirty[1][np.arange(20) != 11].tolist() == clean[1][np.arange(20) != 11].tolist()


LENGTHS = [0, 1, 126, 127, 128, 129, 300, 16_382, 16_383, 16_384, 20_000]


def opened(payloads: list[bytes]) -> tuple[list[int], list[bool]]:
    """Where in each payload the features begin, and which payloads are one Features message."""
    found = block(payloads)
    begins, valid = open_records(found)
    return (begins - found.begins).tolist(), valid.tolist()


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("length", LENGTHS)
def test_features_begin_behind_their_length(length, count):
    head = b"\x0a" + varint(length)
    good = head + bytes(length)
    assert opened([good] * count) == ([len(head)] * count, [True] * count)
    wrong = [b"\x0a" + varint(other) + bytes(length) for other in (length + 1, length + 128)]
    for bad in (b"\x12" + good[1:], good + b"\0", good[:-1], *wrong):
        assert opened([bad] * count)[1] == [False] * count
        assert opened([good] * count + [bad])[1] == [True] * count + [False]
    longer = b"\x0a" + bytes([varint(length)[0] | 0x80, *varint(length)[1:]])  # more bytes than it needs
    if length < 128:
        padded = longer + b"\0" + bytes(length)
        assert opened([padded, good]) == ([3, 2], [True, True])


def test_every_byte_of_a_length_counts():
    good = b"\x0a" + varint(20_000) + bytes(20_000)
    for place in range(4):
        bad = bytearray(good)
        bad[place] ^= 1
        assert opened([good] * 9 + [bytes(bad)])[1] == [True] * 9 + [False]


def test_features_of_lengths_that_take_different_numbers_of_bytes():
    payloads = [b"\x0a" + varint(length) + bytes(length) for length in LENGTHS]
    widths = [1 + len(varint(length)) for length in LENGTHS]
    for some in (slice(None), slice(4), slice(4, 9), slice(3, 5), slice(8, 10)):
        assert opened(payloads[some]) == (widths[some], [True] * len(widths[some]))
