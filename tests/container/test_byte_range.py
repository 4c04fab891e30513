"""Parts of a file: together they give every record exactly once, damaged or not."""

from __future__ import annotations

import gzip
import io
from itertools import cycle, pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord import CompressionError, CorruptionError, StaleIndexError, TFRecordWriter, read_batches
from purerecord.container.byte_range import RangeReader, splits
from purerecord.storage import deflate
from purerecord.storage.compression import TFRecordOptions
from purerecord.storage.inflate import BLOCK_HEADER_SIZE
from tests.support import damage
from tests.support.damage import frames
from tests.support.faulty_store import URL, FaultyObject, stored_as

RECORDS = [bytes([i % 251]) * (i * 13 % 97) for i in range(200)]
NUMBERED = [b"%d " % i + record for i, record in enumerate(RECORDS)]


def part(path, begin, end, **arguments) -> list[bytes]:
    return [record for batch in read_batches(path, byte_range=(begin, end), **arguments) for record in batch]


@given(
    sizes=st.lists(st.integers(0, 60), max_size=25),
    cuts=st.lists(st.integers(0, 2000), max_size=6),
    batch_size=st.sampled_from([None, 1, 3]),
)
def test_parts_give_every_record_exactly_once(tmp_path, sizes, cuts, batch_size):
    records = [b"%d " % i + bytes(size) for i, size in enumerate(sizes)]
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames(records))
    edges = [0, *sorted(cuts), None]
    found = [part(path, *edges[i : i + 2], batch_size=batch_size) for i in range(len(edges) - 1)]
    assert [record for some in found for record in some] == records


def test_a_part_has_the_records_whose_frames_begin_in_it(tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames([b"x" * 84] * 10))  # 100 bytes each
    assert len(part(path, 0, 500)) == 5
    assert len(part(path, 1, 500)) == 4
    assert len(part(path, 0, 501)) == 6
    assert part(path, 901, None) == []


@pytest.mark.parametrize("block_size", [None, 300])
@given(lost=st.integers(0, 500), cuts=st.lists(st.integers(0, 4000), max_size=4))
def test_tail_ends_a_file_of_parts_where_it_ends_a_whole_file(tmp_path, block_size, lost, cuts):
    path = tmp_path / "a.tfrecord"
    options = TFRecordOptions("GZIP", block_size=block_size) if block_size else None
    with TFRecordWriter(path, options) as writer:
        writer.write_many(NUMBERED)
    path.write_bytes(damage.cut(path.read_bytes(), path.stat().st_size - lost))
    compression = "GZIP" if block_size else ""
    whole = list(pr.read_records(path, compression=compression, on_error="tail"))
    edges = [0, *sorted(min(cut, path.stat().st_size) for cut in cuts), None]
    found = [part(path, *pair, compression=compression, on_error="tail") for pair in pairwise(edges)]
    assert [record for some in found for record in some] == whole


