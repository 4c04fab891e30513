"""Reading forward: records, batches, many files, and policies for damage."""

from __future__ import annotations

import gzip
import io
import os
import random
import sys
import threading
import tracemalloc
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from purerecord import (
    ChecksumError,
    ClosedError,
    CompressionError,
    CorruptionError,
    Records,
    TFRecordDataset,
    TFRecordOptions,
    TFRecordWriter,
    TruncatedError,
    read_batches,
    read_records,
)
from tests.support.all_readers import Trickle, agreed, joined, outcome
from tests.support.damage import HEADER, cut, flip_byte, frame, frames, header, insert, starts, zero
from tests.support.missing_library import needs_missing_library
from tests.support.settings import sampled

RECORDS = [b"one", b"", b"three" * 100, b"\x00" * 9]
DATA = frames(RECORDS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.tfrecord"


def some(seed: int, count: int, most: int = 100) -> list[bytes]:
    rng = random.Random(seed)
    return [rng.randbytes(rng.randrange(most)) for _ in range(count)]


# Records and batches


def test_records_are_bytes_in_order(path):
    path.write_bytes(DATA)
    assert agreed(path).records == RECORDS


def test_reader_is_its_own_iterator_and_goes_on_where_it_was(path):
    path.write_bytes(DATA)
    reader = read_records(path)
    assert isinstance(reader, Iterator)
    assert next(reader) == RECORDS[0]
    for record in reader:
        assert record == RECORDS[1]
        break
    assert list(reader) == RECORDS[2:]
    assert next(reader, "end") == "end"


@pytest.mark.parametrize("batch_size", [1, 2, 3, 99, 100, 101, 4096, 10**9])
@pytest.mark.parametrize("compress", [bytes, gzip.compress, zlib.compress])
def test_batches_are_full_but_for_the_last(path, batch_size, compress):
    records = some(1, 300)
    path.write_bytes(compress(frames(records)))
    batches = list(read_batches(path, batch_size=batch_size))
    assert [record for batch in batches for record in batch] == records
    assert all(len(batch) == batch_size for batch in batches[:-1])
    assert 0 < len(batches[-1]) <= batch_size


def test_batches_know_their_place(path):
    records = some(2, 1000)
    path.write_bytes(frames(records))
    edges = starts(records)
    for batch in read_batches(path, batch_size=37):
        assert isinstance(batch, Records)
        assert batch.path == str(path)
        assert batch[0] == records[batch.first]
        assert batch.base + batch.begins[0] == edges[batch.first] + HEADER


def test_natural_batches_have_8192_records_or_about_8_mib(path):
    path.write_bytes(frames([b"x"] * 20_000))
    assert [len(batch) for batch in read_batches(path)] == [8192, 8192, 3616]
    path.write_bytes(frames([bytes(100_000)] * 400))
    sizes = [batch.nbytes for batch in read_batches(path)]
    assert sum(sizes) == 40_000_000
    assert max(sizes) < 16_000_000


def test_batch_never_spans_two_files(tmp_path):
    for name in "abc":
        (tmp_path / name).write_bytes(frames([name.encode()] * 3))
    batches = list(read_batches([tmp_path / name for name in "abc"], batch_size=2))
    assert [list(batch) for batch in batches] == [[n] * k for n in (b"a", b"b", b"c") for k in (2, 1)]


def test_reader_knows_the_file_of_the_record_that_came_last(tmp_path):
    paths = [str(tmp_path / name) for name in "abc"]
    contents = {paths[0]: [b"1", b"2"], paths[1]: [], paths[2]: [b"3", bytes(50_000)]}
    for path, records in contents.items():
        with TFRecordWriter(path) as writer:
            writer.write_many(records)
    expected = [(path, record) for path, records in contents.items() for record in records]
    reader = read_records(paths)
    assert [(reader.path, record) for record in reader] == expected
    reader = read_records(paths)
    assert [(next(reader), reader.path)[::-1] for _ in expected] == expected
    assert read_records([]).path is None
    assert read_records(io.BytesIO(b"")).path == "<stream>"


def test_batches_stay_whole_when_the_reader_goes_on(path):
    records = some(3, 5000, 2000)
    path.write_bytes(frames(records))
    batches = list(read_batches(path, batch_size=7))
    assert [record for batch in batches for record in batch] == records


@pytest.mark.parametrize("wrong", [0, -1])
def test_batch_size_must_be_positive(path, wrong):
    path.write_bytes(DATA)
    with pytest.raises(ValueError, match="batch_size must be positive"):
        next(read_batches(path, batch_size=wrong))


def test_iterating_and_batches_can_be_mixed(path):
    path.write_bytes(frames(some(4, 100)))
    reader = read_records(path)
    first = next(reader)
    rest = [*reader, *(record for batch in reader.batches(10) for record in batch)]
    assert [first, *rest] == some(4, 100)


def test_two_records_at_a_time_by_a_loop_and_next(path):
    records = some(5, 50_000)
    path.write_bytes(frames(records))
    reader = read_records(path)
    assert [record for first in reader for record in (first, next(reader))] == records


def test_loops_over_one_reader_share_its_records(path):
    rng = random.Random(6)
    records = [rng.randbytes(rng.choice([3, 200, 20_000])) for _ in range(5000)]
    path.write_bytes(frames(records))
    reader = read_records(path)
    loops = [iter(reader), iter(reader), reader]
    got = [next(loops[0])]
    for _ in range(len(records) - 1):
        got.append(next(rng.choice(loops) if rng.random() < 0.01 else loops[0]))
    assert got == records


@pytest.mark.parametrize("batch_size", [1000, 10_000, None])
def test_batches_begin_where_iterating_ended(path, batch_size):
    records = some(7, 50_000)
    path.write_bytes(frames(records))
    reader = read_records(path)
    got = [next(reader) for _ in range(77)]
    for batch in reader.batches(batch_size):
        assert batch.origin(0)[:2] == (str(path), len(got))
        got += batch
        got += [next(reader) for _ in range(3) if len(got) < 40_000]
    assert got == records


# Errors


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid", ChecksumError, "git lfs pull"),
        (b"<!doctype html><html>not found</html>", ChecksumError, "HTML"),
        (b"PK\x03\x04 and so on and on", ChecksumError, "zip archive"),
        (b"\x00" * 100, ChecksumError, "is this a TFRecord file"),
        (b"hello", TruncatedError, "5 of 12 bytes"),
        (header(2**40) + b"abc", TruncatedError, str(2**40 + 16)),
        (header(2**64 - 1) + b"abc", TruncatedError, "15 of"),
        (gzip.compress(DATA, mtime=0)[:-9], CompressionError, "cut"),
        (gzip.compress(DATA, mtime=0) + b"garbage", CompressionError, "followed by something else"),
        (zlib.compress(DATA)[:-1], CompressionError, "cut"),
        (zlib.compress(DATA) + b"garbage", CompressionError, "followed by something else"),
    ],
)
def test_bad_file_gives_one_clear_error_with_its_name(path, data, error, words):
    path.write_bytes(data)
    with pytest.raises(error) as caught:
        list(read_records(path))
    assert str(caught.value).startswith(f"{path}: record ")
    assert words in str(caught.value)
    agreed(path)


