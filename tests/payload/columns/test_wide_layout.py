"""Wide layouts: many short entries are found and checked just as they are one by one."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import purerecord.payload.columns.same_layout
from purerecord.payload.columns.header_templates import layout_of
from purerecord.payload.columns.located import Inline, RecordBlock
from purerecord.payload.columns.outline import outline
from purerecord.payload.columns.same_layout import follow
from purerecord.payload.columns.short_entries import Everything
from purerecord.payload.columns.tuning import tuned
from purerecord.payload.columns.wide_layout import read_wide
from purerecord.payload.wire import BYTES, FLOAT, INT64, delimited
from purerecord.records import Records
from tests.support import handmade_messages as messages
from tests.support.column_batches import (
    batch,
    gathered,
    integer,
    rows_to_columns,
    scalar_float,
    scalar_int,
    short_string,
    spoil,
)
from tests.support.settings import sampled, tries
from tests.support.strategies import mutate

NAMES = {
    "of one length": [f"feature_{i:03}" for i in range(120)],
    "of many lengths": ["k" * (i % 23) + str(i) for i in range(120)],
}
SOME = ["feature_010", "feature_071", "feature_119", "kk25", "k" * 4 + "119"]


def small_int(random: Random) -> bytes:
    return messages.ints(random.getrandbits(40))


def two_ints(random: Random) -> bytes:
    return messages.ints(random.randrange(300), integer(random))


MAKES = [scalar_int, scalar_int, scalar_float, scalar_float, short_string, two_ints]


def same(payloads, wanted=None):
    assert gathered(payloads, wanted) == rows_to_columns(payloads, wanted)


def wide(random: Random, size: int, names: list[str], makes=MAKES) -> list[bytes]:
    schema = [(name, random.choice(makes)) for name in names]
    return [messages.example([(name, make(random)) for name, make in schema]) for _ in range(size)]


@pytest.fixture
def wide_runs(monkeypatch):
    """The numbers of segments that were read as a wide run."""
    calls = []

    def counted(octets, cursor, run, low, wanted):
        calls.append(len(run) - low)
        return read_wide(octets, cursor, run, low, wanted)

    monkeypatch.setattr(purerecord.payload.columns.same_layout, "read_wide", counted)
    return calls


@pytest.fixture
def all_wide(wide_runs):
    """Reads every run as a wide one."""
    with tuned(least_segments_of_wide_run=1, least_entries_of_wide_layout=1):
        yield wide_runs


# --- Wide records ---------------------------------------------------------------------------------


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("seed", range(tries(4)))
def test_wide_records_are_decoded_as_their_rows_are(names, seed, wide_runs):
    random = Random(seed)
    payloads = wide(random, random.choice([4, 30, 300]), names)
    same(payloads)
    same(payloads, dict.fromkeys(random.sample(names, 3)))
    assert wide_runs


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("seed", range(tries(10)))
def test_damage_in_a_wide_record_is_seen_wherever_it_is(names, seed, wide_runs):
    random = Random(seed)
    payloads = wide(random, 12, names)
    for wanted in (None, dict.fromkeys(SOME)):
        at = random.randrange(12)
        same([*payloads[:at], mutate(payloads[at], random), *payloads[at + 1 :]], wanted)
        flipped = bytearray(payloads[at])
        flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
        same([*payloads[:at], bytes(flipped), *payloads[at + 1 :]], wanted)
    assert wide_runs


def test_every_byte_of_a_header_is_compared(wide_runs):
    random = Random(5)
    payloads = wide(random, 8, NAMES["of one length"], [small_int, scalar_float, short_string])
    layout = layout_of(outline(payloads[0]))
    some = {b"feature_001"}
    _, clean = follow(layout, block(payloads), some, sure=True)
    assert clean.all()
    missed = []
    for position in sampled(range(len(payloads[4])), 600):
        changed = bytearray(payloads[4])
        changed[position] ^= 0x80
        payload = bytes(changed)
        if rows_to_columns([payload])[0] == "columns":
            continue  # a value, or another valid form
        found = follow(layout, block([*payloads[:4], payload, *payloads[5:]]), some, sure=True)
        if found is None or found[1].tolist() != [True] * 4 + [False] + [True] * 3:
            missed.append(position)
    assert not missed
    assert wide_runs


def block(payloads: list[bytes], around: bytes = b"") -> RecordBlock:
    records = Records.of([around, *payloads, around])
    octets = np.frombuffer(records.buffer, np.uint8)
    return RecordBlock(records.buffer, octets, records.begins[1:-1], records.ends[1:-1])


@pytest.mark.parametrize("sure", [False, True])
@pytest.mark.parametrize("around", [b"", bytes(5), b"\n" * 300], ids=["nothing", "little", "much"])
def test_nothing_around_the_records_is_needed(around, sure, wide_runs):
    payloads = wide(Random(1), 6, NAMES["of one length"], [scalar_int, scalar_float])
    found, alive = follow(layout_of(outline(payloads[0])), block(payloads, around), Everything(), sure=sure)
    assert alive.all()
    rows = rows_to_columns(payloads)[1]
    assert len(found) == len(rows) == 120
    assert wide_runs == [len(layout_of(outline(payloads[0])).parts[0]) - (not sure)]


def test_columns_share_no_memory():
    payloads = wide(Random(2), 40, NAMES["of one length"], [scalar_int, scalar_float])
    found, _ = follow(layout_of(outline(payloads[0])), block(payloads), Everything())
    assert all(one.values.base is None for one in found.values() if isinstance(one, Inline))


def test_many_strings_are_found_as_few_are(wide_runs):
    payloads = wide(Random(3), 50, NAMES["of one length"], [short_string])
    same(payloads)
    assert wide_runs


def test_integer_that_does_not_end_is_seen_in_the_last_entry_too(wide_runs):
    payloads = wide(Random(4), 9, NAMES["of one length"], [scalar_float, scalar_int])
    last = [
        messages.entry("z", messages.ints(300)),
        messages.entry("z", delimited(3, delimited(1, b"\x82\x82"))),
    ]
    changed = [delimited(1, payload[3:] + last[number == 5]) for number, payload in enumerate(payloads)]
    same(changed, {"feature_003": None})
    assert wide_runs


def crafted(kind: int, values: bytes) -> bytes:
    """An entry of which all lengths are single bytes, whatever they should be."""
    size = len(values)
    lengths = [length % 256 for length in (size + 9, size + 4, size + 2, size)]
    front = bytes((0x0A, lengths[0], 0x0A, 1)) + b"x"
    return front + bytes((0x12, lengths[1], kind << 3 | 2, lengths[2], 0x0A, lengths[3])) + values


CRAFTED = {
    **{f"float of {size} bytes": crafted(FLOAT, bytes(size)) for size in (3, 5, 6)},
    **{f"integer of {size} bytes": crafted(INT64, b"\x80" * (size - 1) + b"\0") for size in (10, 11, 12, 20)},
    **{f"{size} bytes without an end": crafted(INT64, b"\x80" * size) for size in (1, 8, 9, 10, 11)},
    "long integer after a short one": crafted(INT64, b"\x01" + b"\x80" * 10 + b"\0"),
    **{
        f"{size} bytes of kind {kind} after lengths of single bytes": crafted(kind, bytes(size))
        for size in (116, 117, 118, 119, 120, 124, 127, 128, 200, 239, 247, 248, 255)
        for kind in (BYTES, FLOAT, INT64)
    },
}


@pytest.mark.light(60)
@pytest.mark.parametrize("place", [0, 30, 80])
@pytest.mark.parametrize("entry", CRAFTED.values(), ids=CRAFTED)
def test_entry_that_is_none_is_refused_by_whoever_reads_it(entry, place, wide_runs):
    usual = {BYTES: messages.strings(b"abcd"), FLOAT: messages.floats(1, 2), INT64: messages.ints(5, 6)}
    others = [messages.entry(f"f{i:02}", (messages.floats if i % 3 else messages.ints)(i)) for i in range(80)]
    good, bad = (
        delimited(1, b"".join([*others[:place], one, *others[place:]]))
        for one in (messages.entry("x", usual[entry[7] >> 3]), entry)
    )
    for wanted in (None, {"f05": None}, {"x": None}):
        same([*[good] * 5, bad, good, good], wanted)
    assert wide_runs


@pytest.mark.parametrize("length", range(1, 18))
def test_headers_of_every_length_are_accepted(length, all_wide):
    payloads = [
        messages.example([(f"{k}".ljust(length, "_"), messages.ints(1 << i)) for k in range(9)])
        for i in range(20)
    ]
    _, alive = follow(layout_of(outline(payloads[0])), block(payloads), set(), sure=True)
    assert alive.all()
    assert all_wide == [9]


def test_layout_may_be_longer_than_the_buffer(all_wide):
    long = wide(Random(6), 1, NAMES["of one length"], [scalar_int])[0]
    short = [messages.example([("feature_000", messages.ints(1))])] * 4
    assert follow(layout_of(outline(long)), block(short), Everything(), sure=True) is None
    assert all_wide


def test_damaged_records_do_not_make_others_be_looked_at():
    payloads = wide(Random(7), 12, NAMES["of one length"], [small_int])
    payloads[3] = payloads[3].replace(b"feature_060", b"feature_06")
    found, alive = follow(layout_of(outline(payloads[0])), block(payloads), {b"feature_001"}, sure=True)
    assert np.flatnonzero(~alive).tolist() == [3]
    assert set(found) == {b"feature_001"}


# --- All records ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(tries(30)))
def test_records_of_any_form_are_read_as_wide_runs_or_left_alone(seed, all_wide):
    random = Random(seed)
    payloads = batch(random, random.choice([4, 20, 60]), usual=seed % 3 != 0)
    wanted = dict.fromkeys(["a", "b1", "feature_001"])
    same(payloads)
    same(payloads, wanted)
    for number in (1, 3, 10):
        spoiled = spoil(payloads, random, number)
        same(spoiled)
        same(spoiled, wanted)


@pytest.mark.parametrize("seed", range(tries(10)))
def test_hostile_lengths_lead_nowhere(seed, all_wide):
    random = Random(seed)
    payloads = batch(random, 8, usual=True)
    for _ in range(20):
        changed = bytearray(random.choice(payloads))
        if changed:
            changed[random.randrange(len(changed))] = random.choice([0, 1, 0x7F, 0x80, 0xFF])
        same([*payloads, bytes(changed)], {"a": None})
