"""Deflating: output that equals the golden files to the last byte, flushes and blocks."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import threading
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import TFRecordOptions, TFRecordWriter, read_records
from purerecord.storage.deflate import BlockDeflater, Deflater, deflate
from purerecord.storage.inflate import decode_block_header
from tests.support.damage import frames
from tests.support.places import CORPUS

TWINS = {path.stem: json.loads(path.read_text()) for path in sorted(CORPUS.glob("*.json"))}
WRITTEN = [name for name, twin in TWINS.items() if "options" in twin]

needs_zlib = pytest.mark.skipif(
    "ng" in zlib.ZLIB_RUNTIME_VERSION, reason="this Python has another deflate: valid bytes, but other ones"
)


@needs_zlib
@pytest.mark.parametrize("name", WRITTEN)
def test_the_golden_file_comes_out_again(tmp_path, name):
    twin = TWINS[name]
    golden = CORPUS / f"{name}.tfrecord"
    with TFRecordWriter(tmp_path / name, TFRecordOptions(**twin["options"])) as writer:
        for number, record in enumerate(read_records(golden), 1):
            writer.write(record)
            if twin["flush_every"] and number % twin["flush_every"] == 0:
                writer.flush()
    data = (tmp_path / name).read_bytes()
    assert len(data) == twin["size"]
    assert hashlib.sha256(data).hexdigest() == twin["sha256"]
    assert data == golden.read_bytes()


@needs_zlib
@pytest.mark.parametrize("name", [name for name in WRITTEN if not TWINS[name]["flush_every"]])
def test_write_many_gives_the_golden_file_too(tmp_path, name):
    golden = CORPUS / f"{name}.tfrecord"
    with TFRecordWriter(tmp_path / name, TFRecordOptions(**TWINS[name]["options"])) as writer:
        writer.write_many(read_records(golden))
    assert (tmp_path / name).read_bytes() == golden.read_bytes()


@needs_zlib
def test_large_golden_file_shows_the_memory_level(tmp_path):
    golden = CORPUS / "mixed.gzip.tfrecord"
    with TFRecordWriter(tmp_path / "other", TFRecordOptions("GZIP", mem_level=8)) as writer:
        writer.write_many(read_records(golden))
    assert (tmp_path / "other").read_bytes() != golden.read_bytes()


# Streams


def pieces(seed: int, count: int) -> list[bytes]:
    rng = random.Random(seed)
    return [rng.choice([rng.randbytes, bytes])(rng.randrange(200)) for _ in range(count)]


@given(
    st.lists(st.binary(max_size=50), max_size=10),
    st.sampled_from(["GZIP", "ZLIB"]),
    st.sampled_from([0, 1, 2, 3]),
    st.integers(1, 80),
    st.sets(st.integers(0, 10)),
)
def test_whatever_the_flushes_the_bytes_inflate_again(parts, compression, flush_mode, buffer, flush_after):
    options = TFRecordOptions(compression, flush_mode=flush_mode, input_buffer_size=buffer)
    deflater = Deflater(options)
    out, stream = b"", zlib.decompressobj(31 if compression == "GZIP" else 15)
    for number, part in enumerate(parts):
        out += deflater.write([part], 1)
        if number in flush_after:
            out += deflater.flush()
            assert stream.decompress(out) == b"".join(parts[: number + 1])  # all is there after a flush
            stream = zlib.decompressobj(31 if compression == "GZIP" else 15)
    out += deflater.finish()
    assert stream.decompress(out) == b"".join(parts)
    assert stream.eof


def test_second_flush_adds_nothing():
    deflater = Deflater(TFRecordOptions("GZIP"))
    assert deflater.write([b"hello"], 1) + deflater.flush()
    assert deflater.flush() == b""


def test_blocks_hold_about_as_much_as_asked_for():
    deflater = BlockDeflater(TFRecordOptions("GZIP", block_size=1000))
    parts = pieces(3, 200)
    data = b"".join([deflater.write([part], 1) for part in parts] + [deflater.finish()])
    assert gzip.decompress(data) == b"".join(parts)
    found = []
    while data:
        block = decode_block_header(data)
        found.append(block)
        data = data[block.size :]
    assert sum(block.records for block in found) == 200
    assert all(1000 <= block.data_size < 1200 for block in found[:-1])
    assert 0 < found[-1].data_size < 1200


def test_blocks_after_a_flush_are_whole():
    deflater = BlockDeflater(TFRecordOptions("GZIP", block_size=1 << 20))
    data = deflater.write([frames([b"one"])], 1) + deflater.flush()
    assert gzip.decompress(data) == frames([b"one"])
    assert deflater.flush() == b""
    data += deflater.write([frames([b"two"])], 1) + deflater.finish()
    assert gzip.decompress(data) == frames([b"one", b"two"])


def test_block_file_without_records_is_a_gzip_file():
    assert gzip.decompress(BlockDeflater(TFRecordOptions("GZIP", block_size=1)).finish()) == b""


@pytest.mark.parametrize("level", [1, 6, 9])
def test_blocks_follow_the_level(level):
    parts = [bytes(random.Random(0).choices(b"abcdefgh", k=20_000))]
    sizes = []
    for chosen in (level, 0):
        deflater = BlockDeflater(TFRecordOptions("GZIP", block_size=1, compression_level=chosen))
        sizes.append(len(deflater.write(parts, 1) + deflater.finish()))
    assert sizes[0] < sizes[1]


def test_no_compression_needs_no_deflater():
    assert deflate(TFRecordOptions()) is None
    assert isinstance(deflate(TFRecordOptions("ZLIB")), Deflater)
    assert isinstance(deflate(TFRecordOptions("GZIP", block_size=1)), BlockDeflater)


def test_threads_end_when_a_writer_is_abandoned(tmp_path):
    def threads() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name.startswith("purerecord-deflate")}

    before = threads()
    writer = TFRecordWriter(tmp_path / "a", TFRecordOptions("GZIP", block_size=1000), atomic=True)
    writer.write_many([bytes(500)] * 50)
    started = threads() - before
    assert started
    writer.abandon()
    for thread in started:
        thread.join(10)
        assert not thread.is_alive()