def test_wrong_compression_is_said(path):
    path.write_bytes(gzip.compress(DATA))
    with pytest.raises(ChecksumError, match='gzip data; open it with compression="GZIP"'):
        list(read_records(path, compression=""))
    with pytest.raises(CompressionError, match="ZLIB stream does not begin as one"):
        list(read_records(path, compression="ZLIB"))
    path.write_bytes(DATA)
    for compression in ("GZIP", "ZLIB"):
        with pytest.raises(CompressionError, match="does not begin as one"):
            list(read_records(path, compression=compression))
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        read_records(path, compression="SNAPPY")


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zlib.compress])
@pytest.mark.parametrize("number", range(4))
def test_error_names_record_and_byte(path, compress, number):
    start = starts(RECORDS)[number]
    for at, part in (
        (start, "length"),
        (start + 8, "length"),
        (start + len(frame(RECORDS[number])) - 1, "data"),
    ):
        path.write_bytes(compress(flip_byte(DATA, at)))
        with pytest.raises(ChecksumError) as caught:
            list(read_records(path, compression={bytes: "", gzip.compress: "GZIP"}.get(compress, "ZLIB")))
        error = caught.value
        assert (error.record, error.offset, error.part, error.path) == (number, start, part, str(path))
        assert f"record {number} at byte {start}: {part} checksum" in str(error)


