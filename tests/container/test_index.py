"""Index files: three formats told apart by content, hostile bytes, and data that is not whole."""

from __future__ import annotations

import io
import os
import random
import re
import struct
from contextlib import closing
from itertools import pairwise

import numpy as np
import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from purerecord import (
    ChecksumError,
    CompressionError,
    CorruptionError,
    Index,
    PureRecordError,
    RecordFile,
    StaleIndexError,
    TFRecordDataset,
    TFRecordOptions,
    TFRecordWriter,
    TruncatedError,
    build_index,
    load_index,
)
from purerecord.container import index
from purerecord.storage.file_handles import OpenFile
from purerecord.storage.inflate import BLOCK_HEADER_SIZE, decode_block_header, encode_block_header
from tests.support.damage import (
    HEADER,
    OVERHEAD,
    cut,
    fix_crc,
    flip_bit,
    flip_byte,
    frames,
    header,
    set_length,
    starts,
)
from tests.support.other_systems import replace_as_windows
from tests.support.settings import sampled

RECORDS = [b"one", b"", b"three" * 10, b"x" * 300]
BLOCKED = TFRecordOptions("GZIP", block_size=100)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file.tfrecord"
    path.write_bytes(frames(RECORDS))
    return path


@pytest.fixture
def blocked(tmp_path):
    path = tmp_path / "blocked.tfrecord"
    with TFRecordWriter(path, BLOCKED) as writer:
        writer.write_many(RECORDS * 3)
    return path


def saved(index_: Index, path, **more) -> bytes:
    index_.save(path, **more)
    return path.read_bytes()


def load(tmp_path, data: bytes) -> Index:
    (tmp_path / "index").write_bytes(data)
    return load_index(tmp_path / "index")


# Building


def test_index_says_where_each_frame_lies(path):
    found = build_index(path)
    edges = starts(RECORDS)
    assert found.offsets.tolist() == edges[:-1]
    assert (found.offsets + found.sizes).tolist() == edges[1:]
    assert (len(found), found.data_size) == (4, edges[-1])
    assert repr(found) == "<Index: 4 records>"


@given(st.lists(st.integers(0, 3000), max_size=40))
def test_every_byte_of_the_file_is_in_one_entry(tmp_path, lengths):
    path = tmp_path / "file"
    path.write_bytes(frames(map(bytes, lengths)))
    found = build_index(path)
    assert (found.sizes - OVERHEAD).tolist() == lengths
    assert int(found.sizes.sum()) == path.stat().st_size


@pytest.mark.parametrize(
    "lengths",
    [
        [10] * 200_000,
        [i % 100 for i in range(100_000)],
        [20_000] * 300,
        [20_000] * 100 + [5] * 5000 + [30_000] * 100,
        [3_000_000, 0, 3_000_000],
        [5] * 3000 + [5_000_000, 1],
        [(1 << 20) - 16 - 16, 0, 0],
        [(1 << 20) - 16 - 6, 0, 0],
    ],
)
def test_small_and_large_records_are_walked_alike(tmp_path, lengths):
    path = tmp_path / "file"
    with TFRecordWriter(path) as writer:
        writer.write_many(map(bytes, lengths))
    assert np.array_equal(build_index(path).sizes, np.array(lengths) + OVERHEAD)


def test_blocked_index_says_where_the_members_lie(blocked):
    found = build_index(blocked)
    assert len(found) == 12
    assert int(found.sizes.sum()) == found.data_size == blocked.stat().st_size
    assert found.first_records[0] == 0
    assert "in" in repr(found)
    assert "blocks" in repr(found)


def test_empty_file_has_an_empty_index(tmp_path):
    path = tmp_path / "empty"
    path.write_bytes(b"")
    found = build_index(path)
    assert len(found) == 0
    assert load(tmp_path, saved(found, tmp_path / "own")) == found
    assert load(tmp_path, saved(found, tmp_path / "text", format="text")) == found


# Data that is not whole is never indexed


def test_no_cut_file_is_indexed(path):
    data = path.read_bytes()
    edges = starts(RECORDS)
    for size in sampled(range(len(data)), 150):
        path.write_bytes(cut(data, size))
        if size in edges:
            assert len(build_index(path)) == edges.index(size)
            continue
        with pytest.raises(TruncatedError) as caught:
            build_index(path)
        whole = sum(edge <= size for edge in edges) - 1
        assert (caught.value.record, caught.value.offset) == (whole, edges[whole])
        assert caught.value.path == str(path)


