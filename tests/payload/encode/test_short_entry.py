"""purerecord.payload.encode.short_entry: the bytes of the row encoder, with room to spill or without."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.payload.encode.cells import as_cells
from purerecord.payload.encode.short_entry import ShortEntryWriter, entry_header, short_entry_writer
from purerecord.payload.varint import varint
from purerecord.payload.wire import BYTES, FLOAT, INT64
from tests.payload.encode.test_general_entry import encoded_by_rows

INTEGERS = st.integers(0, 2**56 - 1) | st.integers(0, 300)
COLUMNS = st.one_of(
    st.lists(INTEGERS, min_size=1, max_size=9),
    st.lists(st.binary(max_size=30), min_size=1, max_size=9),
    st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=9),
)


def entry_of(name: str, column: object) -> ShortEntryWriter | None:
    return short_entry_writer(name.encode(), as_cells(name, column))


def sizes_of(entry: ShortEntryWriter) -> np.ndarray:
    varying = (
        np.zeros(entry.count, np.int64) if entry.varying_size is None else entry.varying_size.astype(np.int64)
    )
    return entry.fixed_size + varying


def written(entry: ShortEntryWriter, spill_limit: int, gap: int) -> list[bytes]:
    """The bytes of each record; the gaps between them stay as they were, except for the spill limit."""
    sizes = sizes_of(entry)
    places = np.cumsum(sizes + gap) - sizes
    out = np.full(int(places[-1] + sizes[-1]) + gap, ord("."), np.uint8)
    entry.write(places, spill_limit, out)
    data = out.tobytes()
    assert data[:gap] == b"." * gap
    for place, size in zip(places.tolist(), sizes.tolist(), strict=True):
        assert data[place + size + spill_limit : place + size + gap] == b"." * (gap - spill_limit)
    return [data[place : place + size] for place, size in zip(places.tolist(), sizes.tolist(), strict=True)]


@given(st.text(max_size=4), COLUMNS)
def test_entries_are_those_of_the_rows_whether_there_is_room_or_not(name, column):
    entry = entry_of(name, column)
    if entry is None:
        return
    expected = encoded_by_rows(name, column)
    assert sizes_of(entry).tolist() == list(map(len, expected))
    assert entry.smallest == min(map(len, expected))
    assert entry.spill == max(map(len, expected)) - entry.smallest
    assert written(entry, entry.spill, 70) == expected
    assert written(entry, 0, 1) == expected


@pytest.mark.parametrize("kind", [BYTES, FLOAT, INT64])
@pytest.mark.parametrize("size", [0, 1, 100, 127, 128, 16384])
def test_header_and_content_are_an_entry(kind, size):
    key = b"name"
    content = b"\x0a" + varint(size) + bytes(size)
    feature = bytes([kind << 3 | 2]) + varint(len(content)) + content
    inside = b"\x0a\x04name\x12" + varint(len(feature)) + feature
    assert entry_header(key, kind, size) + bytes(size) == b"\x0a" + varint(len(inside)) + inside


@pytest.mark.parametrize(
    "column",
    [
        [],
        [1, None],
        [-1, 1],
        [2**56],
        [b"x" * 65],
        [[1, 2], [3]],
        [[1, 2], [3, 4]],
        [[]],
        np.zeros((2, 17), np.float32),
        np.zeros((2, 0), np.float32),
        [b"x" * length for length in range(65)],  # with a name so long that the header grows with the content
    ],
)
def test_what_is_long_missing_or_of_several_values_is_left_to_others(column):
    assert entry_of("n" * 60, column) is None