def test_error_never_shows_the_payload(path):
    path.write_bytes(flip_byte(frames([b"secret-secret"]), 15))
    with pytest.raises(ChecksumError) as caught:
        list(read_records(path))
    assert "secret" not in str(caught.value)
    assert "secret" not in repr(caught.value)


def test_stream_has_a_name_in_messages_too():
    with pytest.raises(TruncatedError, match=r"<stream>: record 0 at byte 0"):
        list(read_records(io.BytesIO(b"abc")))


def test_memory_of_reading_is_a_few_buffers_whatever_the_file(path):
    with TFRecordWriter(path) as writer:
        for _ in range(100):
            writer.write(bytes(1 << 20))
    tracemalloc.start()
    assert sum(map(len, read_records(path))) == 100 << 20
    assert sum(batch.nbytes for batch in read_batches(path)) == 100 << 20
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32 << 20


def test_inflating_a_bomb_takes_the_memory_of_its_records(path):
    with TFRecordWriter(path, TFRecordOptions("GZIP", compression_level=9)) as writer:
        for _ in range(60):
            writer.write(bytes(1 << 20))
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    assert sum(map(len, read_records(path))) == 60 << 20
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32 << 20


def test_without_verify_data_passes_and_lengths_are_still_checked(path):
    damaged = flip_byte(DATA, HEADER)
    path.write_bytes(damaged)
    assert list(read_records(path, verify=False)) == [flip_byte(b"one", 0), *RECORDS[1:]]
    path.write_bytes(flip_byte(DATA, 0, 1))
    for verify in (True, False):
        with pytest.raises(ChecksumError, match="length checksum"):
            list(read_records(path, verify=verify))


# Policies


def test_unknown_policy_is_refused(path):
    path.write_bytes(DATA)
    with pytest.raises(ValueError, match=r"on_error must be one of raise, skip, stop, tail, not 'ignore'"):
        read_records(path, on_error="ignore")


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zlib.compress])
@pytest.mark.parametrize("number", range(6))
def test_skip_goes_on_behind_a_damaged_payload(path, number, compress):
    records = [b"%d" % i * 20 for i in range(6)]
    path.write_bytes(compress(flip_byte(frames(records), starts(records)[number] + HEADER)))
    rest = records[:number] + records[number + 1 :]
    for batch_size in (None, 1, 2, 100):
        reader = read_records(path, on_error="skip")
        got = [record for batch in reader.batches(batch_size) for record in batch]
        assert got == rest
        assert reader.skipped == 1
        assert reader.last_error.record == number
    assert list(read_records(path, on_error="skip")) == rest


