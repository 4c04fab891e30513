"""SeekableFile gives the same records as a forward reader, wherever it begins and whatever it skips."""

from __future__ import annotations

import errno
import os
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord import records
from purerecord.container import seekable_file
from purerecord.container.seekable_file import SeekableFile
from purerecord.dataset.transforms import files
from purerecord.storage.file_handles import OpenFile
from tests.support.damage import cut, flip_byte, frame, frames

SIZES = st.lists(st.sampled_from([0, 1, 7, 300, 20_000, 70_000]), max_size=30)
MOVES = st.lists(st.tuples(st.booleans(), st.integers(1, 9)), max_size=40)


@given(sizes=SIZES, moves=MOVES)
def test_any_mix_of_taking_and_passing_over_keeps_the_place(sizes, moves, tmp_path):
    payloads = [bytes([number]) * size for number, size in enumerate(sizes)]
    path = tmp_path / "file"
    path.write_bytes(frames(payloads))
    place = 0
    with closing(SeekableFile(str(path))) as file:
        for takes, count in moves:
            if takes:
                got = file.take(count)
                expected = payloads[place : place + (0 if got is None else len(got))]
                assert (got is None) == (place == len(payloads))
                assert got is None or (list(got) == expected and got.first == place and 0 < len(got) <= count)
                place += len(expected)
            else:
                passed = file.skip(count)
                assert passed == min(count, len(payloads) - place)
                place += passed
            assert file.record == place
            assert file.offset == len(frames(payloads[:place]))


@pytest.mark.parametrize("size", [100, 3000, 20_000])
def test_a_batch_is_not_in_two_pieces(size, tmp_path):
    path = tmp_path / "file"
    payloads = [bytes([number % 251]) * (size + number % 7) for number in range(1000)]
    path.write_bytes(frames(payloads))
    with closing(SeekableFile(str(path))) as file:
        file.take(1)  # now the size of the records is known
        for low in range(1, 1000, 128):
            assert list(file.take(128)) == payloads[low : low + 128]
        assert file.take(128) is None


def bytes_read(dataset: pr.Dataset, monkeypatch) -> int:
    """How many bytes of files an epoch reads."""
    total = 0

    def counted(read):
        def count(file, offset, what):
            nonlocal total
            got = read(file, offset, what)
            total += got if isinstance(got, int) else len(got)
            return got

        return count

    with monkeypatch.context() as patch:
        for name in ("read_into", "read_at"):
            patch.setattr(OpenFile, name, counted(getattr(OpenFile, name)))
        for _ in dataset:
            pass
    return total


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """A file of 400 records, from 20 to 60 kB long."""
    path = tmp_path_factory.mktemp("large") / "file"
    path.write_bytes(frames([bytes([n % 251]) * (20_000 + 5_000 * (n % 9)) for n in range(400)]))
    return path


@pytest.mark.parametrize("size", [2, 3, 8, 16, 32, 64, 128])
def test_large_records_are_read_about_once_and_not_in_two_pieces(size, large, monkeypatch):
    joined = []
    original = records._joined
    monkeypatch.setattr(records, "_joined", lambda *parts: joined.append(parts) or original(*parts))
    dataset = pr.TFRecordDataset(large).batch(size)
    assert bytes_read(dataset, monkeypatch) < 1.3 * large.stat().st_size
    assert len(joined) <= 2  # the first batch, while their size is unknown


@pytest.mark.parametrize("size", [2, 8, 32])
def test_large_records_that_are_not_ours_are_not_read(size, large, monkeypatch):
    dataset = pr.TFRecordDataset(large).batch(size).shard(4, 1)
    own = sum(batch.nbytes for batch in dataset)
    assert 3 * own < large.stat().st_size
    # A little more, because sizes differ, and because the first read knows neither size nor pattern.
    assert bytes_read(dataset, monkeypatch) < (2 if size < 8 else 1.3) * own + (5 << 20)


def test_what_is_too_much_for_the_memory_comes_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(seekable_file, "_LARGEST_READ", 1 << 20)
    path = tmp_path / "file"
    payloads = [bytes([number]) * 40_000 for number in range(200)]
    path.write_bytes(frames(payloads))
    found = []
    with closing(SeekableFile(str(path))) as file:
        while (records := file.take(100)) is not None:
            assert len(records.buffer) <= 1 << 20
            found += records
    assert found == payloads


def test_what_was_read_before_a_failure_comes_before_it(tmp_path, monkeypatch):
    path = tmp_path / "file"
    payloads = [b"%06d" % number * 500 for number in range(3_000)]
    path.write_bytes(frames(payloads))
    read = OpenFile._read_some_into

    def failing(self, offset, view):
        if offset >= 5_000_000:
            raise OSError(errno.EIO, "a bad sector")
        return read(self, offset, view[: 5_000_000 - offset])

    monkeypatch.setattr(OpenFile, "_read_some_into", failing)
    found = []
    with closing(SeekableFile(str(path))) as file:
        with pytest.raises(OSError, match="a bad sector"):  # noqa: PT012 - a loop that ends by the error
            while True:
                found += file.take(1000)
        monkeypatch.undo()
        assert len(found) == 5_000_000 // len(frame(payloads[0]))
        while (more := file.take(1000)) is not None:
            found += more
    assert found == payloads


def test_it_goes_on_anywhere(tmp_path):
    path = tmp_path / "file"
    payloads = [b"a", b"bb" * 30_000, b"c", b"d"]
    path.write_bytes(frames(payloads))
    with closing(SeekableFile(str(path))) as file:
        file.go_to(len(frames(payloads[:2])), 2)
        records = file.take(10)
        assert list(records) == payloads[2:]
        assert records.first == 2


