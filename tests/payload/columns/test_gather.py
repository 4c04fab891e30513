"""Columns: whichever way a record is decoded, the result is the row decoder's, and so is the error."""

from __future__ import annotations

import gc
import tracemalloc
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord import DecodeError, Example, Records
from purerecord.payload.columns import gather as columns_module
from purerecord.payload.columns.gather import gather
from purerecord.payload.columns.tuning import tuned
from purerecord.payload.wire import ABSENT, BYTES, FLOAT, INT64, UNSET, decode_features, delimited
from tests.support import handmade_messages as messages
from tests.support.column_batches import (
    NAMES,
    TUNINGS,
    batch,
    cell,
    gathered,
    rows_to_columns,
    scalar_float,
    scalar_int,
    short_string,
    spoil,
)
from tests.support.settings import tries
from tests.support.strategies import example_payloads, message_features


def same(payloads, wanted=None):
    # In every second case, strings stay in place.
    in_place = NAMES if sum(map(len, payloads)) % 2 else ()
    assert gathered(payloads, wanted, in_place=in_place) == rows_to_columns(payloads, wanted)


@pytest.fixture
def no_rows(monkeypatch):
    """The row decoder must not be needed."""

    def decode(payload):
        raise AssertionError("a record went to the row decoder")

    monkeypatch.setattr(columns_module, "decode_features", decode)


# --- Batches as writers make them -------------------------------------------------------------------

WRITERS = [
    {},
    {"usual": True},
    {"shuffled": True},
    {"usual": True, "shuffled": True},
    {"missing": 0.3},
    {"usual": True, "missing": 0.2},
    {"missing": 0.2, "shuffled": True},
]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("seed", range(tries(8)))
def test_batch_is_decoded_as_its_rows_are(writer, seed):
    random = Random(f"{seed} {writer}")
    payloads = batch(random, random.choice([1, 2, 5, 30, 100]), **writer)
    same(payloads)
    names = random.sample([*NAMES, "missing"], 3)
    same(payloads, {name: random.choice([None, BYTES, FLOAT, INT64]) for name in names})


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("seed", range(tries(20)))
def test_odd_records_among_others_change_nothing_else(writer, seed):
    random = Random(f"{seed} {writer} spoiled")
    payloads = batch(random, random.choice([4, 20, 60]), **writer)
    for number in (1, 3, 10):
        spoiled = spoil(payloads, random, number)
        same(spoiled)
        same(spoiled, {"a": None, "b1": INT64, "feature_001": FLOAT})
        valid = [payload for payload in spoiled if rows_to_columns([payload])[0] == "columns"]
        same(valid)
        same(valid, {"a": BYTES, "c22": None})


