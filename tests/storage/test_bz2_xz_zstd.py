"""BZ2, XZ and ZSTD: all members of files that other tools write, damage, and a missing library."""

from __future__ import annotations

import bz2
import errno
import io
import lzma
import random
import struct
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord import (
    CompressionError,
    RecordFile,
    ShardedWriter,
    TFRecordDataset,
    TFRecordOptions,
    TFRecordWriter,
    read_batches,
    read_records,
    salvage,
    scan,
    validate,
)
from purerecord.errors import ClosedError
from purerecord.storage.bz2_xz_zstd import MemberDecompressor, sniff_member
from tests.support.all_readers import Trickle, agreed, outcome
from tests.support.damage import cut, flip_byte, frames, insert, starts
from tests.support.interop import interop
from tests.support.settings import sampled, tries

FORMATS = ("BZ2", "XZ", "ZSTD")
each_format = pytest.mark.parametrize("name", FORMATS)
RANDOM = random.Random(5)
PAYLOADS = [b"%d" % i + RANDOM.randbytes(RANDOM.randint(0, 200)) for i in range(600)]
CLEAN = frames(PAYLOADS)
# A frame of ZSTD without data, as parallel compressors write it.
SKIPPABLE = struct.pack("<II", 0x184D2A50, 4) + b"size"


def compressor(name: str) -> Callable[[bytes], bytes]:
    if name == "ZSTD":
        compress: Callable[[bytes], bytes] = interop("backports.zstd").compress
        return compress
    return bz2.compress if name == "BZ2" else lzma.compress


def members(name: str, size: int = 9000) -> list[bytes]:
    """The file in several members, each of ``size`` plain bytes."""
    compress = compressor(name)
    return [compress(CLEAN[at : at + size]) for at in range(0, len(CLEAN), size)]


def read_all(source: Any, name: str, size: int = 1 << 16) -> tuple[bytes, str]:
    """Everything up to the end or the break, and the message of the break."""
    decompressor = MemberDecompressor(source, name)
    data = b""
    try:
        while piece := decompressor.read(size):
            data += piece
    except CompressionError as error:
        return data, str(error)
    return data, ""


