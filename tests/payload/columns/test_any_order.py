"""Any order: features are found wherever they are in a record, and unknown ones are reported."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from purerecord.payload.columns.any_order import Search
from purerecord.payload.columns.located import Located, RecordBlock, read_values
from purerecord.payload.columns.outline import Entry, outline
from purerecord.payload.columns.short_entries import Everything
from purerecord.payload.columns.tuning import tuned
from purerecord.payload.wire import BYTES, FLOAT, INT64
from tests.support import handmade_messages as messages
from tests.support.column_batches import batch, block
from tests.support.strategies import mutate


def search(some: RecordBlock, known: dict[bytes, Entry]) -> tuple[dict[bytes, Located], np.ndarray]:
    """What a search that learns nothing finds, and in which records."""
    whole = Search(some, len(known))
    matched = whole.match(tuple(known.values()))
    return whole.read(matched, Everything()), matched.alive


@pytest.mark.parametrize("seed", range(40))
def test_damaged_record_among_others_does_not_change_them(seed):
    random = Random(seed)
    payloads = batch(random, 20, usual=True)
    damaged = list(payloads)
    damaged[11] = mutate(payloads[11], random)
    known = {entry.key: entry for entry in outline(payloads[0])}
    clean, dirty = (search(block(some), known) for some in (payloads, damaged))
    assert dirty[1][np.arange(20) != 11].tolist() == clean[1][np.arange(20) != 11].tolist()


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


def test_stranger_is_a_record_with_an_unknown_feature():
    known = tuple(Entry(key, INT64, True, False) for key in (b"a", b"bc", b"def"))
    strangers = set()
    for number in range(50):
        payloads = [messages.example([("a", messages.ints(1))])] * 20
        payloads[7] = messages.example([("a", messages.ints(1)), ("u" * number, messages.ints(1))])
        matched = Search(block(payloads), 1).match(known)
        strangers.add(matched.stranger)
    assert 7 in strangers
    assert strangers <= {7, None}  # the table may take an unknown key for a known one


def test_too_many_features_are_not_matched():
    some = block([messages.example([("a", messages.ints(1))])] * 20)
    known = tuple(Entry(b"%d" % k, INT64, True, False) for k in range(40))
    assert Search(some, 1).match(known) is None
    with tuned(most_features_per_entry=40):
        assert Search(some, 1).match(known) is not None
        with tuned(most_features=39):
            assert Search(some, 1).match(known) is None