@pytest.mark.parametrize("seed", range(tries(30)))
def test_every_flipped_bit_is_seen_by_all_decoders_alike(seed):
    random = Random(seed)
    payloads = batch(random, 12, usual=seed % 2 == 0)
    at = random.randrange(12)
    for _ in range(12):
        position = random.randrange(8 * max(1, len(payloads[at])))
        flipped = bytearray(payloads[at])
        if flipped:
            flipped[position // 8] ^= 1 << position % 8
        same([*payloads[:at], bytes(flipped), *payloads[at + 1 :]])


@pytest.mark.parametrize("seed", range(tries(6)))
def test_cut_record_is_seen_by_all_decoders_alike(seed):
    random = Random(seed)
    payloads = batch(random, 6, usual=True)
    for length in range(min(len(payloads[3]), 80)):
        same([*payloads[:3], payloads[3][:length], *payloads[4:]])


@pytest.mark.parametrize("seed", range(tries(10)))
def test_what_was_decoded_before_changes_nothing(seed):
    random = Random(seed)
    batches = [batch(random, 20, **random.choice(WRITERS)) for _ in range(6)]
    expected = [rows_to_columns(payloads) for payloads in batches]
    for number in random.choices(range(len(batches)), k=20):
        assert gathered(batches[number]) == expected[number]


@pytest.mark.light(70)
@pytest.mark.parametrize("changes", TUNINGS.values(), ids=TUNINGS)
@pytest.mark.parametrize("writer", WRITERS)
def test_switches_change_no_result(changes, writer):
    random = Random(f"{writer}")
    with tuned(**changes):
        for seed in range(tries(2)):
            payloads = batch(random, (30, 9)[seed % 2], **writer)
            same(payloads)
            for number in (1, 5):
                spoiled = spoil(payloads, random, number)
                same(spoiled)
                same(spoiled, {"a": None, "b1": INT64, "feature_001": FLOAT})
                valid = [payload for payload in spoiled if rows_to_columns([payload])[0] == "columns"]
                same(valid, {"a": BYTES, "c22": None})


@pytest.mark.light(17)
@pytest.mark.parametrize("changes", TUNINGS.values(), ids=TUNINGS)
def test_flipped_bits_are_seen_by_all_decoders_alike_whatever_the_switches(changes):
    random = Random(1)
    with tuned(**changes):
        for seed in range(tries(4)):
            payloads = batch(random, 12, usual=seed % 2 == 0, shuffled=seed % 4 > 1)
            at = random.randrange(12)
            for _ in range(6):
                flipped = bytearray(payloads[at])
                if flipped:
                    flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
                same([*payloads[:at], bytes(flipped), *payloads[at + 1 :]])


def padded(size: int, width: int) -> bytes:
    """A length in more bytes than it needs."""
    return bytes([size >> 7 * k & 0x7F | 0x80 for k in range(width - 1)]) + bytes([size >> 7 * (width - 1)])


def nested(widths: list[int], before: bytes = b"") -> bytes:
    """An Example of one vector, whose lengths take so many bytes, from inside to outside."""
    content = bytes(12)
    for tag, front, width in zip(
        b"\x0a\x12\x12\x0a\x0a", (b"", b"", b"\x0a\x01x", b"", b""), widths, strict=True
    ):
        content = front + bytes([tag]) + padded(len(content), width) + content
    return content + before


@pytest.mark.parametrize("records", [3, 4, 40])
@pytest.mark.parametrize("width", [2, 4, 5, 6, 10, 11, 62])
def test_lengths_are_as_long_as_the_row_decoder_allows(records, width):
    for level in range(5):
        widths = [1] * 5
        widths[level] = width
        payload = nested(widths)
        assert (rows_to_columns([payload])[0] == "columns") == (width <= 5)
        same([payload] * records)
        same([*[nested([1] * 5)] * records, payload])


def test_record_that_is_one_endless_length_takes_no_time():
    assert gathered([b"\x0a" + b"\xff" * 1_000_000] * 4)[0] != "columns"


def test_batches_that_differ_in_the_last_feature_only_are_followed_once_each(monkeypatch):
    def payloads(last):
        names = ["a", *(f"c{number:02}" for number in range(20)), last]
        return [messages.example([(name, messages.ints(n)) for name in names]) for n in range(20)]

    batches = [payloads(f"z{number}") for number in range(6)]
    expected = [gathered(batch) for batch in batches]
    followed = []

    def follow(*args, **options):
        followed.append(args)
        return original(*args, **options)

    original = columns_module.follow
    monkeypatch.setattr(columns_module, "follow", follow)
    for _ in range(3):
        assert [gathered(batch) for batch in batches] == expected
    assert len(followed) == 18


def test_layouts_are_learned_once(monkeypatch, no_rows):
    ordered = [("a", messages.ints(1)), ("b", messages.floats(2)), ("c", messages.strings(b"3"))]
    shuffled = [messages.example(Random(i).sample(ordered, 3)) for i in range(50)]
    for payloads in ([messages.example(ordered)] * 50, shuffled):
        first = gathered(payloads)
        with monkeypatch.context() as patch:
            patch.setattr(columns_module, "outline", None)
            assert gathered(payloads) == first


@given(st.lists(example_payloads, max_size=12))
def test_any_payloads_are_decoded_as_their_rows_are(payloads):
    same(payloads)


@given(example_payloads, st.integers(5, 9))
def test_many_records_with_the_same_oddity_are_decoded_as_their_rows_are(payload, number):
    same([payload] * number)


@pytest.mark.parametrize("seed", range(tries(10)))
def test_protobuf_agrees(seed):
    random = Random(seed)
    payloads = spoil(batch(random, 20, missing=0.1 * (seed % 3)), random, 6)
    valid = [payload for payload in payloads if rows_to_columns([payload])[0] == "columns"]
    columns = gather(valid)
    rows = [message_features(Example.FromString(payload).features) for payload in valid]
    assert set(columns) == set().union(*rows)
    for name, column in columns.items():
        splits = column.row_splits
        for i, row in enumerate(rows):
            kind, values = row.get(name, (ABSENT, None))
            assert kind == (column.kind if column.kinds is None else column.kinds[i])
            if kind == column.kind and kind != UNSET:
                assert cell(values) == cell(column.values[splits[i] : splits[i + 1]])


@pytest.mark.parametrize(
    "feature", [b"\x02\x02\x0a\x00", b"\x02\x03\x0a\x01\x05", b"\x22\x00", b"\x1a\x01", b"\x1a"]
)
@pytest.mark.parametrize("order", [1, -1])
def test_list_of_no_kind_at_all_is_not_taken_for_one(feature, order):
    entries = [("a", b""), ("b", messages.ints(5))]
    payloads = [messages.example(entries[:: order if i % 2 else 1]) for i in range(30)]
    for at in (0, 7, 29):
        same([*payloads[:at], messages.example([("a", feature), ("b", messages.ints(5))]), *payloads[at:]])


# --- The fast ways are taken ------------------------------------------------------------------------


@pytest.mark.parametrize("writer", [writer for writer in WRITERS if writer.get("usual")])
@pytest.mark.parametrize("seed", range(5))
def test_usual_records_never_take_the_row_decoder(writer, seed, no_rows):
    payloads = batch(Random(seed), 500, **writer)
    assert gathered(payloads)[0] == "columns"


def test_negative_and_empty_and_long_values_never_take_the_row_decoder(no_rows):
    random = Random(0)
    payloads = [
        messages.example(
            [
                ("id", messages.ints(random.choice([-1, 5]))),
                ("tokens", messages.ints(*range(random.choice([0, 3, 200])))),
                ("image", messages.strings(bytes(random.choice([0, 100, 20000])))),
                ("words", messages.strings(*[b"word"] * random.choice([0, 1, 50]))),
                ("vector", messages.floats(*[0.5] * random.choice([0, 1, 300]))),
                ("nothing", b""),
            ]
        )
        for _ in range(200)
    ]
    columns = gather(payloads)
    assert columns["id"].uniform == 1
    assert columns["nothing"].kind == UNSET
    assert columns["words"].kinds is None


def test_two_layouts_in_turn_never_take_the_row_decoder(no_rows):
    one = [("a", messages.ints(1)), ("b", messages.floats(1))]
    payloads = [messages.example(one if i % 3 else [("c", messages.strings(b"x")), *one]) for i in range(100)]
    assert set(gather(payloads)) == {"a", "b", "c"}


def test_rows_of_another_kind_have_no_values():
    payloads = [
        messages.example([("a", messages.ints(i) if i % 4 else messages.floats(i, i))]) for i in range(20)
    ]
    column = gather(payloads)["a"]
    assert column.kind == FLOAT
    assert column.values.tolist() == [float(i) for i in range(0, 20, 4) for _ in range(2)]
    assert gather(payloads, {"a": INT64})["a"].values.tolist() == [i for i in range(20) if i % 4]
    assert gather(payloads, {"a": BYTES})["a"].values.tolist() == []


# --- What is asked for ------------------------------------------------------------------------------


def tab(size: int) -> list[bytes]:
    random = Random(size)
    return [
        messages.example(
            [
                ("age", messages.ints(random.randrange(100))),
                ("id", messages.ints(random.getrandbits(40))),
                ("name", messages.strings(random.randbytes(6))),
                ("score", messages.floats(random.random())),
            ]
        )
        for _ in range(size)
    ]


def test_missing_feature_is_absent_everywhere():
    columns = gather(tab(10), {"no": None, "none": FLOAT})
    assert columns["no"].kind == UNSET
    assert columns["none"].kind == FLOAT
    for column in columns.values():
        assert column.kinds.tolist() == [ABSENT] * 10
        assert column.uniform == 0


def test_without_records_there_are_no_rows():
    assert gather([]) == {}
    column = gather([], {"a": BYTES})["a"]
    assert (column.rows, column.uniform, column.kinds, column.row_splits.tolist()) == (0, 0, None, [0])


def test_features_come_in_the_order_of_their_names_or_as_asked_for():
    payloads = [messages.example([(name, messages.ints(1)) for name in ("b", "é", "a", "B")])] * 9
    assert list(gather(payloads)) == ["B", "a", "b", "é"]
    assert list(gather(payloads, {"é": None, "a": None})) == ["é", "a"]


def test_name_that_is_no_text_is_just_not_there():
    assert gather(tab(5), {"\ud800": INT64})["\ud800"].kinds.tolist() == [ABSENT] * 5


def test_unwanted_values_are_checked_too():
    good, bad = messages.ints(*[300] * 50), messages.feature(INT64, [300] * 50)[:-1] + b"\x80"
    for name in ("x", "long enough to be in more than one word"):
        payloads = [messages.example([("a", messages.ints(1)), (name, good)]) for _ in range(20)]
        payloads[7] = payloads[7].replace(good, bad)
        with pytest.raises(DecodeError) as caught:
            gather(payloads, {"a": INT64})
        assert caught.value.record == 7


@pytest.mark.parametrize("length", [9, 10, 11, 12])
@pytest.mark.parametrize("others", [0, 1, 3, 30])
def test_varint_of_very_many_bytes_is_decoded_or_refused_by_all_alike(length, others):
    packed = bytes(range(others)) + b"\x80" * (length - 1) + b"\x01" + bytes(range(others))
    feature = messages.delimited(INT64, messages.delimited(1, packed))
    payloads = [
        messages.example([("a", messages.ints(*range(i % 5))), ("b", messages.ints(1))]) for i in range(20)
    ]
    payloads[9] = messages.example([("a", feature), ("b", messages.ints(1))])
    same(payloads)
    same(payloads, {"b": INT64})


def test_blocks_are_one_batch():
    with tuned(records_per_block=16):
        for seed in range(10):
            same(batch(Random(seed), 50, missing=0.2 * (seed % 2)))


@pytest.mark.parametrize("buffer", [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.uint8)])
def test_any_buffer_will_do(buffer):
    payloads = batch(Random(1), 40)
    records = Records.of(payloads)
    records = Records(buffer(bytes(records.buffer)), records.begins, records.ends)
    assert gathered(records) == rows_to_columns(payloads)


