"""The blocks of a blocked GZIP file, found from anywhere in it."""

from __future__ import annotations

import gzip
import zlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.storage import block_search
from purerecord.storage.block_search import member_end, next_block, spans
from purerecord.storage.compression import TFRecordOptions
from purerecord.storage.deflate import _member
from purerecord.storage.inflate import BLOCK_MAGIC
from tests.support.damage import flip_bit

OPTIONS = TFRecordOptions("GZIP", block_size=1)


class InMemory:
    """A file by position."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read_at(self, offset: int, size: int) -> bytes:
        return self.data[offset : offset + size]

    def size(self) -> int:
        return len(self.data)


def block(data: bytes, level: int = 6) -> bytes:
    return _member(TFRecordOptions("GZIP", block_size=1, compression_level=level), [data], 1)


@given(pieces=st.lists(st.binary(max_size=300), max_size=12), piece=st.integers(42, 600))
def test_every_block_is_found_from_everywhere(pieces, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_search, "_FIRST_SEARCH", piece)
        blocks = [block(data) for data in pieces]
        file = InMemory(b"".join(blocks))
        begins = [sum(map(len, blocks[:i])) for i in range(len(blocks) + 1)]
        for offset in range(0, file.size() + 1, 3):
            assert next_block(file, offset) == min(begin for begin in begins if begin >= offset)
        for begin, end in pairwise(begins):
            assert member_end(file, begin) == end


@pytest.mark.parametrize("bit", range(0, 42 * 8, 5))
def test_a_damaged_header_is_no_block(bit):
    one = block(b"x" * 50)
    file = InMemory(flip_bit(one, bit) + one)
    assert next_block(file, 0) == len(one)


def test_what_only_begins_like_a_block_is_none():
    file = InMemory(BLOCK_MAGIC * 20 + gzip.compress(b"other"))
    assert next_block(file, 0) == file.size()
    assert next_block(file, file.size() + 5) == file.size()


@pytest.mark.parametrize("level", [0, 6])
def test_a_member_is_followed_to_its_end(level, monkeypatch):
    monkeypatch.setattr(block_search, "_PIECE", 100)
    for data in (b"", b"a" * 10_000, bytes(range(256)) * 20):
        for member in (block(data, level), gzip.compress(data, level)):
            assert member_end(InMemory(member), 0) == len(member)
            assert member_end(InMemory(b"??" + member + b"rest"), 2) == 2 + len(member)
            assert member_end(InMemory(member[:-1]), 0) is None
            assert member_end(InMemory(member[:-5] + b"?" + member[-4:]), 0) is None
    assert member_end(InMemory(b"nothing"), 0) is None
    assert member_end(InMemory(b""), 0) is None
    assert member_end(InMemory(zlib.compress(b"zlib")), 0) is None


def test_a_member_that_spans_a_place():
    inner = block(b"inner") + block(b"more")
    outer = block(b"around" + inner + b"after", level=0)
    file = InMemory(block(b"first") + outer + block(b"last"))
    first = len(block(b"first"))
    place = file.data.index(inner)
    assert spans(file, 0, place)
    assert spans(file, first, place + len(block(b"inner")))
    assert not spans(file, 0, first)
    assert not spans(file, 0, first + len(outer))
    assert not spans(file, first, file.size())


def test_a_broken_member_spans_nothing():
    whole = block(b"first" * 9) + block(b"second" * 9) + block(b"third" * 9)
    lost = InMemory(whole[:60] + whole[63:])
    assert not spans(lost, 0, next_block(lost, 1))
    assert not spans(lost, 0, next_block(lost, next_block(lost, 1) + 1))
