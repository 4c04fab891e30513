"""The reader of small frames gives their payloads if they are sound, and leaves everything else untouched."""

from __future__ import annotations

import gc
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.container.looks_like import open_source
from purerecord.container.small_frames import SmallFrameReader, small_frame_reader
from purerecord.storage.opened import Opened
from tests.support.damage import flip_byte, frames, starts


def opened(path) -> Opened:
    file = open_source(str(path))
    file.detect_compression()
    return file


def test_payloads_come_as_they_are_in_the_file(tmp_path):
    payloads = [random.Random(i).randbytes(i % 300) for i in range(20_000)]
    (tmp_path / "file").write_bytes(frames(payloads))
    file, reader = opened(tmp_path / "file"), SmallFrameReader(1 << 20)
    got: list[bytes] = []
    while (small := reader.read(file)) is not None:
        got += small.payloads
        assert (len(got), file.position) == (len(got), starts(payloads)[len(got)])
    assert got == payloads
    file.close()


def test_nothing_is_taken_where_a_frame_is_unsound(tmp_path):
    payloads = [b"abc" * 10] * 100
    data = frames(payloads)
    for place in [0, 9, 12, 20, 45, len(data) - 1]:
        (tmp_path / "file").write_bytes(flip_byte(data, place))
        file = Opened(str(tmp_path / "file"), "")
        assert SmallFrameReader(1 << 20).read(file) is None
        assert file.position == 0
        file.close()


@pytest.mark.parametrize("large", [16 << 10, (16 << 10) + 1, 1 << 21])
def test_reading_stops_before_a_large_frame(large, tmp_path):
    payloads = [b"x"] * 50 + [bytes(large)] + [b"y"] * 50
    (tmp_path / "file").write_bytes(frames(payloads))
    file = opened(tmp_path / "file")
    small = SmallFrameReader(1 << 20).read(file)
    assert list(small.payloads) == payloads[: 101 if large == 16 << 10 else 50]
    file.close()


@given(st.lists(st.sampled_from([0, 1, 40, 5000, 20_000, 70_000, 1 << 20]), max_size=120), st.randoms())
def test_reading_records_gives_any_mix_of_small_and_large(sizes, rng):
    import tempfile  # noqa: PLC0415 - a folder for each example

    payloads = [bytes([i % 256]) * size for i, size in enumerate(sizes)]
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/file"
        with open(path, "wb") as file:
            file.write(frames(payloads))
        assert list(pr.read_records(path)) == payloads
        reader = pr.read_records(path)
        ahead = [next(reader) for _ in range(rng.randrange(len(payloads) + 1))]
        assert ahead + list(reader) == payloads


def test_two_loops_over_one_reader_share_its_records(tmp_path):
    payloads = [b"%d" % number for number in range(1000)]
    (tmp_path / "file").write_bytes(frames(payloads))
    reader = pr.read_records(tmp_path / "file")
    one, two = iter(reader), iter(reader)
    got = [next(one) if number % 3 else next(two) for number in range(1000)]
    assert got == payloads
    assert next(one, None) is None is next(two, None)


def test_records_kept_are_not_overwritten_by_later_ones(tmp_path):
    payloads = [b"%07d" % number * 9 for number in range(60_000)]
    (tmp_path / "file").write_bytes(frames(payloads))
    assert list(pr.read_records(tmp_path / "file")) == payloads


def test_a_reader_in_a_cycle_of_references_is_collected_in_silence():
    holder = {"reader": SmallFrameReader(1 << 20)}
    holder["self"] = holder
    del holder
    gc.collect()  # pytest turns an error in here into a failure


def test_a_reader_is_as_large_as_the_file_needs_and_serves_the_next():
    small = small_frame_reader(100)
    assert small.size == 100
    assert small_frame_reader(50, small) is small
    large = small_frame_reader(1 << 40, small)
    assert 1 << 20 < large.size < 1 << 24
    assert small_frame_reader(1 << 41, large) is large


def test_records_of_many_files_come_as_they_are(tmp_path):
    paths, payloads = [], []
    for number in range(30):
        payloads += (own := [bytes([number]) * (i % 50) for i in range(7 * number)])
        paths.append(tmp_path / f"{number:02}")
        paths[-1].write_bytes(frames(own))
    assert list(pr.read_records(paths)) == payloads


@pytest.mark.parametrize(("small", "large"), [(1, 20_000), (10, 70_000), (20, 100_000), (20, 2_000_000)])
def test_large_records_among_small_ones_are_not_read_many_times(small, large, tmp_path, monkeypatch):
    payloads = ([b"x" * 100] * small + [b"y" * large]) * (40_000_000 // (small * 116 + large))
    (tmp_path / "file").write_bytes(frames(payloads))
    sizes = []

    def counted(plain):
        def read(self, *args):
            got = plain(self, *args)
            sizes.append(got if isinstance(got, int) else sum(map(len, got)))
            return got

        return read

    for name in ("readinto", "read_payload_and_next_header"):
        monkeypatch.setattr(Opened, name, counted(getattr(Opened, name)))
    assert sum(1 for _ in pr.read_records(tmp_path / "file")) == len(payloads)
    assert sum(sizes) < 5 * 40_000_000