def test_records_may_lie_anywhere_in_the_buffer():
    payloads = batch(Random(2), 40, usual=True)
    records = Records.of([b"\xff" * 7, *payloads, b"\xff"])
    order = np.random.default_rng(0).permutation(40)
    mixed = Records(records.buffer, records.begins[order + 1], records.ends[order + 1])
    assert gathered(mixed) == rows_to_columns([payloads[i] for i in order])
    assert gathered(records[1:-1]) == rows_to_columns(payloads)


# --- Errors -----------------------------------------------------------------------------------------


def test_first_malformed_record_is_the_error_wherever_it_is():
    payloads = tab(50)
    for first, second in [(0, 49), (3, 4), (49, 49)]:
        spoiled = list(payloads)
        spoiled[second] = b"junk"
        spoiled[first] = payloads[first][:-1]
        with pytest.raises(DecodeError) as caught:
            gather(spoiled)
        assert caught.value.record == first


def test_error_says_file_record_and_byte():
    payloads = [*tab(5), b"junk", *tab(5)]
    joined = Records.of([bytes(12), *payloads])
    records = Records(joined.buffer, joined.begins[1:], joined.ends[1:], path="file", first=100, base=1000)
    with pytest.raises(DecodeError) as caught:
        gather(records)
    error = caught.value
    assert (error.path, error.record) == ("file", 105)
    assert error.offset == 1000 + joined.begins[6] - 12
    assert str(error).startswith(f"file: record 105 at byte {error.offset}: ")


