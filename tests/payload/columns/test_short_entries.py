"""Short entries: what they hold, and which records are malformed."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord.payload.columns.located import Inline, Spans
from purerecord.payload.columns.outline import Entry
from purerecord.payload.columns.short_entries import (
    Everything,
    ShortEntries,
    SummedValueBegins,
    ValueBegins,
    as_slice,
    per_pass,
    values_of_short_entries,
)
from purerecord.payload.columns.tuning import tuned
from purerecord.payload.wire import BYTES, FLOAT, INT64


def short(kind: int, values: list[bytes], valid: list[bool] | None = None) -> ShortEntries:
    """One short entry in some records; its values begin at 100, 200, ..."""
    words = np.array([[int.from_bytes((value + bytes(8))[:8], "little") for value in values]], np.uint64)
    sizes = np.array([[len(value) for value in values]], np.uint64)
    places = 100 * np.arange(1, len(values) + 1)[None]
    mask = np.array([[True] * len(values) if valid is None else valid])
    entry = Entry(b"a", kind, True, False)
    return ShortEntries([entry], words, sizes, mask, ValueBegins(places, np.zeros(1, np.int64)))


def read(entries: ShortEntries, wanted=Everything()) -> tuple[dict, list[bool]]:  # noqa: B008 - has no state
    alive = np.ones(entries.words.shape[1], bool)
    return values_of_short_entries(entries, wanted, alive), alive.tolist()


def test_single_numbers_are_inline():
    columns, alive = read(short(INT64, [b"\1", b"\xac\2"]))
    assert isinstance(columns[b"a"], Inline)
    assert columns[b"a"].values.tolist() == [1, 300]
    assert all(alive)
    columns, alive = read(short(FLOAT, [np.float32(value).tobytes() for value in (1.5, 2.5)]))
    assert columns[b"a"].values.tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    ("kind", "values"),
    [(INT64, [b"\1", b"\1\2"]), (INT64, [b"\1", b""]), (FLOAT, [bytes(4), bytes(8)]), (BYTES, [b"x", b"yz"])],
)
def test_strings_and_lists_are_spans(kind, values):
    columns, alive = read(short(kind, values))
    assert columns[b"a"] == Spans(kind, columns[b"a"].begins, columns[b"a"].sizes)
    assert columns[b"a"].begins.tolist() == [100, 200]
    assert columns[b"a"].sizes.tolist() == list(map(len, values))
    assert all(alive)


def test_malformed_values_kill_their_record_only_if_the_entry_is_valid():
    for kind, values in ((FLOAT, [bytes(4), bytes(5)]), (INT64, [b"\1", b"\x80"])):
        assert read(short(kind, values), set())[1] == [True, False]
        assert read(short(kind, values, [True, False]), set())[1] == [True, True]


def test_unwanted_values_are_returned_only_to_be_checked():
    assert read(short(INT64, [b"\1", b"\1" * 8]), set())[0] == {}
    assert set(read(short(INT64, [b"\1", b"\1" * 9]), set())[0]) == {b"a"}
    assert read(short(BYTES, [b"x", b"y"]), set())[0] == {}
    assert read(short(FLOAT, [bytes(8), bytes(4)]), set())[0] == {}


def test_places_that_follow_from_sizes_are_those_that_are_known():
    random = np.random.default_rng(1)
    sizes = random.integers(0, 120, (30, 7)).astype(np.uint8)
    first, offsets = random.integers(0, 1000, 7), np.cumsum(random.integers(5, 20, 30))
    places = np.array([first + sizes[:k].sum(axis=0, dtype=np.int64) for k in range(30)])
    known = ValueBegins(places, offsets)
    chosen = [0, 1, 7, 8, 29]
    summed = SummedValueBegins(first, offsets, sizes, chosen)
    for k in (3, 0, 4, 1, 2, 2):
        assert summed[k].tolist() == known[chosen[k]].tolist()


def test_adjacent_places_are_a_slice():
    assert as_slice([3, 4, 5]) == slice(3, 6)
    assert as_slice([3, 5]) == [3, 5]
    assert as_slice([]) == []


def test_a_pass_has_at_least_one_record():
    with tuned(entries_per_pass=100):
        assert [per_pass(number) for number in (0, 1, 30, 100, 1000)] == [100, 100, 3, 1, 1]
