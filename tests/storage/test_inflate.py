"""Inflating: consecutive members, streams and blocks, and all plain bytes before a break."""

from __future__ import annotations

import gzip
import io
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import CompressionError, TFRecordOptions
from purerecord.storage.deflate import BlockDeflater
from purerecord.storage.inflate import (
    BLOCK_HEADER_SIZE,
    BlockHeader,
    BlockInflater,
    Inflater,
    Prefixed,
    decode_block_header,
    encode_block_header,
    inflate_block,
    inflated,
)
from tests.support.all_readers import Trickle
from tests.support.damage import cut, flip_byte

WBITS = {"GZIP": 31, "ZLIB": 15}
both = pytest.mark.parametrize("compression", WBITS)


def compress(data: bytes, compression: str, level: int = -1) -> bytes:
    stream = zlib.compressobj(level, zlib.DEFLATED, WBITS[compression])
    return stream.compress(data) + stream.flush()


def blocks(pieces: list[bytes], size: int = 1) -> bytes:
    """``pieces`` as blocked GZIP, each a member of its own unless ``size`` is larger."""
    deflater = BlockDeflater(TFRecordOptions("GZIP", block_size=size))
    return b"".join([deflater.write([piece], 1) for piece in pieces] + [deflater.finish()])


def read_all(source: Inflater | BlockInflater, size: int = 1 << 16) -> tuple[bytes, CompressionError | None]:
    """Everything up to the end or the break."""
    data = b""
    try:
        while piece := source.read(size):
            data += piece
    except CompressionError as error:
        return data, error
    finally:
        source.close()
    return data, None


def text(size: int, seed: int = 0) -> bytes:
    """Bytes that compress to about half."""
    return bytes(random.Random(seed).choices(b"abcdefghijklmnop", k=size))


@pytest.mark.light(20)
@both
@pytest.mark.parametrize("size", [0, 1, 11, 65535, 65536, 65537, 300_000])
@pytest.mark.parametrize("step", [1 << 16, 1, 1000])
def test_one_stream_is_inflated(compression, size, step):
    if step == 1 and size > 70_000:
        return
    data = text(size)
    assert read_all(Inflater(Trickle(compress(data, compression), step), compression)) == (data, None)


@both
@pytest.mark.parametrize("size", [1, 7, 1 << 14])
def test_no_more_is_given_than_was_asked_for(compression, size):
    data = bytes(50_000)
    source = Inflater(io.BytesIO(compress(data, compression)), compression)
    got = b""
    while piece := source.read(size):
        assert len(piece) <= size
        got += piece
    assert got == data


@both
@given(st.lists(st.binary(max_size=100), min_size=1, max_size=6), st.integers(1, 50))
def test_members_and_streams_one_after_the_other_are_all_read(compression, parts, step):
    data = b"".join(compress(part, compression) for part in parts)
    assert read_all(Inflater(Trickle(data, step), compression)) == (b"".join(parts), None)


@both
def test_every_cut_is_an_error_and_keeps_what_came_before(compression):
    data = text(300)
    whole = compress(data, compression)
    for size in range(1, len(whole)):
        got, error = read_all(Inflater(io.BytesIO(cut(whole, size)), compression))
        assert data.startswith(got)
        assert error is not None
        assert "cut" in str(error)
        if size == len(whole) - 1:
            assert got == data


@both
@pytest.mark.parametrize("step", [1 << 16, 3])
def test_every_break_keeps_what_came_before(compression, step):
    data = text(300)
    whole = compress(data, compression)
    for at in range(len(whole)):
        got, error = read_all(Inflater(Trickle(flip_byte(whole, at), step), compression))
        if error is None:
            assert got == data  # a byte of the header that means nothing
            assert compression == "GZIP"
            assert 4 <= at < 10
        elif got != data[: len(got)]:
            assert at >= 2  # damaged literals are inflated before the checksum reveals them


def test_break_far_behind_keeps_all_before_it():
    data = random.Random(0).randbytes(400_000)
    whole = compress(data, "ZLIB", 0)  # stored: every byte in its place
    got, error = read_all(Inflater(io.BytesIO(whole[:200_000] + b"\xff" * 200_000), "ZLIB"))
    assert error is not None
    assert len(got) > 190_000
    assert got[:190_000] == data[:190_000]


@both
def test_break_is_said_again_when_asked_again(compression):
    source = Inflater(io.BytesIO(compress(text(100), compression) + b"garbage"), compression)
    assert source.read(1000) == text(100)
    for _ in range(3):
        with pytest.raises(CompressionError, match="is followed by something else"):
            source.read(1000)


@both
@pytest.mark.parametrize("garbage", [b"garbage", bytes(10), b"\xff" * 3, b"\x1f\x8b\x07", b"x"])
def test_garbage_behind_the_stream_is_an_error(compression, garbage):
    got, error = read_all(Inflater(io.BytesIO(compress(text(100), compression) + garbage), compression))
    assert got == text(100)
    assert error is not None


@pytest.mark.parametrize(("compression", "other"), [("GZIP", "ZLIB"), ("ZLIB", "GZIP")])
def test_other_compression_than_declared_is_an_error(compression, other):
    got, error = read_all(Inflater(io.BytesIO(compress(text(100), other)), compression))
    assert got == b""
    assert "does not begin as one" in str(error)


def test_stream_that_is_not_finished_goes_on_when_more_comes(tmp_path):
    path = tmp_path / "growing"
    stream = zlib.compressobj(wbits=31)
    path.write_bytes(stream.compress(b"first") + stream.flush(zlib.Z_PARTIAL_FLUSH))
    with open(path, "rb", buffering=0) as file:
        source = Inflater(file, "GZIP")
        assert source.read(100) == b"first"
        with pytest.raises(CompressionError, match="cut"):
            source.read(100)
        with open(path, "ab") as more:
            more.write(stream.compress(b"second") + stream.flush())
        assert source.read(100) == b"second"
        assert source.read(100) == b""