def test_stop_ends_quietly_at_the_first_damage_of_all_files(tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes(DATA)
    bad.write_bytes(cut(DATA, len(DATA) - 1))
    reader = read_records([good, bad, good], on_error="stop")
    assert list(reader) == RECORDS + RECORDS[:-1]
    assert isinstance(reader.last_error, TruncatedError)
    assert list(reader) == []


def test_skip_goes_on_with_the_next_file(tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes(DATA)
    for damaged in (cut(DATA, 5), b"junk" * 10, gzip.compress(DATA)[:-20], gzip.compress(b"junk" * 9)):
        bad.write_bytes(damaged)
        reader = read_records([bad, good], on_error="skip")
        assert list(reader)[-4:] == RECORDS
        assert reader.skipped >= 1


damages = st.sampled_from(["flip", "cut", "zero", "insert", "delete"])


@given(st.data(), st.sampled_from(["", "GZIP", "ZLIB"]))
def test_skip_never_invents_a_record_and_keeps_those_before_the_damage(data, compression):
    records = data.draw(st.lists(st.binary(max_size=40), min_size=1, max_size=12))
    plain = frames(records)
    compress = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression]
    whole = plain if data.draw(st.booleans()) else compress(plain)
    at = data.draw(st.integers(0, len(whole) - 1))
    size = data.draw(st.integers(1, 30))
    damaged = {
        "flip": lambda: flip_byte(whole, at, size),
        "cut": lambda: cut(whole, at),
        "zero": lambda: zero(whole, at, at + size),
        "insert": lambda: insert(whole, at, bytes(range(size))),
        "delete": lambda: whole[:at] + whole[at + size :],
    }[data.draw(damages)]()
    if whole is not plain and compression:
        damaged = compress(flip_byte(plain, at % len(plain))) if data.draw(st.booleans()) else damaged
    for source in (io.BytesIO(damaged), Trickle(damaged, 9)):
        got = list(read_records(source, on_error="skip"))
        # A damaged compressed stream may copy whole frames from elsewhere in the stream.
        assert set(got) <= set(records), "all of them are ours"
        if whole is plain:
            remaining = iter(records)
            assert all(record in remaining for record in got), "in order"
            before = sum(edge <= at for edge in starts(records)[1:])
            assert got[:before] == records[:before]


# Many files and after the end


def test_files_are_opened_one_after_the_other(tmp_path):
    paths = [tmp_path / str(i) for i in range(5)]
    for path in paths:
        path.write_bytes(frame(path.name.encode()))
    reader = read_records(paths)
    paths[3].unlink()
    assert [next(reader) for _ in range(3)] == [b"0", b"1", b"2"]
    for _ in range(2):  # a file that cannot be opened is not passed over by the next call
        with pytest.raises(FileNotFoundError):
            next(reader)
    paths[3].write_bytes(frame(b"3"))
    assert list(reader) == [b"3", b"4"]


def test_first_file_is_opened_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_records(tmp_path / "missing")
    with pytest.raises(FileNotFoundError):
        read_batches(tmp_path / "missing")


def test_use_after_close_is_a_closed_error(path):
    path.write_bytes(DATA)
    reader = read_records(path)
    assert next(reader) == RECORDS[0]
    reader.close()
    reader.close()
    for use in (lambda: next(reader), lambda: list(reader), lambda: next(reader.batches())):
        with pytest.raises(ClosedError):
            use()
    with read_records(path) as reader:
        pass
    with pytest.raises(ClosedError):
        next(reader)


def test_reader_closes_its_files(tmp_path):
    paths = [tmp_path / str(i) for i in range(3)]
    for path in paths:
        path.write_bytes(DATA)
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    for compress in (bytes, gzip.compress):
        for path in paths:
            path.write_bytes(compress(DATA))
        list(read_records(paths))
        next(read_batches(paths))
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


def test_error_leaves_the_reader_usable_and_repeats_itself(path):
    path.write_bytes(flip_byte(DATA, 1))
    reader = read_records(path)
    for _ in range(3):
        with pytest.raises(ChecksumError) as caught:
            next(reader)
        assert str(caught.value).count("is this a TFRecord file") == 1


@pytest.mark.light(2)
@pytest.mark.parametrize("way", ["next", "loop", "batches"])
def test_threads_share_the_records_of_one_reader(path, way):
    records = [b"%07d" % number * (1 + number % 9) for number in range(100_000)]
    path.write_bytes(frames(records))
    reader = read_records(path)
    got: list[list[bytes]] = [[], [], []]

    def read(own: list[bytes]) -> None:
        if way == "batches":
            own.extend(joined(reader.batches(300)))
        elif way == "loop":
            own.extend(reader)
        else:
            own.extend(iter(lambda: next(reader, None), None))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=read, args=(own,)) for own in got]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert sorted(record for own in got for record in own) == sorted(records)