def test_no_file_with_a_flipped_bit_in_a_header_is_indexed(path):
    data = path.read_bytes()
    for number, start in enumerate(starts(RECORDS)[:-1]):
        for bit in sampled(range(8 * HEADER), 24):
            path.write_bytes(flip_bit(data, 8 * start + bit))
            with pytest.raises(CorruptionError) as caught:
                build_index(path)
            assert (caught.value.record, caught.value.offset) == (number, start)


@pytest.mark.parametrize("count", [3, 5000], ids=["few", "many"])
@pytest.mark.parametrize("length", [10, 20_000])
def test_damage_far_behind_is_found_by_every_kind_of_walk(tmp_path, count, length):
    path = tmp_path / "file"
    count = min(count, 300) if length > 10 else count
    data = frames([bytes(length)] * count)
    at = len(data) - length - OVERHEAD
    for damaged, error in (
        (set_length(data, at, 5), ChecksumError),
        (fix_crc(set_length(data, at, length + 1), at), TruncatedError),
        (fix_crc(set_length(data, at, 2**63), at), TruncatedError),
        (data[:-1], TruncatedError),
        (data + b"\x00", TruncatedError),
        (data + bytes(12), ChecksumError),
    ):
        path.write_bytes(damaged)
        with pytest.raises(error):
            build_index(path)


def test_wrong_length_with_a_right_crc_that_leads_astray_is_found(path):
    data = fix_crc(set_length(path.read_bytes(), 0, 3 + 16), 0)  # swallows the next record
    path.write_bytes(data)
    found = build_index(path)  # the lengths do not reveal it; the data CRC will
    assert len(found) == 3
    with pytest.raises(ChecksumError):
        RecordFile(path)[0]


def test_no_cut_or_damaged_block_header_is_indexed(blocked):
    data = blocked.read_bytes()
    found = build_index(blocked)
    edges = {0, *(found.offsets + found.sizes).tolist()}
    for size in sampled(range(1, len(data), 7), 100):
        if size not in edges:
            blocked.write_bytes(cut(data, size))
            with pytest.raises((PureRecordError, io.UnsupportedOperation)):
                build_index(blocked)
    for offset in found.offsets.tolist():
        for at in sampled(range(offset, offset + 42), 12):
            blocked.write_bytes(flip_byte(data, at, 1 << at % 8))
            with pytest.raises((PureRecordError, io.UnsupportedOperation)):
                build_index(blocked)


def test_file_that_becomes_shorter_meanwhile_is_truncated(tmp_path):
    path = tmp_path / "file"
    data = frames([bytes(50)] * 10)
    path.write_bytes(data)
    with closing(OpenFile(str(path))) as file:
        with pytest.raises(TruncatedError):
            list(index._frame_sizes(file, len(data) + 100))
        path.write_bytes(data[:-70])
        with pytest.raises(TruncatedError):
            list(index._frame_sizes(file, len(data)))


def test_a_folder_has_no_index(tmp_path):
    with pytest.raises(IsADirectoryError, match=re.escape(str(tmp_path))):
        build_index(tmp_path)


def test_missing_file_is_refused(tmp_path):
    for use in (build_index, load_index):
        with pytest.raises(FileNotFoundError):
            use(tmp_path / "missing")


# Our own format


def test_own_format_is_as_documented(path):
    data = saved(build_index(path), path.with_suffix(".index"))
    magic, version, is_blocked, size, _, count = struct.unpack_from("<8sIIQQQ", data)
    assert (magic, version, is_blocked) == (b"\x89PRIDX\r\n", 1, 0)
    assert (size, count) == (path.stat().st_size, 4)
    assert struct.unpack_from("<4Q", data, 40) == tuple(len(record) + OVERHEAD for record in RECORDS)
    assert struct.unpack("<I", data[-4:])[0] == crc32c(data[:-4])
    assert len(data) == 40 + 32 + 4


@pytest.mark.parametrize("which", ["path", "blocked"])
def test_own_format_comes_back_equal(tmp_path, which, request):
    path = request.getfixturevalue(which)
    found = build_index(path)
    again = load(tmp_path, saved(found, tmp_path / "own"))
    assert again == found
    assert (again.data_size, again.fingerprint) == (found.data_size, found.fingerprint)
    again.check(path)