# Blocks


@pytest.mark.parametrize("step", [1, 50, 1 << 20])
def test_blocks_are_inflated_in_order(step):
    pieces = [text(size, size) for size in (0, 1, 100, 5000, 3, 0, 20_000)] * 3
    assert read_all(BlockInflater(Trickle(blocks(pieces), step))) == (b"".join(pieces), None)


def test_blocks_are_ordinary_gzip_for_others():
    pieces = [text(size, size) for size in (1, 100, 5000)]
    data = blocks(pieces)
    assert gzip.decompress(data) == b"".join(pieces)
    assert read_all(Inflater(io.BytesIO(data), "GZIP")) == (b"".join(pieces), None)


def test_block_says_its_size_and_what_is_in_it():
    data = blocks([b"12345", b"1234567890"])
    first = decode_block_header(data)
    second = decode_block_header(data[first.size :])
    assert first[1:] == (5, 1)
    assert second[1:] == (10, 1)
    assert first.size + second.size == len(data)
    assert inflate_block(data[: first.size]) == b"12345"


def test_every_damaged_byte_of_a_block_header_makes_it_none():
    header = encode_block_header(BlockHeader(1000, 2000, 30))
    assert len(header) == BLOCK_HEADER_SIZE
    assert decode_block_header(header) == (1000, 2000, 30)
    for at in range(len(header)):
        for bit in range(8):
            assert decode_block_header(flip_byte(header, at, 1 << bit)) is None
        assert decode_block_header(header[:at]) is None
    assert decode_block_header(encode_block_header(BlockHeader(BLOCK_HEADER_SIZE, 0, 0))) is None


def test_every_damaged_byte_of_blocks_is_an_error_that_keeps_the_blocks_before():
    pieces = [text(40, seed) for seed in range(4)]
    data = blocks(pieces)
    sizes = [len(blocks(pieces[:count])) for count in (1, 2, 3, 4)]
    for at in range(len(data)):
        for damaged in (flip_byte(data, at, 1 << at % 8), cut(data, at)):
            if damaged == b"" or (len(damaged) in sizes and len(damaged) < len(data)):
                continue
            got, error = read_all(BlockInflater(io.BytesIO(damaged)))
            whole = sum(size <= at for size in sizes)
            assert got.startswith(b"".join(pieces[:whole]))
            # The last bits of a deflate stream may mean nothing.
            assert error is not None or got == b"".join(pieces)


def test_place_of_a_break_is_one_in_the_file():
    data = blocks([text(1000, seed) for seed in range(3)])
    _, error = read_all(BlockInflater(io.BytesIO(data + b"garbage")))
    assert f"followed by something else at compressed byte {len(data)}" in str(error)


def test_ordinary_members_behind_blocks_are_read_too():
    data = blocks([b"one", b"two"]) + compress(b"three", "GZIP") + blocks([b"four"])
    assert read_all(BlockInflater(io.BytesIO(data))) == (b"onetwothreefour", None)


@pytest.mark.parametrize("claim", [2**63, 2**32, 1 << 27])
def test_block_that_claims_to_be_huge_takes_no_memory(claim):
    body = compress(b"hello", "GZIP")[10:]
    data = encode_block_header(BlockHeader(claim, claim, 1)) + body
    assert read_all(BlockInflater(io.BytesIO(data))) == (b"hello", None)


def test_block_that_holds_more_than_it_says_is_inflated_piece_by_piece():
    bomb = compress(bytes(50_000_000), "GZIP", 9)[10:]
    data = encode_block_header(BlockHeader(BLOCK_HEADER_SIZE + len(bomb), 10, 1)) + bomb
    source = BlockInflater(io.BytesIO(data))
    assert len(source.read(1000)) == 1000
    source.close()


def test_inflated_chooses_by_the_first_header():
    data = blocks([b"hello"])
    assert isinstance(inflated(io.BytesIO(b""), "GZIP", data), BlockInflater)
    ordinary = compress(b"hello", "GZIP")
    assert isinstance(inflated(io.BytesIO(b""), "GZIP", ordinary), Inflater)
    assert read_all(inflated(io.BytesIO(data[20:]), "GZIP", data[:20])) == (b"hello", None)


@given(st.binary(max_size=30), st.lists(st.integers(1, 10)))
def test_prefixed_gives_head_and_rest(data, sizes):
    source = Prefixed(data[:10], io.BytesIO(data[10:]))
    got = b"".join(source.read(size) for size in sizes)
    assert data.startswith(got)
    assert len(got) >= min(len(data), len(sizes))


@given(st.binary(max_size=200), st.sampled_from(["GZIP", "ZLIB"]))
def test_any_bytes_inflate_or_are_a_compression_error(data, compression):
    _, error = read_all(Inflater(Trickle(data, 7), compression), 100)
    assert (error is None) == (data == b"") or error is None
    whole = compress(b"x" * 50, compression)
    got, _ = read_all(Inflater(io.BytesIO(whole + data), compression))
    assert got.startswith(b"x" * 50)


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_one_byte_behind_a_stream_is_something_else_and_not_a_cut(compression):
    stream = zlib.compressobj(wbits=31 if compression == "GZIP" else 15)
    data = stream.compress(b"data" * 100) + stream.flush()
    inflater = Inflater(io.BytesIO(data + b"x"), compression)
    assert inflater.read(1000) == b"data" * 100
    with pytest.raises(CompressionError, match=f"followed by something else at compressed byte {len(data)}"):
        inflater.read(1000)