# --- Cost -------------------------------------------------------------------------------------------


def test_numeric_columns_make_no_objects_for_their_records():
    records = Records.of(tab(4096))
    wanted = {"age": INT64, "id": INT64, "score": FLOAT}
    gather(records, wanted)
    gc.collect()
    tracemalloc.start()
    try:
        columns = gather(records, wanted)
        snapshot = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    assert sum(column.values.nbytes for column in columns.values()) == 4096 * 20
    assert sum(statistic.count for statistic in snapshot.statistics("filename")) < 1000


def test_large_lists_make_no_objects_for_their_records():
    payloads = [messages.example([("v", messages.ints(*range(i % 50, 60)))]) for i in range(4096)]
    records = Records.of(payloads)
    gather(records)
    tracemalloc.start()
    try:
        gather(records)
        _, peak = tracemalloc.get_traced_memory()
        snapshot = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    assert sum(statistic.count for statistic in snapshot.statistics("filename")) < 1000
    assert peak < 100 * records.nbytes


def test_one_record_with_very_many_features_costs_no_more_than_itself():
    many = messages.example([(str(i), messages.ints(i)) for i in range(20_000)])
    payloads = [*tab(1000), many, *tab(1000)]
    tracemalloc.start()
    try:
        columns = gather(payloads, {"age": INT64, "7": INT64})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert columns["7"].values.tolist() == [7]
    assert len(columns["age"].values) == 2000
    assert peak < 200 << 20


