"""Lock-step: which records match a layout, and what is found in them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from purerecord.payload.columns.any_order import Search
from purerecord.payload.columns.header_templates import layout_of
from purerecord.payload.columns.located import Located, RecordBlock, read_values
from purerecord.payload.columns.outline import Entry, outline
from purerecord.payload.columns.same_layout import follow, open_records
from purerecord.payload.columns.short_entries import Everything
from purerecord.payload.columns.tuning import tuned
from purerecord.payload.varint import varint
from purerecord.payload.wire import BYTES, FLOAT, INT64, delimited
from tests.support import handmade_messages as messages
from tests.support.column_batches import batch, block
from tests.support.strategies import mutate


def search(some: RecordBlock, known: dict[bytes, Entry]) -> tuple[dict[bytes, Located], np.ndarray]:
    """What a search that learns nothing finds, and in which records."""
    whole = Search(some, len(known))
    matched = whole.match(tuple(known.values()))
    return whole.read(matched, Everything()), matched.alive


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
    entries = outline(payloads[0])
    for ways in (
        lambda some: follow(layout_of(entries), some, Everything()),
        lambda some: search(some, {entry.key: entry for entry in entries}),
    ):
        clean, dirty = ways(block(payloads)), ways(block(damaged))
        if clean is None or dirty is None:
            continue  # lists that are empty, and so not short, in half of the records
        assert dirty[1][np.arange(20) != 11].tolist() == clean[1][np.arange(20) != 11].tolist()


# --- Any order --------------------------------------------------------------------------------------


def test_features_in_any_order_are_found():
    random = Random(3)
    payloads, numbers = [], []
    for i in range(200):
        entries = [("a", messages.ints(i)), ("bb", messages.floats(i)), ("ccc", messages.strings(bytes(i)))]
        number = random.randrange(4)
        numbers.append(number)
        payloads.append(messages.example(random.sample(entries[:number], number)))
    some = block(payloads)
    known = [
        Entry(b"a", INT64, True, False),
        Entry(b"bb", FLOAT, True, True),
        Entry(b"ccc", BYTES, True, False),
    ]
    found, alive = search(some, {entry.key: entry for entry in known})
    assert alive.all()
    for key, least in ((b"a", 1), (b"bb", 2), (b"ccc", 3)):
        assert (found[key].kinds > 0).tolist() == [number >= least for number in numbers]
    assert read_values(found[b"ccc"], some)[0].tolist() == [bytes(i) for i in range(200) if numbers[i] == 3]


def test_record_with_an_unknown_or_a_repeated_feature_is_left_alone():
    a, b = ("a", messages.ints(1)), ("b", messages.ints(2))
    payloads = [messages.example(entries) for entries in ([a], [b], [a, b], [a, a], [b, a], [])]
    _, alive = search(block(payloads * 3), {b"a": Entry(b"a", INT64, True, False)})
    assert alive.tolist() == [True, False, False, False, False, True] * 3


@pytest.mark.parametrize("tile", [1, 1000, 1 << 20])
@pytest.mark.parametrize("odd", ["nothing", "twice", "unknown", "long", "fewer", "cut"])
def test_records_with_as_many_short_entries_each_are_searched_a_few_at_a_time(tile, odd):
    random = Random(5)
    usual = [("a", messages.ints(1)), ("bb", messages.ints(300)), ("ccc", messages.floats(2.5))]
    payloads = [messages.example(random.sample(usual, 3)) for _ in range(50)]
    others = {
        "nothing": usual,
        "twice": [usual[0], usual[1], usual[0]],
        "unknown": [*usual[:2], ("d", messages.ints(1))],
        "long": [*usual[:2], ("ccc", messages.strings(bytes(200)))],
        "fewer": usual[:2],
        "cut": usual,
    }
    payloads[37] = messages.example(others[odd])
    if odd == "cut":  # inside of its last entry, though no length of a message says so
        payloads[37] = payloads[37][:1] + bytes((payloads[37][1] - 1,)) + payloads[37][2:-1]
    some = block(payloads)
    kinds = {b"a": INT64, b"bb": INT64, b"ccc": FLOAT}
    known = {key: Entry(key, kind, True, False) for key, kind in kinds.items()}
    with tuned(bytes_per_tile=tile):
        found, alive = search(some, known)
    assert alive.tolist() == [i != 37 or odd in ("nothing", "fewer") for i in range(50)]
    there = alive if odd != "fewer" else np.arange(50) != 37
    rows = np.flatnonzero(there)
    assert read_values(found[b"bb"].pick(rows), some.pick(rows))[0].tolist() == [300] * rows.size
    assert read_values(found[b"ccc"].pick(rows), some.pick(rows))[0].tolist() == [2.5] * rows.size


def test_without_records_nothing_is_found():
    found, alive = search(block([]), {b"a": Entry(b"a", INT64, True, False)})
    assert alive.size == 0
    assert all(read_values(one, block([]))[0].size == 0 for one in found.values())


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
