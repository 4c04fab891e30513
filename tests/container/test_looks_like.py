"""What a file is, judged by its first bytes: its compression, or a known file of another kind."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import zlib

import pytest

from purerecord import (
    ChecksumError,
    CompressionError,
    TFRecordDataset,
    TFRecordOptions,
    TFRecordWriter,
    build_index,
    read_records,
    validate,
)
from purerecord.container.looks_like import detect, looks_like, open_source, sniff, wrong_file_hint
from tests.support.damage import (
    frame,
    frames,
)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"PK\x03\x04", "zip archive"),
        (b"  <!DOCTYPE HTML>", "HTML"),
        (b"<html>", "HTML"),
        (b"PAR1", "Parquet"),
        (b"plain text\n", "text"),
    ],
)
def test_what_is_no_tfrecord_is_recognised(head, words):
    assert words in looks_like(head)


def test_what_is_unknown_is_not_guessed():
    assert looks_like(b"\x00\x01\x02") is None
    assert looks_like(b"") is None


RECORDS = [b"one", b"", b"three" * 100]
DATA = frames(RECORDS)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (DATA, ""),
        (gzip.compress(DATA, mtime=0), "GZIP"),
        (zlib.compress(DATA), "ZLIB"),
        (bz2.compress(DATA), "BZ2"),
        (bz2.compress(b""), "BZ2"),
        (lzma.compress(DATA), "XZ"),
        (b"\x28\xb5\x2f\xfd" + bytes(20), "ZSTD"),
        (b"BZh9 is how this text begins", ""),
        (b"", ""),
        (DATA[:11], ""),
        (b"something else", ""),
    ],
)
def test_compression_is_found_from_the_content(data, expected):
    assert detect(data) == expected


def test_plain_file_that_begins_like_a_compressed_one_is_plain():
    # The length decides: its CRC holds.
    for length in (0x8B1F, 0x9C78, 0x0178, 0x5A42):
        payload = bytes(length)
        assert detect(frame(payload)[:4096]) == ""
        assert list(read_records(io.BytesIO(frame(payload)))) == [payload]


WBITS = {"GZIP": 31, "ZLIB": 15}


def compress(data: bytes, compression: str, level: int = -1) -> bytes:
    stream = zlib.compressobj(level, zlib.DEFLATED, WBITS[compression])
    return stream.compress(data) + stream.flush()


def text(size: int, seed: int = 0) -> bytes:
    """Bytes that compress to about half."""
    return bytes(random.Random(seed).choices(b"abcdefghijklmnop", k=size))


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"", ""),
        (b"\x1f\x8b", "GZIP"),
        (b"\x1f\x8b\x08\x00", "GZIP"),
        (compress(b"hello" * 9, "ZLIB"), "ZLIB"),
        (compress(b"", "ZLIB"), "ZLIB"),
        (compress(text(3000), "ZLIB", 9)[:20], "ZLIB"),
        (b"\x78\x9c", "ZLIB"),
        (b"\x78\x9c" + b"\xff" * 10, ""),
        (b"\x78\x9d" + compress(b"hello", "ZLIB")[2:], ""),
        (b"hello, world", ""),
    ],
)
def test_sniff_tells_compression_by_the_content(head, expected):
    assert sniff(head) == expected


def test_every_window_size_of_zlib_is_known():
    for bits in range(9, 16):
        stream = zlib.compressobj(wbits=bits)
        assert sniff(stream.compress(b"hello") + stream.flush()) == "ZLIB"


def test_hint_names_the_other_kind_or_asks():
    assert wrong_file_hint(b"PAR1") == "; the file looks like a Parquet file"
    assert wrong_file_hint(b"\x00\x01") == "; is this a TFRecord file?"


def test_source_is_opened_with_the_compression_it_has_or_is_said_to_have():
    source = open_source(io.BytesIO(gzip.compress(DATA)))
    assert (source.read(len(DATA)), source.compression) == (DATA, "GZIP")
    assert open_source(io.BytesIO(DATA), "").read(len(DATA)) == DATA


@pytest.mark.parametrize("damage", [b"\0" * 5000, b"\xff" * 100], ids=["zeros", "garbage"])
def test_blocked_gzip_with_damaged_first_bytes_is_taken_for_gzip_in_every_message(tmp_path, damage):
    path = tmp_path / "file"
    records = [random.Random(number).randbytes(500) for number in range(500)]
    with TFRecordWriter(path, TFRecordOptions("GZIP", block_size=1 << 14)) as writer:
        writer.write_many(records)
    data = path.read_bytes()
    path.write_bytes(damage + data[len(damage) :])
    hint = 'GZIP data whose first bytes are damaged; open it with compression="GZIP"'
    for read in (
        lambda: list(read_records(path)),
        lambda: list(TFRecordDataset(path)),
        lambda: build_index(path),
    ):
        with pytest.raises(ChecksumError, match="length checksum") as caught:
            read()
        assert str(caught.value).endswith(f"the file looks like {hint}")
    (file,) = validate(path).files
    assert [(found.kind, found.detail) for found in file.damages] == [
        ("not a TFRecord", f"it looks like {hint}")
    ]
    saved = list(read_records(path, compression="GZIP", on_error="skip"))
    assert len(saved) > 400
    assert saved == records[-len(saved) :]


def test_gzip_that_is_opened_as_zlib_is_named(tmp_path):
    path = tmp_path / "file"
    with TFRecordWriter(path, "GZIP") as writer:
        writer.write(b"hello")
    with pytest.raises(CompressionError, match='it looks like GZIP data: open it with compression="GZIP"'):
        list(read_records(path, compression="ZLIB"))