@pytest.mark.parametrize("first", [b"", b"\x0a\x00", b"\x10\x05", messages.example([("z", b"")] * 3)])
def test_odd_first_record_does_not_make_the_others_slow(first, monkeypatch):
    payloads = [first, *tab(500)]
    decoded = []
    monkeypatch.setattr(
        columns_module,
        "decode_features",
        lambda payload: decoded.append(payload) or decode_features(payload),
    )
    gather(payloads)
    assert len(decoded) <= 1


def test_columns_keep_nothing_but_their_own_values_alive():
    columns = gather(Records.of(tab(100)))
    for column in columns.values():
        assert column.values.base is None or column.values.base.nbytes == column.values.nbytes


def test_values_may_be_changed_by_whoever_has_them():
    for seed in range(20):
        for column in gather(batch(Random(seed), 20)).values():
            assert column.values.flags.writeable


@pytest.mark.parametrize("make", [scalar_int, scalar_float, short_string])
@pytest.mark.parametrize("length", [0, 1, 5, 6, 7, 13, 14, 15, 22, 60, 99, 100, 101, 127, 128, 200])
def test_names_of_any_length(make, length):
    random = Random(length)
    names = ["x" * length, "x" * length + "y", "y"]
    payloads = [messages.example([(name, make(random)) for name in names]) for _ in range(30)]
    same(payloads)
    shuffled = [
        messages.example(random.sample([(name, make(random)) for name in names], 3)) for _ in range(30)
    ]
    same(shuffled)


def test_size_of_two_bytes_hides_no_entry_behind_it():
    usual = [("\1", messages.ints(1)), ("b", messages.ints(2))]
    payloads = [messages.example(usual if number % 3 else usual[::-1]) for number in range(20)]
    # As if its size took one byte, the first entry would be the second, and that a part of it.
    hidden = b"\n\x85\0\n\1\1\x12\0" + messages.entry("\1", messages.strings(bytes(116)))
    payloads[7] = delimited(1, hidden + messages.entry("b", messages.ints(2)))
    same(payloads)


def test_features_whose_names_cancel_out_in_a_table_are_decoded_too():
    names = ["x", "aaaa" + "b" * 15 + "A", "aaaA" + "b" * 15 + "a", "aaaa" + "b" * 14 + "zz"]
    random = Random(1)
    entries = [(name, messages.ints(number)) for number, name in enumerate(names)]
    same([messages.example(random.sample(entries, 4)) for _ in range(20)])


# --- Records with very many features ----------------------------------------------------------------


def names_of_their_own(records: int, features: int) -> list[bytes]:
    return [pr.encode_example({f"{i}.{j}": j for j in range(features)}) for i in range(records)]


@pytest.mark.parametrize(
    "decode", [pr.decode_examples, pr.infer_schema, lambda r: pr.infer_schema(r, sequence=True)]
)
def test_columns_far_larger_than_the_records_are_refused(decode: Any, monkeypatch: Any) -> None:
    records = names_of_their_own(30, 20)
    assert len(decode(records)) in (600, 2)
    monkeypatch.setattr(columns_module, "_MOST_CELLS", 17_999)
    monkeypatch.setattr(columns_module, "_MOST_CELLS_PER_BYTE", 1)
    with pytest.raises(pr.SchemaError, match=r"30 records have 600 different features.*18000 cells"):
        decode(records)
    assert len(decode(records[:20])) in (400, 2)
    alike = [pr.encode_example(dict.fromkeys(map(str, range(600)), 1))] * 30
    assert len(decode(alike)) in (600, 2), "columns that are full are not refused"


def test_a_column_of_a_few_names_is_made_whatever_the_other_names_are(monkeypatch: Any) -> None:
    monkeypatch.setattr(columns_module, "_MOST_CELLS", 0)
    monkeypatch.setattr(columns_module, "_MOST_CELLS_PER_BYTE", 0)
    parsed = pr.parse_example(names_of_their_own(30, 20), {"7.3": pr.RaggedFeature(int)})["7.3"]
    assert parsed.to_list() == [[3] if row == 7 else [] for row in range(30)]


def test_features_that_are_not_wanted_are_not_kept() -> None:
    one = pr.encode_example(dict.fromkeys(map(str, range(5000)), 1))  # too many to be decoded together
    peaks = []
    for copies in (1, 4):
        tracemalloc.start()
        try:
            gather([one] * copies, {"7": INT64})
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]