@pytest.mark.parametrize("options", [None, "GZIP", TFRecordOptions("GZIP", block_size=300)])
def test_tail_takes_no_other_damage_for_a_cut_end(tmp_path, options):
    path = tmp_path / "a.tfrecord"
    with TFRecordWriter(path, options) as writer:
        writer.write_many(NUMBERED)
    path.write_bytes(damage.flip_byte(path.read_bytes(), path.stat().st_size // 2))
    reader = read_batches(path, byte_range=(0, None), on_error="tail", compression="GZIP" if options else "")
    for _ in range(3):
        with pytest.raises(CorruptionError):
            list(reader)


@pytest.mark.parametrize("on_error", ["skip", "raise"])
@given(
    flips=st.lists(st.integers(0, len(frames(RECORDS)) - 1), min_size=1, max_size=4),
    cuts=st.lists(st.integers(0, len(frames(RECORDS))), max_size=5),
)
def test_damage_is_met_by_exactly_one_part(tmp_path, on_error, flips, cuts):
    data = bytearray(frames(RECORDS))
    for place in flips:
        data[place] ^= 0x10
    path = tmp_path / "a.tfrecord"
    path.write_bytes(data)
    edges = [0, *sorted(cuts), None]
    whole = list(pr.read_records(path, on_error="skip"))
    parts, errors = [], 0
    for i in range(len(edges) - 1):
        try:
            parts += part(path, *edges[i : i + 2], on_error=on_error)
        except CorruptionError:
            errors += 1
    if on_error == "skip":
        # A part begins at a sound header; only reading from before it finds a payload without one.
        assert len(whole) - len(flips) <= len(parts) <= len(whole)
        assert [record for record in parts if record not in whole] == []
    else:
        assert errors or len(set(data) ^ set(frames(RECORDS))) == 0


def test_each_place_that_is_skipped_is_told_with_its_error(tmp_path):
    path = tmp_path / "file"
    data = bytearray(frames([b"record"] * 10))
    data[14] ^= 1
    data[22 * 5 + 14] ^= 1
    path.write_bytes(data)
    errors: list[CorruptionError] = []
    with RangeReader(str(path), (0, None), on_error="skip", on_skip=errors.append) as reader:
        assert sum(map(len, reader)) == 8
    assert [error.offset for error in errors] == [0, 22 * 5]


def test_a_file_inside_a_record_is_noticed_by_the_part_before(tmp_path):
    inner = frames([b"inner %d" % i for i in range(20)])
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames([b"first", inner, b"last"]))
    middle = 100
    with pytest.raises(CorruptionError, match="holds a TFRecord itself"):
        part(path, 0, middle)


def blocked(path, records, block_size=300, **options) -> bytes:
    """The content of the blocked GZIP file with these records, which ``path`` gets."""
    with TFRecordWriter(path, TFRecordOptions("GZIP", block_size=block_size, **options)) as writer:
        for record in records:  # a block ends after any record
            writer.write(record)
    return path.read_bytes()


def parts(path, cuts, **arguments) -> list[bytes]:
    """The records of all parts that ``cuts`` make."""
    edges = [0, *sorted(cuts), None]
    return [record for edge in pairwise(edges) for record in part(path, *edge, **arguments)]


@given(
    sizes=st.lists(st.integers(0, 60), max_size=40),
    block_size=st.integers(1, 400),
    level=st.integers(0, 9),
    cuts=st.lists(st.integers(0, 5000), max_size=6),
)
def test_parts_of_blocked_gzip_give_every_record_exactly_once(tmp_path, sizes, block_size, level, cuts):
    records = [b"%d " % i + bytes(size) for i, size in enumerate(sizes)]
    path = tmp_path / "a.tfrecord.gz"
    blocked(path, records, block_size, compression_level=level)
    assert parts(path, cuts) == parts(path, cuts, batch_size=3) == records


def test_a_part_of_blocked_gzip_has_the_blocks_that_begin_in_it(tmp_path):
    path = tmp_path / "a.tfrecord.gz"
    blocked(path, RECORDS)
    index = pr.build_index(path)
    assert len(index.offsets) > 5
    second, third = index.offsets[1:3].tolist()
    firsts = [*index.first_records.tolist(), len(RECORDS)]
    assert part(path, 0, second) == part(path, 0, 1) == RECORDS[: firsts[1]]
    assert part(path, 1, third) == part(path, second, second + 1) == RECORDS[firsts[1] : firsts[2]]
    assert part(path, second + 1, None) == RECORDS[firsts[2] :]
    assert part(path, int(index.offsets[-1]) + 1, None) == part(path, second + 1, third) == []


@given(data=st.data(), kind=st.sampled_from(["flip", "delete", "zero", "cut", "insert"]))
def test_parts_of_damaged_blocks_give_what_the_whole_gives(tmp_path, data, kind):
    path = tmp_path / "a.tfrecord.gz"
    whole = blocked(path, NUMBERED, compression_level=data.draw(st.sampled_from([0, 6])))
    at = data.draw(st.integers(BLOCK_HEADER_SIZE, len(whole) - 1))
    end = min(at + data.draw(st.integers(1, 700)), len(whole))
    path.write_bytes(
        {
            "flip": lambda: damage.flip_bit(whole, 8 * at + 3),
            "delete": lambda: damage.delete(whole, at, end),
            "zero": lambda: damage.zero(whole, at, end),
            "cut": lambda: damage.cut(whole, at),
            "insert": lambda: damage.insert(whole, at, bytes(range(end - at & 255))),
        }[kind]()
    )
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=5))
    expected = list(pr.read_records(path, on_error="skip"))
    found = parts(path, cuts, on_error="skip")
    if kind == "delete":  # without deflation a member then holds what follows it, which may come twice
        expected, found = list(dict.fromkeys(expected)), list(dict.fromkeys(found))
    assert found == expected