@pytest.mark.parametrize("which", ["path", "blocked"])
def test_every_damaged_byte_and_every_cut_of_an_index_is_refused(tmp_path, which, request):
    data = saved(build_index(request.getfixturevalue(which)), tmp_path / "own")
    for at in sampled(range(len(data)), 100):
        for damaged in (flip_byte(data, at), flip_byte(data, at, 1), cut(data, at)):
            if damaged == b"":
                continue  # the empty text index, which fits no file but an empty one
            with pytest.raises(CorruptionError) as caught:
                load(tmp_path, damaged)
            assert str(tmp_path / "index") in str(caught.value)
    with pytest.raises(CorruptionError):
        load(tmp_path, data + b"\x00")


def forged(entries: list[int], *, version=1, is_blocked=0, size=None, count=None) -> bytes:
    """An index with arbitrary content and a matching CRC."""
    size = sum(entries) if size is None else size
    count = len(entries) if count is None else count
    body = struct.pack("<8sIIQQQ", b"\x89PRIDX\r\n", version, is_blocked, size % 2**64, 0, count)
    body += struct.pack(f"<{len(entries)}Q", *entries)
    return body + struct.pack("<I", crc32c(body))


@pytest.mark.parametrize(
    "data",
    [
        forged([16], version=2),
        forged([16], is_blocked=2),
        forged([16], count=2),
        forged([16], count=2**61),
        forged([16], size=17),
        forged([2**63, 2**63], size=0),
        forged([2**64 - 1, 17]),
        forged([2**62, 2**62, 2**62, 2**62]),
        forged([100, 2**64 - 1, 100, 2**64 - 1], is_blocked=1, count=2, size=200),
    ],
)
def test_forged_index_is_refused(tmp_path, data):
    with pytest.raises(CorruptionError, match="build it anew"):
        load(tmp_path, data)


@given(st.lists(st.integers(0, 80), max_size=8), st.booleans())
def test_forged_index_that_fits_gives_no_wrong_record(tmp_path, sizes, is_blocked):
    path = tmp_path / "file"
    path.write_bytes(frames(RECORDS[:3]))
    rest = path.stat().st_size - sum(sizes)
    if rest < 0:
        return
    entries = [*sizes, rest]
    found = build_index(path)
    if is_blocked:
        entries = [number for size in entries for number in (size, 1)]
    body = forged(entries, is_blocked=is_blocked, size=found.data_size, count=len(sizes) + 1)[:-4]
    body = body[:24] + struct.pack("<Q", found.fingerprint) + body[32:]
    (tmp_path / "index").write_bytes(body + struct.pack("<I", crc32c(body)))
    records = RecordFile(path, index=tmp_path / "index")
    for number in range(len(records)):
        try:
            record = records[number]
        except PureRecordError:
            continue
        assert record in RECORDS[:3]


def with_counts(path, counts: list[int], sizes: list[int] | None = None) -> bytes:
    """The index of the blocked file at ``path`` with other numbers of records, which its CRC matches."""
    found = build_index(path)
    entries = [n for pair in zip(sizes or found.sizes.tolist(), counts, strict=True) for n in pair]
    body = forged(entries, is_blocked=1, size=found.data_size, count=len(counts))[:-4]
    body = body[:24] + struct.pack("<Q", found.fingerprint) + body[32:]
    return body + struct.pack("<I", crc32c(body))


WRONG_COUNTS = {
    "none": lambda counts: [0] * len(counts),
    "none in the first": lambda counts: [0, *counts[1:]],
    "none in the last": lambda counts: [*counts[:-1], 0],
    "one too few": lambda counts: [counts[0] - 1, *counts[1:]],
    "one too many": lambda counts: [*counts[:-1], counts[-1] + 1],
    "of the next": lambda counts: [counts[0] + counts[1], 0, *counts[2:]],
    "10**12": lambda counts: [10**12] * len(counts),
    "2**60": lambda counts: [2**60, *counts[1:]],
}


@pytest.mark.parametrize("change", WRONG_COUNTS.values(), ids=WRONG_COUNTS)
def test_index_with_wrong_numbers_of_records_is_refused_by_every_access(tmp_path, blocked, change):
    found = build_index(blocked)
    right = np.diff([*found.first_records.tolist(), len(found)]).tolist()
    assert len(right) > 2
    target = tmp_path / "blocked.tfrecord.index"  # where RecordFile and datasets find it
    target.write_bytes(with_counts(blocked, right))
    assert list(RecordFile(blocked)) == RECORDS * 3
    target.write_bytes(with_counts(blocked, change(right)))
    for access in (
        lambda: len(RecordFile(blocked)),
        lambda: list(RecordFile(blocked)),
        lambda: RecordFile(blocked)[0],
        lambda: RecordFile(blocked)[-1],
        lambda: list(TFRecordDataset(blocked).global_shuffle(1)),
    ):
        with pytest.raises((StaleIndexError, CorruptionError), match="build it anew") as caught:
            access()
        assert str(target) in str(caught.value)


