"""Deflating: the options, and output that is the golden files' to the last byte."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import threading
import zlib
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import TFRecordOptions, TFRecordWriter, read_records
from purerecord.storage.compression import as_options, compression_name
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


# Options

NONE, ZLIB, GZIP = 0, 1, 2


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (None, ""),
        ("", ""),
        (0, ""),
        ([], ""),
        ("GZIP", "GZIP"),
        ("ZLIB", "ZLIB"),
        (1, "ZLIB"),
        (2, "GZIP"),
        (TFRecordOptions("GZIP"), "GZIP"),
        (TFRecordOptions(TFRecordOptions("ZLIB")), "ZLIB"),
        (TFRecordOptions(), ""),
        (SimpleNamespace(compression_type="GZIP"), "GZIP"),
        (SimpleNamespace(compression_type=None), ""),
    ],
)
def test_all_names_of_a_compression_are_known(given_, expected):
    assert compression_name(given_) == expected
    assert TFRecordOptions(given_).compression == expected
    assert TFRecordOptions.get_compression_type_string(given_) == expected
    assert as_options(given_).compression == expected


@pytest.mark.parametrize("wrong", ["gzip", "FOO", b"GZIP", 3, -1, "SNAPPY", "auto", object()])
def test_unknown_compression_is_refused_in_tensorflows_words(wrong):
    with pytest.raises(ValueError, match="Not a valid compression_type: "):
        TFRecordOptions(wrong)


@pytest.mark.parametrize(
    ("field", "wrong", "right"),
    [
        ("flush_mode", [-1, 4, 5], [0, 1, 2, 3]),
        ("input_buffer_size", [0, -1], [1, 100, 1 << 30]),
        ("output_buffer_size", [0, 1, -5], [2, 262144]),
        ("window_bits", [0, 7, 16, 24, 32, -8, -16], [8, 9, 15, 25, 31, -9, -15]),
        ("compression_level", [-2, 10, "9"], [-1, 0, 9]),
        ("compression_method", [7, 9], [8]),
        ("mem_level", [0, 10], [1, 9]),
        ("compression_strategy", [-1, 5], [0, 1, 2, 3, 4]),
    ],
)
def test_options_that_zlib_does_not_take_are_refused_at_once(field, wrong, right):
    for value in wrong:
        with pytest.raises(ValueError, match=field):
            TFRecordOptions("GZIP", **{field: value})
        assert TFRecordOptions("", **{field: value}).compression == ""  # as in TensorFlow: it means nothing
    for value in right:
        options = TFRecordOptions("GZIP", **{field: value})
        assert getattr(options, field) == value
        assert deflate(options) is not None


def test_fields_are_tensorflows_in_its_order():
    names = list(TFRecordOptions.__dataclass_fields__)
    assert names == [
        "compression_type",
        "flush_mode",
        "input_buffer_size",
        "output_buffer_size",
        "window_bits",
        "compression_level",
        "compression_method",
        "mem_level",
        "compression_strategy",
        "block_size",
    ]


def test_options_around_options_keep_their_own_fields():
    inner = TFRecordOptions("GZIP", compression_level=1)
    assert as_options(TFRecordOptions(inner, compression_level=9)) == TFRecordOptions(
        "GZIP", compression_level=9
    )
    foreign = SimpleNamespace(compression_type="ZLIB", compression_level=3, window_bits=None)
    assert as_options(foreign) == TFRecordOptions("ZLIB", compression_level=3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"compression_type": "", "block_size": 100},
        {"compression_type": "ZLIB", "block_size": 100},
        {"compression_type": "GZIP", "block_size": 0},
        {"compression_type": "GZIP", "block_size": 100, "window_bits": 15},
        {"compression_type": "GZIP", "block_size": 100, "flush_mode": 2},
    ],
)
def test_impossible_block_options_are_refused(wrong):
    with pytest.raises(ValueError, match="block_size"):
        TFRecordOptions(**wrong)


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
