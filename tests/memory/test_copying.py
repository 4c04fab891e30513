"""Ranges of any lengths arrive whole, and nothing beside them is touched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.memory.copying import copy_ranges, elements


def copied(source: bytes, begins: list[int], gaps: list[int], lengths: list[int]) -> tuple[bytes, bytes]:
    """The target after the copy, and the expected one: each range after a gap of full stops."""
    sizes = np.array(lengths, np.int64)
    places = np.cumsum(np.array(gaps, np.int64) + sizes) - sizes
    target = np.full(sum(gaps) + sum(lengths) + 3, ord("."), np.uint8)
    copy_ranges(source, np.array(begins, np.int64), target, places, sizes)
    parts = (
        b"." * gap + source[begin : begin + length]
        for begin, gap, length in zip(begins, gaps, lengths, strict=True)
    )
    return target.tobytes(), b"".join(parts) + b"..."


@given(st.binary(max_size=200), st.data())
def test_ranges_arrive_whole_and_nothing_else_changes(source, data):
    places = st.tuples(st.integers(0, len(source)), st.integers(0, len(source))).map(sorted)
    ranges = data.draw(st.lists(st.tuples(places, st.integers(0, 3)), max_size=30))
    begins = [begin for (begin, _), _ in ranges]
    lengths = [end - begin for (begin, end), _ in ranges]
    got, expected = copied(source, begins, [gap for _, gap in ranges], lengths)
    assert got == expected


@pytest.mark.parametrize("longest", [*range(1, 20), 31, 32, 33, 1000, 5000])
def test_every_length_up_to_the_longest_is_copied(longest):
    source = bytes(i % 251 for i in range(2 * longest))
    lengths = list(range(longest + 1))
    got, expected = copied(source, [longest - length // 2 for length in lengths], [1] * len(lengths), lengths)
    assert got == expected


@given(st.binary(max_size=100), st.data())
def test_no_more_room_is_taken_than_given(source, data):
    places = st.tuples(st.integers(0, len(source)), st.integers(0, len(source))).map(sorted)
    ranges = data.draw(st.lists(places, max_size=30))
    room = data.draw(st.integers(0, 20))
    sizes = np.array([end - begin for begin, end in ranges], np.int64)
    ends = np.cumsum(sizes + room + 1)
    target = np.full(int(sizes.sum()) + (room + 1) * len(ranges), ord("."), np.uint8)
    begins = np.array([begin for begin, _ in ranges], np.int64)
    copy_ranges(source, begins, target, ends - sizes - room - 1, sizes, slack=room)
    for (begin, end), stop in zip(ranges, ends.tolist(), strict=True):
        last = stop - room - 1
        assert target[last - (end - begin) : last].tobytes() == source[begin:end]
        assert target[stop - 1] == ord(".")


@pytest.mark.parametrize("lengths", [[5000, 0, 3000], [2048] * 3, [2047] * 3, [10, 6000, 1]])
def test_long_ranges_are_copied_as_short_ones_are(lengths):
    source = bytes(i % 251 for i in range(10_000))
    got, expected = copied(source, [7, 100, 2000], [1, 0, 2], lengths)
    assert got == expected


def test_elements_of_bytes_too_few_for_one_are_none():
    assert len(elements(np.zeros(3, np.uint8), 4)) == 0
    assert len(elements(np.zeros(4, np.uint8), 4)) == 1