@given(bit=st.integers(8 * BLOCK_HEADER_SIZE, 8 * 2000), cuts=st.lists(st.integers(0, 3000), max_size=5))
def test_damage_in_a_block_is_met_by_exactly_one_part(tmp_path, bit, cuts):
    path = tmp_path / "a.tfrecord.gz"
    whole = blocked(path, RECORDS)
    path.write_bytes(damage.flip_bit(whole, bit))
    try:
        expected = len(list(pr.read_records(path))) - len(RECORDS)  # some bits do not matter
    except CorruptionError:
        expected = 1
    errors = []
    for begin, end in pairwise([0, *sorted(cuts), None]):
        try:
            part(path, begin, end)
        except CorruptionError as error:
            errors.append((begin, str(error)))
    assert len(errors) == expected
    for begin, message in errors:
        assert message.startswith(str(path))
        assert message.count("in the blocks from byte") == (begin > 0)


def test_an_error_of_a_part_comes_again(tmp_path):
    path = tmp_path / "a.tfrecord.gz"
    whole = blocked(path, RECORDS)
    second = int(pr.build_index(path).offsets[1])
    path.write_bytes(damage.flip_byte(whole, second + 60))
    reader = read_batches(path, byte_range=(second, None))
    messages = set()
    for _ in range(2):
        with pytest.raises(CompressionError) as caught:
            list(reader)
        messages.add(str(caught.value))
    assert len(messages) == 1


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_blocked_file_inside_a_record_is_noticed_by_the_part_before(tmp_path, on_error):
    inner = blocked(tmp_path / "inner", [b"inner %d" % i for i in range(20)], 60)
    path = tmp_path / "a.tfrecord.gz"
    whole = blocked(path, [b"first" * 99, b"before" + inner, b"last" * 99], 100, compression_level=0)
    place = whole.index(inner)
    assert part(path, 0, None) == list(pr.read_records(path))
    with pytest.raises(CorruptionError, match=f"a block spans byte {place}, where another part"):
        part(path, 0, place - 3, on_error=on_error)


def test_a_member_of_another_tool_belongs_to_the_block_before(tmp_path):
    path = tmp_path / "a.tfrecord.gz"
    first = blocked(path, RECORDS[:50])
    path.write_bytes(first + gzip.compress(frames(RECORDS[50:60])) + blocked(path, RECORDS[60:90]))
    for at in range(0, path.stat().st_size, 7):
        assert parts(path, [at]) == RECORDS[:90]


def test_members_that_cut_a_frame_are_read_whole_or_refused(tmp_path):
    data = frames(RECORDS)
    members = gzip.compress(data[:1001]) + gzip.compress(data[1001:])
    path = tmp_path / "a.tfrecord.gz"
    path.write_bytes(members)
    assert part(path, 0, None) == part(path, 0, len(members)) == RECORDS
    with pytest.raises(io.UnsupportedOperation, match="one compressed stream"):
        part(path, 0, 500)


def test_a_block_that_does_not_begin_with_a_frame_is_an_error(tmp_path):
    """Our writer makes none; a part never gives wrong records of one."""
    options, data = TFRecordOptions("GZIP", block_size=1), frames(RECORDS)
    members = [deflate._member(options, [data[begin : begin + 1001]], 1) for begin in range(0, 5000, 1001)]
    path = tmp_path / "a.tfrecord.gz"
    path.write_bytes(b"".join(members))
    with pytest.raises(CorruptionError):
        part(path, 0, len(members[0]))
    with pytest.raises(CorruptionError):
        part(path, 1, None)


@pytest.mark.parametrize("options", ["GZIP", "ZLIB"])
def test_one_compressed_stream_has_one_part(tmp_path, options):
    path = tmp_path / "a.tfrecord.gz"
    with TFRecordWriter(path, options) as writer:
        writer.write(b"x")
    size = path.stat().st_size
    assert part(path, 0, None) == part(path, 0, size) == part(path, 0, size + 1) == [b"x"]
    for edges in ((0, size - 1), (1, None), (size, None)):
        with pytest.raises(io.UnsupportedOperation, match="only be read from its beginning"):
            read_batches(path, byte_range=edges)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CompressionError):
        part(path, 0, None)


def test_an_open_file_has_one_part():
    assert part(io.BytesIO(frames(RECORDS)), 0, None) == RECORDS
    with pytest.raises(io.UnsupportedOperation, match="is a stream, which has no byte ranges"):
        part(io.BytesIO(frames(RECORDS)), 0, 100)