GOOD = frames([b"one", b"two" * 10_000, b"three"])
DAMAGE = {
    "flipped payload": flip_byte(GOOD, 13),
    "flipped length": flip_byte(GOOD, len(frame(b"one")) + 2),
    "flipped large payload": flip_byte(GOOD, 500),
    "cut header": cut(GOOD, len(GOOD) - len(frame(b"three")) + 5),
    "cut payload": cut(GOOD, 5000),
    "cut footer": cut(GOOD, len(GOOD) - 2),
    "text": b"this is no TFRecord, but a sentence",
    "a few bytes": b"abc",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_raises_what_reading_forward_raises(name, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(DAMAGE[name])
    good = []
    with pytest.raises(pr.CorruptionError) as expected:
        good.extend(pr.read_records(str(path), compression=""))
    with closing(SeekableFile(str(path))) as file:
        before = []
        with pytest.raises(pr.CorruptionError) as raised:  # noqa: PT012 - a loop that ends by the error
            while (records := file.take(1)) is not None:
                before += records
        with pytest.raises(pr.CorruptionError) as again:
            file.take(1)
    assert type(raised.value) is type(expected.value)
    assert str(raised.value) == str(expected.value) == str(again.value)
    assert before == good


def test_what_is_passed_over_is_not_looked_at(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(DAMAGE["flipped payload"])
    with closing(SeekableFile(str(path))) as file:
        assert file.skip(1) == 1
        assert list(file.take(1)) == [b"two" * 10_000]
        assert list(file.take(1)) == [b"three"]


@pytest.mark.parametrize("size", [1000, 60_000])
def test_a_file_that_is_cut_meanwhile_does_not_end_quietly(size, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(frames([bytes(size)] * (20_000_000 // size)))
    batches = iter(pr.TFRecordDataset(path).batch(2))
    next(batches)
    os.truncate(path, 15_000_000 + 7)
    records = 2
    with pytest.raises(pr.TruncatedError, match="ends inside a frame") as error:  # noqa: PT012 - all in one
        for batch in batches:
            records += len(batch)
    assert error.value.record == 15_000_007 // (size + 16)
    assert records == error.value.record // 2 * 2


def test_a_file_that_is_cut_between_two_records_ends_there(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(frames([bytes(60_000)] * 300))
    batches = iter(pr.TFRecordDataset(path).batch(2))
    next(batches)
    os.truncate(path, 200 * 60_016)
    assert sum(map(len, batches)) == 198


@pytest.mark.parametrize("how", ["flipped", "cut", "cut meanwhile", "cut in the header meanwhile"])
def test_large_records_one_by_one_up_to_damage(how, tmp_path):
    payloads = [bytes([number]) * 30_000 for number in range(6)]
    data, start = frames(payloads), 3 * 30_016
    path = tmp_path / "file"
    path.write_bytes({"flipped": flip_byte(data, start + 500), "cut": data[: start + 500]}.get(how, data))
    with closing(SeekableFile(str(path))) as file:
        for number in range(3):
            (payload,) = record = file.take(1)
            assert payload == payloads[number]
            assert record.origin(0) == (str(path), number, number * 30_016)
        file.go_to(start, 3)  # the bytes read before are dropped
        if "meanwhile" in how:
            os.truncate(path, start + (5 if "header" in how else 500))
        with pytest.raises(pr.CorruptionError) as error:
            file.take(1)
        assert isinstance(error.value, pr.ChecksumError if how == "flipped" else pr.TruncatedError)
        assert (error.value.path, error.value.record, error.value.offset) == (str(path), 3, start)
        assert file.record == 3


class Counting(SeekableFile):
    """Notes the sizes of its reads."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.asked = []

    def _read_at(self, offset, size):
        self.asked.append(size)
        return super()._read_at(offset, size)


def test_what_is_known_of_files_before_says_how_much_to_read_at_first(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(frames([bytes(60_000)] * 100))
    with closing(Counting(str(path))) as file:
        assert len(file.take(50)) == 17
        assert file.asked == [1 << 20]
    with closing(Counting(str(path), None, 60_016)) as file:
        assert len(file.take(50)) == 50
        assert 50 * 60_016 <= sum(file.asked) < 55 * 60_016


def test_files_after_the_first_are_read_as_that_was(tmp_path, monkeypatch):
    paths = [tmp_path / f"file-{number}" for number in range(3)]
    for path in paths:
        path.write_bytes(frames([bytes(30_000)] * 100))
    means = []

    class Noted(SeekableFile):
        def __init__(self, path, memory, mean):
            means.append(mean)
            super().__init__(path, memory, mean)

    monkeypatch.setattr(files, "SeekableFile", Noted)
    assert sum(map(len, pr.TFRecordDataset(paths).batch(64))) == 300
    assert means == [0, 30_016, 30_016]


@pytest.mark.parametrize("mean", [0, 1, 16, 1000, 30_000, 1 << 20, 1 << 40])
@pytest.mark.parametrize("length", [0, 10, 30_000])
def test_a_wrong_guess_of_the_size_of_records_changes_nothing_else(mean, length, tmp_path):
    payloads = [bytes([number % 256]) * length for number in range(300)]
    path = tmp_path / "file"
    path.write_bytes(frames(payloads))
    with closing(Counting(str(path), None, mean)) as file:
        found = []
        while (records := file.take(7)) is not None:
            found += records
        assert found == payloads
        assert max(file.asked, default=0) <= 1 << 24
    with closing(SeekableFile(str(path), None, mean)) as file:
        assert file.skip(5) == 5
        assert file.take(1)[0] == payloads[5]
        assert file.places(2) == [(number * (length + 16), number) for number in (6, 7)]