@each_format
@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 300_000])
def test_one_member_is_decompressed(name, size):
    data = random.Random(size).randbytes(size // 2) + bytes(size - size // 2)
    whole = compressor(name)(data)
    assert sniff_member(whole[:12]) == name
    for step in (1000, 1 << 20):
        assert read_all(Trickle(whole, step), name) == (data, "")


@each_format
def test_many_members_are_one_stream(name):
    whole = b"".join([compressor(name)(b""), *members(name, 500)])
    for step in (1, 5000):
        assert read_all(Trickle(whole, step), name) == (CLEAN, "")
    assert list(read_records(io.BytesIO(whole))) == PAYLOADS


def test_padding_of_xz_and_skippable_frames_of_zstd_are_passed_over():
    whole = b"".join(member + bytes(4096 if i else 4) for i, member in enumerate(members("XZ")))
    assert read_all(Trickle(whole, 7), "XZ") == (CLEAN, "")
    whole = b"".join(SKIPPABLE + member for member in members("ZSTD")) + SKIPPABLE
    assert read_all(Trickle(whole, 7), "ZSTD") == (CLEAN, "")
    assert list(read_records(io.BytesIO(whole))) == PAYLOADS


@each_format
def test_files_are_read_by_all_readers_detected_or_declared(tmp_path, name):
    path = tmp_path / "a"
    path.write_bytes(compressor(name)(CLEAN))
    assert agreed(path) == (PAYLOADS, None)
    for compression in ("auto", name):
        assert list(read_records(path, compression=compression)) == PAYLOADS
        assert sum(map(len, read_batches(path, compression=compression))) == len(PAYLOADS)
        assert list(TFRecordDataset(path, compression)) == PAYLOADS
    (report,) = validate(path).files
    assert (report.ok, report.records, report.compression) == (True, len(PAYLOADS), name)
    assert len([*scan(path)]) == len(PAYLOADS)
    records = RecordFile(path)
    assert (len(records), list(records)) == (len(PAYLOADS), PAYLOADS)
    with pytest.raises(io.UnsupportedOperation, match="one cannot seek"):
        records[3]


@each_format
def test_dataset_resumes_inside(tmp_path, name):
    path = tmp_path / "a"
    path.write_bytes(b"".join(members(name)))
    dataset = TFRecordDataset(path).batch(7)
    iterator = iter(dataset)
    for _ in range(20):
        next(iterator)
    again = iter(dataset)
    again.load_state_dict(iterator.state_dict())
    assert [list(batch) for batch in again] == [list(batch) for batch in iterator]


@each_format
def test_every_cut_is_seen_and_loses_nothing_that_can_be_decompressed(tmp_path, name):
    path = tmp_path / "a"
    records = [b"ab", b"", b"xyz" * 9]
    whole = compressor(name)(frames(records[:2])) + compressor(name)(frames(records[2:]))
    first = len(compressor(name)(frames(records[:2])))
    for size in range(13, len(whole)):
        path.write_bytes(cut(whole, size))
        got, error = agreed(path)
        assert got == records[: len(got)]
        assert len(got) >= 2 * (size >= first)
        assert (error is None) == (size == first)


@each_format
def test_every_flipped_byte_is_seen_and_no_record_is_invented(tmp_path, name):
    path = tmp_path / "a"
    records = [b"ab", b"", b"xyz" * 9]
    whole = compressor(name)(frames(records))
    changed = 0
    for at in sampled(range(len(whole)), 40):
        path.write_bytes(flip_byte(whole, at))
        got, error = agreed(path)
        assert got == records[: len(got)]
        assert error is not None or got == records
        changed += error is not None
    # A few bytes of a ZSTD header and of XZ mean nothing for the data.
    assert changed > 30


@each_format
@given(st.integers(0, 10**6), st.sampled_from(["flip", "insert", "cut"]), st.integers(0, 3))
@settings(max_examples=tries(20))
def test_after_a_break_reading_continues_with_the_next_member(name, place, kind, form):
    parts = members(name)
    whole = b"".join(parts)
    number = place % (len(parts) - 1)
    begin = sum(map(len, parts[:number]))
    at = begin + 20 + place % (len(parts[number]) - 20)
    damaged = {
        "flip": flip_byte(whole, at),
        "insert": insert(whole, at, b"?" * 100),
        "cut": whole[:at] + whole[begin + len(parts[number]) :],
    }[kind]
    reader = read_records(Trickle(damaged, (13, 77, 5000, 1 << 20)[form]), on_error="skip")
    got = list(reader)
    # All records are there that lie in other members, and nothing else.
    low, high = 9000 * number, 9000 * (number + 1)
    edges = starts(PAYLOADS)
    outside = [p for p, a, b in zip(PAYLOADS, edges, edges[1:], strict=False) if b <= low - 4096 or a >= high]
    assert [payload for payload in got if payload in set(outside)] == outside
    assert set(got) <= set(PAYLOADS)
    assert reader.skipped > 0 or got == PAYLOADS


@each_format
def test_scan_validate_and_salvage_account_for_every_byte(tmp_path, name):
    parts = members(name)
    source = tmp_path / "a"
    source.write_bytes(flip_byte(b"".join(parts), len(parts[0]) + len(parts[1]) // 2) + b"something else")
    (report,) = validate(source).files
    assert report.compression == name
    assert report.good_bytes + report.damaged_bytes == report.size
    assert report.good_file_bytes + report.damaged_file_bytes == report.file_size == source.stat().st_size
    assert "followed by something else" in str(report.damages[-1])
    saved = salvage(source, tmp_path / "b", quarantine=tmp_path / "bad")
    assert saved.compression == "GZIP"
    assert list(read_records(tmp_path / "b")) == list(read_records(source, on_error="skip"))
    assert list(tmp_path.glob("bad/compressed-*"))


@each_format
def test_what_is_not_of_the_declared_kind_is_said(name):
    with pytest.raises(CompressionError, match=f"the {name} stream does not begin as one"):
        list(read_records(io.BytesIO(CLEAN), compression=name))
    with pytest.raises(CompressionError, match=f"the {name} stream is cut after 40 bytes"):
        list(read_records(io.BytesIO(compressor(name)(CLEAN)[:40])))


@each_format
def test_growing_file_is_read_on(tmp_path, name):
    first, second = compressor(name)(frames([b"one"])), compressor(name)(frames([b"two"]))
    path = tmp_path / "a"
    path.write_bytes(first)
    reader, got = read_records(path), []
    got.extend(reader)
    for size in (3, len(second) - 1):
        path.write_bytes(first + second[:size])
        with pytest.raises(CompressionError):
            got.extend(reader)
    path.write_bytes(first + second)
    got.extend(reader)
    assert got == [b"one", b"two"]


class Failing(io.RawIOBase):
    """Gives pieces, or raises what stands between them."""

    def __init__(self, script: list[bytes | BaseException]) -> None:
        self.script = script

    def read(self, size: int = -1) -> bytes:
        part = self.script.pop(0) if self.script else b""
        if isinstance(part, BaseException):
            raise part
        return part


@each_format
def test_reading_goes_on_exactly_after_an_error_of_the_source(name):
    whole = compressor(name)(CLEAN)
    pieces = [whole[at : at + 3000] for at in range(0, len(whole), 3000)]
    script = [
        part for piece in pieces for part in (OSError(errno.EIO, "not now"), KeyboardInterrupt(), piece)
    ]
    source = MemberDecompressor(Failing(script), name)
    data, errors = b"", 0
    while True:
        try:
            piece = source.read(1 << 16)
        except (OSError, KeyboardInterrupt):
            errors += 1
            continue
        if not piece:
            break
        data += piece
    assert (data, errors) == (CLEAN, 2 * len(pieces))


@each_format
def test_after_an_interrupt_of_the_decompressor_reading_is_refused(name, monkeypatch):
    source = MemberDecompressor(io.BytesIO(compressor(name)(CLEAN)), name)

    def interrupted(piece: bytes) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(source, "_remember", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(iter(lambda: source.read(1 << 16), b""))
    with pytest.raises(ClosedError, match="interrupted"):
        source.read(10)


@pytest.mark.parametrize("write", [TFRecordWriter, ShardedWriter])
@each_format
def test_writers_refuse_in_one_sentence(tmp_path, write, name):
    words = f"{name} files are read but not written"
    for options in (lambda: name, lambda: TFRecordOptions(name)):
        with pytest.raises(ValueError, match=words):
            write(tmp_path / "a@2", options=options())
    assert not list(tmp_path.iterdir())


def test_without_its_library_the_error_names_the_compression_and_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    for module in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    reader = read_records(path, on_error="skip")
    with pytest.raises(ImportError, match=r"compressed with ZSTD, .*purerecord\[zstd\]"):
        next(reader)
    with pytest.raises(ClosedError):  # it refuses to go on
        next(reader)
    (report,) = validate(path).files
    assert "purerecord[zstd]" in (report.error or "")
    monkeypatch.setitem(sys.modules, "lzma", None)
    with pytest.raises(ImportError, match=r"compressed with XZ, .*this build of Python"):
        list(read_records(io.BytesIO(lzma.compress(CLEAN))))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x04\x22\x4d\x18" + bytes(30), "LZ4"),
        (b"\x02\x21\x4c\x18" + bytes(30), "LZ4"),
        (b"\xff\x06\x00\x00sNaPpY" + bytes(30), "Snappy"),
    ],
)
def test_what_is_not_read_is_named(data, kind):
    with pytest.raises(Exception, match=f"the file looks like {kind} data"):
        list(read_records(io.BytesIO(data)))


@pytest.mark.parametrize("name", ["BZ2", "ZSTD", "LZ4"])
def test_files_that_arrow_compresses_are_read_or_named(tmp_path, name):
    path = str(tmp_path / "a")
    with interop("pyarrow").CompressedOutputStream(path, name.lower()) as stream:
        for at in range(0, len(CLEAN), 5000):
            stream.write(CLEAN[at : at + 5000])
    if name == "LZ4":
        with pytest.raises(Exception, match="looks like LZ4 data"):
            list(read_records(path))
    else:
        if name == "ZSTD":
            interop("backports.zstd")
        assert list(read_records(path)) == PAYLOADS


@pytest.mark.parametrize("name", ["BZ2", "XZ"])
def test_files_of_the_standard_library_are_read(tmp_path, name):
    path = tmp_path / "a"
    open_ = bz2.open if name == "BZ2" else lzma.open
    for mode, part in (("wb", PAYLOADS[:300]), ("ab", PAYLOADS[300:])):
        with open_(path, mode) as file:
            for at in range(0, len(frames(part)), 777):
                file.write(frames(part)[at : at + 777])
    assert list(read_records(path)) == PAYLOADS


@given(st.sampled_from(FORMATS[:2]), st.binary(max_size=60), st.integers(0, 200))
@settings(max_examples=tries(60))
def test_any_bytes_give_records_or_an_error_of_ours(name, garbage, size):
    data = compressor(name)(CLEAN[:3000])[:size] + garbage
    for compression in ("auto", name):
        assert outcome(read_records(io.BytesIO(data), compression=compression, on_error="skip")).error is None


def test_a_break_is_found_whatever_the_pieces_of_the_source():
    whole = flip_byte(bz2.compress(CLEAN, 1), 50_000)
    results = {
        read_all(Trickle(whole, step), "BZ2", size) for step in (1, 999, 1 << 20) for size in (1, 1 << 20)
    }
    assert len(results) == 1