def test_saved_index_still_reaches_the_blocks_around_a_damaged_header(tmp_path, blocked):
    found = build_index(blocked)
    found.save(tmp_path / "index")
    data = blocked.read_bytes()
    blocked.write_bytes(flip_byte(data, int(found.offsets[1]) + 20))
    found.fingerprint = build_fingerprint(blocked)
    found.save(tmp_path / "index")
    records = RecordFile(blocked, index=tmp_path / "index")
    assert len(records) == 12
    first, second = found.first_records[1:3].tolist()
    for number in range(12):
        if first <= number < second:
            with pytest.raises(CompressionError):
                records[number]
        else:
            assert records[number] == (RECORDS * 3)[number]


def build_fingerprint(path) -> int:
    with closing(OpenFile(str(path))) as file:
        return index._fingerprint(file, path.stat().st_size)


def test_block_whose_header_says_no_records_is_not_indexed(blocked):
    data = bytearray(blocked.read_bytes())
    block = decode_block_header(bytes(data))
    data[:BLOCK_HEADER_SIZE] = encode_block_header(block._replace(records=0))
    found = build_index(blocked)
    blocked.write_bytes(data)
    with pytest.raises(CompressionError, match="cut or damaged"):
        build_index(blocked)
    found.fingerprint = build_fingerprint(blocked)
    with pytest.raises(StaleIndexError, match="block 0, at byte 0"):
        found.check(blocked)


