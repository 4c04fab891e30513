"""Sequence maps: the context and the feature lists of many records, found together."""

from __future__ import annotations

import numpy as np
import pytest

import purerecord.payload.columns.sequence_maps
from purerecord.payload.columns.located import RecordBlock
from purerecord.payload.columns.sequence_maps import Maps, RowRanges, find_lists, open_maps
from purerecord.payload.wire import delimited
from purerecord.records import Records
from tests.support.handmade_messages import entry, ints

CONTEXT = delimited(1, entry("c", ints(5)))


def maps_of(payloads: list[bytes]) -> tuple[Records, Maps, dict[bytes, RowRanges]]:
    records = Records.of([b"before", *payloads, b"after"])[1:-1]
    octets = np.frombuffer(records.buffer, np.uint8)
    maps = open_maps(RecordBlock(records.buffer, octets, records.begins, records.ends))
    return records, maps, find_lists(octets, maps)


def lists_of(payloads: list[bytes]) -> tuple[dict[bytes, dict[int, bytes]], list[int]]:
    """What is found under each name in each record, and the odd records."""
    records, maps, found = maps_of(payloads)
    data = bytes(records.buffer)
    plain = {
        key: {row: data[begin:end] for row, begin, end in zip(*spans, strict=True) if not maps.odd[row]}
        for key, spans in found.items()
    }
    return plain, np.flatnonzero(maps.odd).tolist()


def with_lists(*lists: tuple[str, bytes]) -> bytes:
    return CONTEXT + delimited(2, b"".join(entry(name, content) for name, content in lists))


def test_either_map_may_be_missing() -> None:
    payloads = [b"", CONTEXT, with_lists(("a", b"x")), with_lists(("a", b"y"))[len(CONTEXT) :], b"\n\0\x12\0"]
    records, maps, found = maps_of(payloads)
    assert not maps.odd.any()
    assert (maps.context - records.begins).tolist() == [0, len(CONTEXT), len(CONTEXT), 0, 2]
    assert found[b"a"].rows.tolist() == [2, 3]


def test_lists_are_found_by_name_in_any_order_and_the_records_stay_in_theirs() -> None:
    payloads = [
        with_lists(("a", b"a0"), ("long name", b"l0" * 200), ("", b"")),
        with_lists(("long name", b""), ("a", b"a1")),
        with_lists(("a", b"a2"), ("b", b"b2" * 10000)),
    ]
    found, odd = lists_of(payloads)
    assert not odd
    assert found == {
        b"a": {0: b"a0", 1: b"a1", 2: b"a2"},
        b"long name": {0: b"l0" * 200, 1: b""},
        b"": {0: b""},
        b"b": {2: b"b2" * 10000},
    }
    assert list(found[b"a"]) == [0, 1, 2]


def test_anything_unusual_makes_its_record_odd_and_no_other() -> None:
    usual = with_lists(("a", b"x"), ("b", b"y"))
    strange = {
        "two contexts": CONTEXT + usual,
        "lists before the context": usual[len(CONTEXT) :] + CONTEXT,
        "lists in two parts": usual + usual[len(CONTEXT) :],
        "an unknown field at the end": usual + b"\x18\1",
        "an unknown field among the entries": CONTEXT + delimited(2, entry("a", b"") + b"\x18\1"),
        "the same name twice": with_lists(("a", b"x"), ("a", b"y")),
        "a value before its key": CONTEXT
        + delimited(2, delimited(1, delimited(2, b"") + delimited(1, b"a"))),
        "a key alone": CONTEXT + delimited(2, delimited(1, delimited(1, b"a"))),
        "a key that is cut off": CONTEXT + delimited(2, delimited(1, b"\n\5a")),
        "nothing in an entry": CONTEXT + delimited(2, delimited(1, b"")),
        "a key of another length than it says": CONTEXT + delimited(2, delimited(1, b"\n\x7fa\x12\0")),
        "something after the value": CONTEXT + delimited(2, delimited(1, entry("a", b"")[2:] + b"\x18\1")),
        "a long key": with_lists(("k" * 128, b"x")),
        "a key that is not UTF-8": CONTEXT + delimited(2, delimited(1, b"\n\1\xff\x12\0")),
        "an entry that goes on past its map": CONTEXT + b"\x12\x03\n\x7fa",
        "a map that goes on past its record": CONTEXT + b"\x12\x7f",
    }
    for case, payload in strange.items():
        for place in (0, 1, 2):
            payloads = [usual] * 2
            payloads.insert(place, payload)
            found, odd = lists_of(payloads)
            assert odd == [place], case
            assert len(found[b"a"]) == len(found[b"b"]) == 2, case