def test_parts_of_a_remote_file():
    for make in (lambda path: path.write_bytes(frames(RECORDS)), lambda path: blocked(path, RECORDS)):
        with TemporaryDirectory() as folder:
            make(Path(folder) / "a")
            data = (Path(folder) / "a").read_bytes()
        with stored_as(FaultyObject(data, cycle(("reset", "none", "short", "none", "none")))):
            ranges = splits(URL, 1000)
            assert len(ranges) == -(-len(data) // 1000)
            assert [record for edges in ranges for record in part(URL, *edges)] == RECORDS


@pytest.mark.parametrize("form", ["plain", "blocked", "GZIP", "ZLIB", "empty"])
@given(size=st.integers(1, 9000))
def test_splits_are_the_parts_of_a_file(tmp_path, form, size):
    path = tmp_path / f"{form}.tfrecord"
    if not path.exists():
        options = TFRecordOptions("GZIP", block_size=200) if form == "blocked" else form.strip("plainemty")
        with TFRecordWriter(path, options) as writer:
            for record in RECORDS if form != "empty" else []:
                writer.write(record)
    ranges = splits(path, size)
    total = path.stat().st_size
    assert [begin for begin, _ in ranges[1:]] == [end for _, end in ranges[:-1]]
    assert (ranges[0][0], ranges[-1][1]) == (0, total)
    if form in ("GZIP", "ZLIB", "empty"):
        assert ranges == [(0, total)]
    else:
        assert max(end - begin for begin, end in ranges) <= size
        assert len(ranges) == -(-total // size)
    if len(ranges) < 50:
        whole = RECORDS if form != "empty" else []
        assert [record for edges in ranges for record in part(path, *edges)] == whole


@pytest.mark.parametrize("form", ["plain", "blocked"])
def test_splits_with_an_index_begin_at_frames_and_blocks(tmp_path, form):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames(RECORDS)) if form == "plain" else blocked(path, RECORDS)
    index = pr.build_index(path)
    for size in (1, 100, 1000, 100_000):
        ranges = splits(path, size, index=index)
        assert {begin for begin, _ in ranges} <= set(index.offsets.tolist())
        assert [record for edges in ranges[:60] for record in part(path, *edges)] == RECORDS[
            : sum(len(part(path, *edges)) for edges in ranges[:60])
        ]
        assert ranges[-1][1] == path.stat().st_size
        assert [end for _, end in ranges[:-1]] == [begin for begin, _ in ranges[1:]]
    path.write_bytes(frames(RECORDS[1:]))
    with pytest.raises(StaleIndexError):
        splits(path, 100, index=index)


def test_what_cannot_be_opened_again_is_one_range_of_unknown_size():
    assert splits("/dev/null", 100) == [(0, None)]
    with pytest.raises(ValueError, match="at least one byte"):
        splits("/dev/null", 0)


@pytest.mark.parametrize(
    ("byte_range", "error"),
    [
        ((-1, 2), ValueError),
        ((3, 2), ValueError),
        ((1,), TypeError),
        ("12", TypeError),
        ((0.5, 2), TypeError),
    ],
)
def test_odd_ranges_are_refused(tmp_path, byte_range, error):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames(RECORDS))
    with pytest.raises(error, match="byte_range"):
        read_batches(path, byte_range=byte_range)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"batch_size": 0}, ValueError),
        ({"batch_size": -1}, ValueError),
        ({"batch_size": 1.5}, TypeError),
        ({"compression": "GZIP"}, CompressionError),
    ],
)
def test_arguments_of_a_part_are_those_of_the_whole(tmp_path, arguments, error):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames([b"one", b"two"]))
    with pytest.raises(error):
        list(pr.read_batches(path, byte_range=(0, None), **arguments))


def test_a_part_is_of_one_file(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(frames(RECORDS))
    with pytest.raises(ValueError, match="of one file, not of 2"):
        read_batches(tmp_path / "*", byte_range=(0, 10))


class _Noise(FaultyObject):
    """A file whose bytes are other ones each time they are read."""

    def read(self, begin: int, end: int) -> bytes:
        self.requests.append((begin, end))
        return Random(len(self.requests)).randbytes(end - begin)


@pytest.mark.parametrize(
    "read", [lambda: part(URL, 0, 1500), lambda: list(pr.read_records(URL)), lambda: pr.build_index(URL)]
)
def test_a_file_that_is_another_one_each_time_is_an_error(read):
    with (
        stored_as(_Noise(bytes(5000)), RANGE=9000, FIRST=9000) as store,
        pytest.raises((OSError, pr.PureRecordError)),
    ):
        read()
    assert len(store.requests) < 1000