@given(st.binary(max_size=120))
def test_any_bytes_are_an_index_or_a_corruption_error(tmp_path, data):
    for hostile in (data, b"\x89PRIDX\r\n" + data, struct.pack("<Q", len(data) // 24) + data):
        try:
            found = load(tmp_path, hostile)
        except CorruptionError:
            continue
        assert int(found.sizes.sum()) >= 0


# Others' formats

TEXT = "".join(f"{begin} {end - begin}\n" for begin, end in pairwise(starts(RECORDS)))


def tfr_reader(records: list[bytes]) -> bytes:
    edges = starts(records)
    rows = [struct.pack("<3Q", begin, end, end - begin - OVERHEAD) for begin, end in pairwise(edges)]
    return struct.pack("<Q", len(records)) + b"".join(rows)


def test_text_is_written_as_dali_does(path):
    assert saved(build_index(path), path.with_suffix(".idx"), format="text").decode() == TEXT


@pytest.mark.parametrize(
    "text", [TEXT, TEXT.rstrip("\n"), TEXT.replace("\n", "\r\n"), TEXT.replace(" ", "\t"), TEXT + "\n\n"]
)
def test_text_is_read_in_all_its_spellings(tmp_path, path, text):
    found = load(tmp_path, text.encode())
    assert found == build_index(path)
    assert list(RecordFile(path, index=found)) == RECORDS


def test_text_of_one_line_is_read(tmp_path):
    path = tmp_path / "one"
    path.write_bytes(frames([b"hello"]))
    for text in (b"0 21\n", b"0 21"):
        assert list(RecordFile(path, index=load(tmp_path, text))) == [b"hello"]


@pytest.mark.parametrize("count", [0, 1, 4])
def test_binary_of_tfr_reader_is_read(tmp_path, count):
    path = tmp_path / "file"
    path.write_bytes(frames(RECORDS[:count]))
    found = load(tmp_path, tfr_reader(RECORDS[:count]))
    assert found == build_index(path)
    assert list(RecordFile(path, index=found)) == RECORDS[:count]


def test_content_decides_and_not_the_name(tmp_path, path):
    for name in ("a.idx", "a.index", "a.txt"):
        for data in (TEXT.encode(), tfr_reader(RECORDS), saved(build_index(path), tmp_path / "own")):
            (tmp_path / name).write_bytes(data)
            assert load_index(tmp_path / name) == build_index(path)


@pytest.mark.parametrize(
    "data",
    [
        b"0 16\n16\n",
        b"0\n16\n",
        b"0 16 16 16\n",
        b"0 16\n17 16\n",
        b"1 16\n",
        b"0 15\n",
        b"0 -16\n",
        b"0 +16\n",
        b"0 1_6\n",
        b"0 16.0\n",
        b"0 0x10\n",
        b"0 16\njunk\n",
        b"0 99999999999999999999999\n",
        b"0 9999999999999999999\n",
        b"0 000000000000000000016\n",
        b"60 21\n",
        b"version https://git-lfs.github.com/spec/v1\n",
        b"<html></html>",
        b"\x00",
        struct.pack("<4Q", 1, 0, 20, 5),
        struct.pack("<4Q", 1, 5, 26, 5),
        struct.pack("<7Q", 2, 0, 21, 5, 22, 43, 5),
        tfr_reader(RECORDS)[:-1],
        frames([b"hello"]),
    ],
)
def test_what_is_no_index_or_one_of_damaged_data_is_refused(tmp_path, data):
    with pytest.raises(CorruptionError, match=r"index"):
        load(tmp_path, data)


def test_foreign_index_that_misses_records_is_stale(tmp_path, path):
    (tmp_path / "index").write_bytes(TEXT.encode().splitlines(keepends=True)[0])
    with pytest.raises(StaleIndexError, match="build it anew"):
        RecordFile(path, index=tmp_path / "index")[0]


def test_foreign_index_cannot_be_saved_as_our_own(tmp_path):
    with pytest.raises(ValueError, match="build it anew"):
        load(tmp_path, TEXT.encode()).save(tmp_path / "own")


def test_blocked_index_cannot_be_saved_as_text(tmp_path, blocked):
    with pytest.raises(ValueError, match="text format"):
        build_index(blocked).save(tmp_path / "text", format="text")
    with pytest.raises(ValueError, match="format must be"):
        build_index(blocked).save(tmp_path / "x", format="csv")


# Saving and staleness


def test_failed_save_leaves_the_old_index(tmp_path, path):
    target = tmp_path / "folder.index"
    target.mkdir()
    with pytest.raises(OSError):  # noqa: PT011 - which one is the system's business
        build_index(path).save(target)
    assert target.is_dir()


def test_check_knows_size_and_both_ends_of_the_data(tmp_path):
    path = tmp_path / "file"
    data = frames([random.Random(0).randbytes(1000) for _ in range(300)])
    path.write_bytes(data)
    found = build_index(path)
    found.check(path)
    for damaged in (data[:-1], data + b"x", flip_byte(data, 20), flip_byte(data, len(data) - 20)):
        path.write_bytes(damaged)
        with pytest.raises(StaleIndexError):
            found.check(path)
    os.unlink(path)
    with pytest.raises(FileNotFoundError):
        found.check(path)


def test_indexes_of_different_files_differ(path, blocked):
    assert build_index(path) == build_index(path)
    assert build_index(path) != build_index(blocked)
    assert build_index(path) != "index"
    with pytest.raises(TypeError):
        hash(build_index(path))


def test_absurd_length_with_a_valid_crc_is_not_indexed(tmp_path):
    path = tmp_path / "file"
    for length in (2**40, 2**63, 2**64 - 1, 2**64 - 16):
        path.write_bytes(frames([b"x"] * 3) + header(length) + bytes(100))
        with pytest.raises(TruncatedError):
            build_index(path)


def test_what_is_no_tfrecord_is_named_when_it_is_indexed(tmp_path):
    path = tmp_path / "page.tfrecord"
    path.write_bytes(b"<html><body>not found</body></html>")
    with pytest.raises(ChecksumError, match="looks like an HTML page"):
        build_index(path)


def test_an_index_that_cannot_be_saved_leaves_nothing(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(frames([b"a"]))
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        build_index(path).save(tmp_path / "taken")
    assert sorted(os.listdir(tmp_path)) == ["file", "taken"]


def test_a_file_url_is_indexed_like_its_path(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(frames([b"a"]))
    assert build_index(f"file://{path}") == build_index(path)


def test_index_that_a_program_has_open_on_windows_is_named_and_stays(path, tmp_path, monkeypatch):
    target = tmp_path / "its.index"
    target.write_bytes(b"old")
    replace_as_windows(monkeypatch, target)
    with pytest.raises(PermissionError, match=r"a program has the old one open: .*its\.index"):
        build_index(path).save(target)
    assert target.read_bytes() == b"old"
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