def test_hundreds_of_names_that_few_records_have_are_too_many() -> None:
    usual = with_lists(("a", b"x"))
    unusual = [with_lists((f"{number:03}", b"")) for number in range(300)]
    found, odd = lists_of([*unusual[:30], *[usual] * 20, *unusual[30:]])
    assert 200 < len(odd) < 300
    assert not {*range(30, 50)} & {*odd}
    assert len(found[b"a"]) == 20


def test_names_that_a_few_records_share_are_not_compared_with_all_others(monkeypatch) -> None:
    compared = []

    def begins_with(octets, begins, expected):
        compared.append(begins.size)
        return original(octets, begins, expected)

    original = purerecord.payload.columns.sequence_maps.begins_with
    monkeypatch.setattr(purerecord.payload.columns.sequence_maps, "begins_with", begins_with)
    _, odd = lists_of([with_lists((f"{number // 8}", b"")) for number in range(4000)])
    assert 3000 < len(odd) < 4000
    assert sum(compared) < 100 * 4000


def test_few_records_with_many_more_lists_than_the_others_are_odd() -> None:
    many = with_lists(*((str(number), b"x") for number in range(100)))
    found, odd = lists_of([with_lists(("0", b"x"))] * 20 + [many])
    assert odd == [20]
    assert len(found[b"0"]) == 20


@pytest.mark.parametrize(
    "size", [0, 1, 117, 118, 119, 120, 121, 122, 127, 128, 129, 16_370, *range(16_376, 16_392)]
)
def test_lists_of_any_size_are_found_whole(size: int) -> None:
    contents = [bytes([number]) * size for number in range(20)]
    found, odd = lists_of([with_lists(("name", content), ("b", b"y")) for content in contents])
    assert not odd
    assert found[b"name"] == dict(enumerate(contents))
    assert found[b"b"] == dict.fromkeys(range(20), b"y")


@pytest.mark.parametrize("rest", [b"\n", b"\n\0", b"\n\5", b"\0"])
def test_what_is_no_entry_behind_the_last_list_makes_its_record_odd(rest: bytes) -> None:
    usual = entry("a", delimited(1, ints(1)))
    payloads = [delimited(2, usual)] * 20
    payloads[7] = delimited(2, usual + rest)
    assert lists_of(payloads)[1] == [7]


def test_size_in_more_bytes_than_it_needs_is_read_or_odd() -> None:
    content = delimited(1, ints(1))
    for number in range(6):
        head = [b"\n", b"", b"\n\1a\x12", b"", content]
        sizes = [len(head[2]) + 1 + len(content), len(content)]
        for place, size in zip((1, 3), sizes, strict=True):
            head[place] = bytes((size,))
        if number % 2:
            head[3] = bytes((sizes[1] | 0x80, 0))
            head[1] = bytes((sizes[0] + 1,))
        if number > 1:
            head[1] = bytes((head[1][0] | 0x80, 0))
        payloads = [delimited(2, entry("a", content))] * 20
        payloads[3] = delimited(2, b"".join(head))
        found, odd = lists_of(payloads)
        assert odd in ([], [3])
        assert set(found[b"a"].values()) == {content}
        assert len(found[b"a"]) == 20 - len(odd)
