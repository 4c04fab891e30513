"""purerecord.payload.encode.general_entry: the bytes of the row encoder, and nothing beside them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.payload.encode.cells import as_cells
from purerecord.payload.encode.general_entry import GeneralEntryWriter, delimited_sizes, write_size
from purerecord.payload.example import encode_example
from purerecord.payload.varint import varint

INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 300)
FLOATS = st.floats(width=32, allow_nan=False)
STRINGS = st.binary(max_size=200)


def rows(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(values | st.lists(values, max_size=4) | st.none(), min_size=1, max_size=8)


def encoded_by_rows(name: str, column: list) -> list[bytes]:
    """The entries that the row encoder makes: the content of an Example with this feature only."""
    examples = [encode_example({} if value is None else {name: value}) for value in column]
    return [example[2 if example[1] < 0x80 else 3 :] for example in examples]  # without its tag and size


@given(st.text(max_size=4), rows(INTEGERS) | rows(FLOATS) | rows(STRINGS))
def test_entries_are_those_of_the_rows_and_touch_nothing_else(name, column):
    entry = GeneralEntryWriter(name.encode(), as_cells(name, column))
    expected = encoded_by_rows(name, column)
    sizes = entry.varying_size
    assert sizes.tolist() == list(map(len, expected))
    assert entry.in_every_record <= (None not in column)
    places = np.cumsum(sizes + 3) - sizes
    out = np.full(int(places[-1] + sizes[-1]) + 3, ord("."), np.uint8)
    entry.write(places, 0, out)
    assert out.tobytes() == b"..." + b"...".join(expected) + b"..."


@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
def test_strings_are_copied_together_or_one_by_one(long):
    column = [bytes([i]) * (i * 40 if long else i) for i in range(30)]
    entry = GeneralEntryWriter(b"s", as_cells("s", column))
    out = np.empty(int(entry.varying_size.sum()), np.uint8)
    entry.write(np.cumsum(entry.varying_size) - entry.varying_size, 0, out)
    assert out.tobytes() == b"".join(encoded_by_rows("s", column))


SIZES = st.integers(0, 2**31 - 1) | st.integers(0, 300)


@given(st.binary(min_size=1, max_size=12), st.lists(SIZES, min_size=1, max_size=20))
def test_sizes_are_written_behind_what_comes_before_them(before, sizes):
    texts = [before + varint(size) for size in sizes]
    ends = np.cumsum([len(text) + 2 for text in texts])
    out = np.full(int(ends[-1]), ord("."), np.uint8)
    begins = ends - [len(text) for text in texts]
    assert write_size(begins, before, np.array(sizes, np.int64), out).tolist() == ends.tolist()
    assert out.tobytes() == b"".join(b".." + text for text in texts)


@given(st.lists(SIZES, max_size=20))
def test_a_field_takes_its_tag_its_size_and_its_content(sizes):
    expected = [1 + len(varint(size)) + size for size in sizes]
    assert delimited_sizes(np.array(sizes, np.int64)).tolist() == expected