def test_readers_in_threads_do_not_disturb_each_other(path):
    records = some(5, 3000)
    path.write_bytes(frames(records))
    results = []
    threads = [threading.Thread(target=lambda: results.append(list(read_records(path)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [records] * 8


@given(st.binary(max_size=200))
@example(b"\x28\xb5\x2f\xfd")
def test_any_bytes_give_records_or_a_corruption_error(data):
    assume(not needs_missing_library(data))
    for compression in ("auto", "", "GZIP", "ZLIB"):
        whole = outcome(read_records(io.BytesIO(data), compression=compression))
        assert outcome(read_records(Trickle(data, 3), compression=compression)) == whole
        assert whole.records == [] or whole.error is None or whole.error[2] is not None


def test_batches_go_on_when_the_file_grows(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(frames([b"a", b"b"]))
    batches = read_batches(path)
    assert [list(batch) for batch in batches] == [[b"a", b"b"]]
    with open(path, "ab") as file:
        file.write(frames([b"c"]))
    assert list(next(batches)) == [b"c"]


@pytest.mark.parametrize(
    ("batch_size", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), ("3", TypeError)]
)
def test_a_bad_batch_size_is_refused_at_once(tmp_path, batch_size, error):
    path = tmp_path / "file"
    path.write_bytes(frames([b"a"]))
    with pytest.raises(error):
        read_batches(path, batch_size=batch_size)


@pytest.mark.parametrize("data", [bytearray(frames([b"a"])), memoryview(frames([b"a"])), frames([b"a"])])
def test_data_instead_of_a_path_is_refused_without_being_shown(data):
    with pytest.raises(TypeError, match=r"io\.BytesIO"):
        read_records(data)


# on_error="tail"

TAILED = [b"%d " % number * (number % 30) for number in range(100)]


def compressed(data: bytes, compression: str) -> bytes:
    return {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression](data)


def sources(path, data: bytes) -> list[Any]:
    path.write_bytes(data)
    return [path, io.BytesIO(data), Trickle(data, 7)]


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_tail_ends_quietly_wherever_the_last_record_is_cut(tmp_path, compression):
    data = compressed(frames(TAILED), compression)
    last = len(frames(TAILED[-1:]))
    for lost in sampled(range(1, last), 40) if not compression else (1, 5, 30, len(data) // 2):
        for source in sources(tmp_path / "cut", data[:-lost]):
            reader = read_records(source, on_error="tail")
            got = list(reader)
            assert got == (TAILED[:-1] if not compression else TAILED[: len(got)])
            assert reader.last_error is not None
            assert reader.skipped == 0
            assert list(reader) == []


@pytest.mark.parametrize("data", [b"<html></html", b"<html", b"oops", b"\x89PNG\r\n"])
def test_tail_does_not_take_a_short_file_of_another_kind_for_a_cut_header(tmp_path, data):
    for source in sources(tmp_path / "short", data[:11]):
        with pytest.raises(CorruptionError, match="the file looks like"):
            list(read_records(source, on_error="tail"))


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_tail_raises_at_any_other_damage_and_at_each_call(tmp_path, compression):
    whole = frames(TAILED)
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    # A length that leads past the end, with good frames before the end: bytes are missing in the middle.
    missing = frames([b"a", bytes(5000)])[:-2000] + frames(TAILED)[:1000]
    for plain in (bytes(flipped), missing, whole + b"garbage after the last record", whole + bytes(100)):
        expected = list(read_records(io.BytesIO(plain), on_error="stop"))
        for source in sources(tmp_path / "bad", compressed(plain, compression)):
            reader, got = read_records(source, on_error="tail"), []
            with pytest.raises(CorruptionError):
                got.extend(reader)
            for _ in range(2):
                with pytest.raises(CorruptionError):
                    next(reader)
            assert got == expected[: len(got)]


def test_tail_of_each_of_several_files_may_be_cut_and_may_grow(tmp_path):
    data = frames(TAILED)
    (tmp_path / "a").write_bytes(data[:-5])
    (tmp_path / "b").write_bytes(data[:-5])
    reader = read_records([tmp_path / "a", tmp_path / "b"], on_error="tail")
    assert list(reader) == TAILED[:-1] * 2
    with open(tmp_path / "b", "ab") as file:
        file.write(data[-5:])
    assert list(reader) == TAILED[-1:]


# max_record_size

SIZES = [5, 0, 100, 101, 3, 1000, 100, 20_000, 7, 300_000, 9, 5_000_000, 100]


def payloads(lengths) -> list[bytes]:
    return [bytes([number % 251]) * length for number, length in enumerate(lengths)]


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
@pytest.mark.parametrize("limit", [0, 100, 20_000, 4_999_999, 5_000_000])
def test_records_above_the_limit_are_left_out_with_skip(tmp_path, compression, limit):
    records = payloads(SIZES)
    path = tmp_path / "file"
    path.write_bytes(compressed(frames(records), compression))
    wanted = [record for record in records if len(record) <= limit]
    for source in (path, io.BytesIO(path.read_bytes())):
        reader = read_records(source, on_error="skip", max_record_size=limit)
        assert list(reader) == wanted
        assert reader.skipped == len(records) - len(wanted)
    for size in (None, 1, 3, 100):
        batches = read_batches(path, batch_size=size, on_error="skip", max_record_size=limit)
        assert [record for batch in batches for record in batch] == wanted
    dataset = TFRecordDataset(path, on_error="skip", max_record_size=limit)
    assert list(dataset) == wanted


@given(st.lists(st.integers(0, 60), max_size=80), st.integers(0, 60))
def test_limit_cuts_any_mix_of_small_records_exactly(tmp_path, lengths, limit):
    records = payloads(lengths)
    path = tmp_path / "file"
    path.write_bytes(frames(records))
    wanted = [record for record in records if len(record) <= limit]
    for source in (path, io.BytesIO(path.read_bytes())):
        assert list(read_records(source, on_error="skip", max_record_size=limit)) == wanted
    assert list(read_records(path, max_record_size=60)) == records


@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("on_error", ["raise", "tail", "stop"])
def test_record_above_the_limit_is_an_error_at_each_call(tmp_path, compression, on_error):
    records = payloads(SIZES)
    path = tmp_path / "file"
    path.write_bytes(compressed(frames(records), compression))
    dataset = iter(TFRecordDataset(path, on_error=on_error, max_record_size=100))
    for reader in (read_records(path, on_error=on_error, max_record_size=100), dataset):
        assert [next(reader) for _ in range(3)] == records[:3]
        if on_error == "stop":
            assert list(reader) == []
            assert reader.last_error.record == 3
            continue
        for _ in range(2):
            with pytest.raises(
                CorruptionError, match="has 101 bytes, and max_record_size is 100; allow more"
            ) as caught:
                next(reader)
            assert (caught.value.path, caught.value.record) == (str(path), 3)
            assert caught.value.offset == len(frames(records[:3]))
            if reader is dataset:
                break


def test_record_above_the_limit_is_not_read_into_memory():
    class Endless(io.RawIOBase):
        """A header that announces 2**40 bytes; after some MB, reading on is an error."""

        def __init__(self):
            self.given = 0

        def read(self, size=-1):
            assert self.given < 1 << 24, "the payload is being read"
            data = frames([b"good"]) + header(1 << 40) if not self.given else bytes(size)
            self.given += len(data)
            return data

    reader = read_records(Endless(), max_record_size=1 << 30)
    assert next(reader) == b"good"
    with pytest.raises(CorruptionError, match=f"{1 << 40} bytes"):
        next(reader)


def test_forged_length_above_the_limit_does_not_hide_the_records_behind_it(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(frames([b"a"]) + header(1 << 40) + frames([b"b", b"c"]))
    assert list(read_records(path, on_error="skip", max_record_size=10)) == [b"a", b"b", b"c"]


def test_limit_must_be_a_number_that_is_not_negative(tmp_path):
    (tmp_path / "file").write_bytes(frames([b"a"]))
    for read in (read_records, read_batches, TFRecordDataset):
        with pytest.raises(ValueError, match="max_record_size must not be negative, not -1"):
            read(tmp_path / "file", max_record_size=-1)
        with pytest.raises(TypeError):
            read(tmp_path / "file", max_record_size="1 GB")
