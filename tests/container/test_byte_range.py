"""Parts of a file: together they give every record exactly once, damaged or not."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord import CorruptionError, TFRecordWriter, read_batches
from tests.support.damage import frames

RECORDS = [bytes([i % 251]) * (i * 13 % 97) for i in range(200)]


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


def test_a_file_inside_a_record_is_noticed_by_the_part_before(tmp_path):
    inner = frames([b"inner %d" % i for i in range(20)])
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frames([b"first", inner, b"last"]))
    middle = 100
    with pytest.raises(CorruptionError, match="holds a TFRecord itself"):
        part(path, 0, middle)


@pytest.mark.parametrize("options", ["GZIP", "ZLIB"])
def test_compressed_files_have_no_parts(tmp_path, options):
    path = tmp_path / "a.tfrecord.gz"
    with TFRecordWriter(path, options) as writer:
        writer.write(b"x")
    with pytest.raises(io.UnsupportedOperation, match="uncompressed"):
        read_batches(path, byte_range=(0, 10))


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
        ({"compression": "GZIP"}, io.UnsupportedOperation),
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
