"""Live TensorFlow: what each writes the other reads, and the bytes are the same to the last."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import purerecord
from purerecord import (
    ChecksumError,
    CompressionError,
    CorruptionError,
    RecordFile,
    TFRecordOptions,
    TFRecordWriter,
    TruncatedError,
    build_index,
    read_records,
)
from tests.support.damage import HEADER, cut, fix_crc, flip_byte, frames, header, set_length, starts
from tests.support.interop import interop

tf = interop("tensorflow")

HOME = str(Path(purerecord.__file__).parents[1])
CASES = {
    "none": [],
    "one": [b"hello"],
    "empty ones": [b""] * 5,
    "few": [b"hello", b"", bytes(range(256)), b"a" * 10_000],
    "many": [b"%d" % i * (i % 30) for i in range(5000)],
}


def mixed() -> list[bytes]:
    """Several MB of all sorts: text, numbers, noise, zeros, nothing."""
    rng = random.Random(7)
    words = [rng.randbytes(rng.randrange(1, 9)) for _ in range(500)]
    records: list[bytes] = []
    for number in range(2500):
        kind = number % 6
        size = rng.randrange(4000)
        if kind == 0:
            records.append(rng.randbytes(size // 2))
        elif kind == 1:
            records.append(bytes(size))
        elif kind == 2:
            records.append(b"%d," % number * (size // 8))
        elif kind == 3:
            records.append(b"")
        else:
            records.append(b" ".join(rng.choices(words, k=size // 5)))
    return [*records, words[0] * 60_000, rng.randbytes(300_000)]


MIXED = mixed()
assert sum(map(len, MIXED)) > 3_500_000


def write_tf(path: Path, records: list[bytes], options=None, flush_every: int = 0) -> Path:
    with tf.io.TFRecordWriter(str(path), options) as writer:
        write_all(writer, records, flush_every)
    return path


def write_ours(path: Path, records: list[bytes], options=None, flush_every: int = 0) -> Path:
    with TFRecordWriter(path, options) as writer:
        write_all(writer, records, flush_every)
    return path


def write_all(writer, records: list[bytes], flush_every: int) -> None:
    for number, record in enumerate(records, 1):
        writer.write(record)
        if flush_every and number % flush_every == 0:
            writer.flush()


def read_tf(path: Path, compression: str = "") -> list[bytes]:
    return list(tf.data.TFRecordDataset(str(path), compression).as_numpy_iterator())


def same_bytes(tmp_path: Path, compression: str, records=MIXED, flush_every: int = 0, **options) -> bool:
    theirs = write_tf(tmp_path / "tf", records, tf.io.TFRecordOptions(compression, **options), flush_every)
    ours = write_ours(tmp_path / "pr", records, TFRecordOptions(compression, **options), flush_every)
    return theirs.read_bytes() == ours.read_bytes()


both = pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
all_three = pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])


# What each writes the other reads


@all_three
@pytest.mark.parametrize("case", CASES)
def test_what_each_writes_the_other_reads(tmp_path, case, compression):
    records = CASES[case]
    assert list(read_records(write_tf(tmp_path / "tf", records, compression))) == records
    assert list(RecordFile(tmp_path / "tf")) == records
    assert read_tf(write_ours(tmp_path / "pr", records, compression), compression) == records
    assert (tmp_path / "tf").read_bytes() == (tmp_path / "pr").read_bytes()


@all_three
def test_large_files_go_both_ways(tmp_path, compression):
    assert list(read_records(write_tf(tmp_path / "tf", MIXED, compression))) == MIXED
    with TFRecordWriter(tmp_path / "pr", compression) as writer:
        writer.write_many(MIXED)
    assert read_tf(tmp_path / "pr", compression) == MIXED
    assert (tmp_path / "tf").read_bytes() == (tmp_path / "pr").read_bytes()


@pytest.mark.parametrize("block_size", [1, 1000, 1 << 20])
def test_blocked_gzip_is_ordinary_gzip_for_tensorflow(tmp_path, block_size):
    records = CASES["many"][:500] if block_size == 1 else MIXED
    path = write_ours(tmp_path / "pr", records, TFRecordOptions("GZIP", block_size=block_size))
    assert read_tf(path, "GZIP") == records
    iterator = tf.compat.v1.io.tf_record_iterator(str(path), tf.io.TFRecordOptions("GZIP"))
    assert list(iterator) == records
    assert RecordFile(path)[len(records) - 1] == records[-1]


def test_many_members_are_read_by_both_even_split_inside_a_record(tmp_path):
    path = tmp_path / "file"
    data = frames(CASES["few"])
    for at in (5, HEADER + 3, len(data) // 2, len(data)):
        path.write_bytes(gzip.compress(data[:at]) + gzip.compress(data[at:]))
        assert read_tf(path, "GZIP") == CASES["few"]
        assert list(read_records(path)) == CASES["few"]


def test_tensorflow_stops_at_an_empty_member_and_we_do_not(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(b"") + gzip.compress(frames([b"x"])))
    assert read_tf(path, "GZIP") == []
    assert list(read_records(path)) == [b"x"]


@pytest.mark.parametrize("options", ["", "GZIP", TFRecordOptions("GZIP", block_size=10)])
def test_appended_files_are_read_by_tensorflow(tmp_path, options):
    path = tmp_path / "file"
    for number in range(6):
        with TFRecordWriter(path, options, mode="a") as writer:
            writer.flush()
            if number % 2:  # every other time there is nothing to append
                writer.write(b"%d" % number)
    assert read_tf(path, TFRecordOptions(options).compression) == [b"1", b"3", b"5"]


def test_index_is_where_tensorflows_random_reader_finds_records(tmp_path):
    from tensorflow.python.lib.io import tf_record  # noqa: PLC0415 - a private module

    path = write_tf(tmp_path / "tf", CASES["few"])
    reader = tf_record.tf_record_random_reader(str(path))
    index = build_index(path)
    for offset, size, record in zip(index.offsets.tolist(), index.sizes.tolist(), CASES["few"], strict=True):
        assert reader.read(offset) == (record, offset + size)
    reader.close()


def test_sharded_files_are_read_by_tensorflow(tmp_path):
    with purerecord.ShardedWriter(tmp_path / "t@4") as writer:
        writer.write_many(CASES["many"])
    theirs = list(tf.data.TFRecordDataset(writer.paths).as_numpy_iterator())
    assert sorted(theirs) == sorted(CASES["many"])
    assert list(read_records(tmp_path / "t@4")) == theirs


# The bytes are the same


@both
@pytest.mark.parametrize("level", [-1, 1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_bytes_are_the_same_at_every_level(tmp_path, compression, level):
    assert same_bytes(tmp_path, compression, compression_level=level)


@both
@pytest.mark.parametrize("strategy", range(5))
def test_bytes_are_the_same_with_every_strategy(tmp_path, compression, strategy):
    assert same_bytes(tmp_path, compression, compression_strategy=strategy)


@pytest.mark.parametrize("mem_level", range(1, 10))
def test_bytes_are_the_same_at_every_memory_level(tmp_path, mem_level):
    assert same_bytes(tmp_path, "GZIP", mem_level=mem_level)


@pytest.mark.parametrize("window_bits", [8, 9, 12, 15, 25, 28, 31, -9, -15])
def test_bytes_are_the_same_with_every_window(tmp_path, window_bits):
    assert same_bytes(tmp_path, "ZLIB", window_bits=window_bits)


@both
@pytest.mark.parametrize("flush_mode", range(4))
@pytest.mark.parametrize("input_buffer_size", [None, 13, 1000, 70_000])
def test_bytes_are_the_same_with_every_flush_mode(tmp_path, compression, flush_mode, input_buffer_size):
    records = MIXED if input_buffer_size != 13 else MIXED[:300]
    options = {"flush_mode": flush_mode, "input_buffer_size": input_buffer_size}
    assert same_bytes(tmp_path, compression, records, **options)
    assert same_bytes(tmp_path, compression, MIXED[:600], flush_every=50, **options)


@both
@pytest.mark.parametrize("flush_every", [1, 7, 400])
def test_bytes_are_the_same_with_flushes(tmp_path, compression, flush_every):
    assert same_bytes(tmp_path, compression, flush_every=flush_every)


@both
@pytest.mark.parametrize("pattern", ["f", "ff", "wf", "wff", "fw", "ffw", "wffwf", "wwfwff", "fwfwf"])
def test_bytes_are_the_same_whenever_it_is_flushed(tmp_path, compression, pattern):
    for flush_mode in range(4):
        for size in (1, 12, 20, 100):
            options = {"flush_mode": flush_mode, "input_buffer_size": size}
            files = []
            for name, writer in (
                (
                    "tf",
                    tf.io.TFRecordWriter(str(tmp_path / "tf"), tf.io.TFRecordOptions(compression, **options)),
                ),
                ("pr", TFRecordWriter(tmp_path / "pr", TFRecordOptions(compression, **options))),
            ):
                for act in pattern:
                    if act == "f":
                        writer.flush()
                    else:
                        writer.write(b"hello" * 10)
                writer.close()
                files.append((tmp_path / name).read_bytes())
            assert files[0] == files[1], (flush_mode, size)


@both
def test_bytes_are_the_same_with_any_output_buffer(tmp_path, compression):
    for size in (2, 1000, 1 << 20):
        assert same_bytes(tmp_path, compression, MIXED[:500], output_buffer_size=size)


@both
@pytest.mark.parametrize("flush_mode", range(4))
@pytest.mark.parametrize("output_buffer_size", [10, 16, 64, 1000])
def test_bytes_are_the_same_where_tensorflow_repeats_flush_markers(
    tmp_path, compression, flush_mode, output_buffer_size
):
    # A marker that fills the output buffer comes twice: the smaller the buffer, the more often.
    options = {"flush_mode": flush_mode, "output_buffer_size": output_buffer_size}
    for input_buffer_size in (20, 300):
        options["input_buffer_size"] = input_buffer_size
        assert same_bytes(tmp_path, compression, MIXED[:150], flush_every=5, **options)


@pytest.mark.parametrize("seed", range(20))
def test_bytes_are_the_same_with_any_options(tmp_path, seed):
    rng = random.Random(seed)
    options = {
        "flush_mode": rng.choice([None, 0, 1, 2, 3]),
        "input_buffer_size": rng.choice([None, 1, 12, 16, 100, 1000, 65536]),
        "compression_level": rng.choice([None, -1, 1, 2, 4, 6, 9]),
        "mem_level": rng.choice([None, 1, 5, 8, 9]),
        "compression_strategy": rng.choice([None, 0, 1, 2, 3, 4]),
        "window_bits": rng.choice([None, None, 9, 15, 31]),
    }
    records = rng.sample(MIXED, 200)
    flush_every = rng.choice([0, 1, 3, 50])
    assert same_bytes(tmp_path, rng.choice(["GZIP", "ZLIB"]), records, flush_every, **options)


@both
def test_level_0_goes_both_ways_and_small_files_are_the_same(tmp_path, compression):
    assert same_bytes(tmp_path, compression, CASES["few"], compression_level=0)
    same_bytes(tmp_path, compression, compression_level=0)  # stored blocks depend on TensorFlow's buffers
    assert list(read_records(tmp_path / "tf")) == MIXED
    assert read_tf(tmp_path / "pr", compression) == MIXED


def test_options_are_those_of_tensorflow_even_its_own_objects(tmp_path):
    inner = tf.io.TFRecordOptions("GZIP", compression_level=1)
    outer = tf.io.TFRecordOptions(inner, compression_level=9)
    for options in (
        inner,
        outer,
        tf.io.TFRecordOptions(),
        tf.io.TFRecordOptions("ZLIB", mem_level=2),
        0,
        1,
        2,
    ):
        theirs = write_tf(tmp_path / "tf", CASES["many"], options)
        ours = write_ours(tmp_path / "pr", CASES["many"], options)
        assert theirs.read_bytes() == ours.read_bytes()
        assert list(read_records(theirs, compression=options)) == CASES["many"]
    nested = TFRecordOptions(TFRecordOptions("GZIP", compression_level=1), compression_level=9)
    assert (
        write_ours(tmp_path / "pr", CASES["many"], nested).read_bytes()
        == write_tf(tmp_path / "tf", CASES["many"], outer).read_bytes()
    )


def test_what_tensorflow_accepts_as_a_record_we_accept(tmp_path):
    import numpy as np  # noqa: PLC0415

    records = [b"x", bytearray(b"y"), "text äöü", np.bytes_(b"z"), np.str_("u")]
    for name, writer in (
        ("tf", tf.io.TFRecordWriter(str(tmp_path / "tf"))),
        ("pr", TFRecordWriter(tmp_path / "pr")),
    ):
        with writer:
            for record in records:
                writer.write(record)
        assert (tmp_path / name).read_bytes() == (tmp_path / "tf").read_bytes()


@all_three
def test_what_was_flushed_is_there_for_the_other_side(tmp_path, compression):
    path = tmp_path / "file"
    with TFRecordWriter(path, compression) as writer:
        writer.write_many(CASES["few"])
        writer.flush()
        assert read_tf(path, compression) == CASES["few"]
    writer = tf.io.TFRecordWriter(str(path), compression)
    write_all(writer, CASES["few"], 0)
    writer.flush()
    reader = read_records(path)
    assert [next(reader) for _ in CASES["few"]] == CASES["few"]
    writer.write(b"more")
    writer.close()
    assert list(reader) == [b"more"]


# Errors: where TensorFlow raises we raise, and sometimes where it does not

RECORDS = [b"first", b"second record", b"third"]
DATA = frames(RECORDS)
EDGES = starts(RECORDS)
GZIPPED, ZLIBBED = gzip.compress(DATA), zlib.compress(DATA)


def tf_outcome(path: Path, compression: str) -> tuple[list[bytes], bool]:
    """The records that TensorFlow gives, and whether an error ended them."""
    got: list[bytes] = []
    try:
        for record in tf.data.TFRecordDataset(str(path), compression).as_numpy_iterator():
            got.append(record)
    except tf.errors.OpError:
        return got, True
    return got, False


# name: bytes, compression, our error, the records before it, whether TensorFlow notices at all
FAULTS = {
    "length crc, first": (flip_byte(DATA, 9), "", ChecksumError, 0, True),
    "length crc, later": (flip_byte(DATA, EDGES[1]), "", ChecksumError, 1, True),
    "data crc": (flip_byte(DATA, EDGES[1] + 20), "", ChecksumError, 1, True),
    "footer": (flip_byte(DATA, len(DATA) - 1), "", ChecksumError, 2, True),
    "data short": (cut(DATA, EDGES[2] + 14), "", TruncatedError, 2, True),
    "footer short": (cut(DATA, len(DATA) - 1), "", TruncatedError, 2, True),
    "header only": (cut(DATA, EDGES[2] + 12), "", TruncatedError, 2, True),
    "header short": (cut(DATA, EDGES[2] + 5), "", TruncatedError, 2, False),
    "garbage of 11 bytes": (DATA + b"x" * 11, "", TruncatedError, 3, False),
    "garbage of 12 bytes": (DATA + b"x" * 12, "", ChecksumError, 3, True),
    "length 2**64-1": (header(2**64 - 1) + DATA, "", TruncatedError, 0, True),
    "length 2**63": (header(2**63) + DATA, "", TruncatedError, 0, True),
    "lying length": (fix_crc(set_length(DATA, 0, 6), 0), "", ChecksumError, 0, True),
    "gzip as plain": (gzip.compress(DATA), "", ChecksumError, 0, True),
    "plain as gzip": (DATA, "GZIP", CompressionError, 0, True),
    "plain as zlib": (DATA, "ZLIB", CompressionError, 0, True),
    "zlib as gzip": (zlib.compress(DATA), "GZIP", CompressionError, 0, True),
    "gzip as zlib": (gzip.compress(DATA), "ZLIB", CompressionError, 0, True),
    "gzip crc": (
        flip_byte(gzip.compress(DATA), -8 % len(gzip.compress(DATA))),
        "GZIP",
        CompressionError,
        3,
        True,
    ),
    "gzip size": (
        flip_byte(gzip.compress(DATA), len(gzip.compress(DATA)) - 1),
        "GZIP",
        CompressionError,
        3,
        True,
    ),
    "adler": (
        flip_byte(zlib.compress(DATA), len(zlib.compress(DATA)) - 1),
        "ZLIB",
        CompressionError,
        3,
        True,
    ),
    "gzip trailer missing": (gzip.compress(DATA)[:-8], "GZIP", CompressionError, 3, False),
    "zlib trailer missing": (zlib.compress(DATA)[:-4], "ZLIB", CompressionError, 3, False),
    "garbage behind gzip": (gzip.compress(DATA) + b"garbage", "GZIP", CompressionError, 3, True),
    "zeros behind gzip": (gzip.compress(DATA) + bytes(8), "GZIP", CompressionError, 3, True),
    "garbage behind zlib": (zlib.compress(DATA) + b"garbage", "ZLIB", CompressionError, 3, False),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_where_tensorflow_raises_we_raise_and_where_it_is_silent_too(tmp_path, fault):
    data, compression, error, before, noticed = FAULTS[fault]
    path = tmp_path / "file"
    path.write_bytes(data)
    reader = read_records(path, compression=compression)
    assert [next(reader) for _ in range(before)] == RECORDS[:before]
    with pytest.raises(error):
        next(reader)
    got, raised = tf_outcome(path, compression)
    assert raised == noticed
    assert got == RECORDS[: len(got)]
    assert len(got) <= before  # we save at least as much


def test_concatenated_zlib_streams_are_all_read_here_and_not_by_tensorflow(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(zlib.compress(DATA) + zlib.compress(DATA))
    assert list(read_records(path)) == RECORDS * 2
    assert read_tf(path, "ZLIB") == RECORDS


def test_empty_file_is_empty_for_both(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"")
    for compression in ("", "GZIP", "ZLIB"):
        assert read_tf(path, compression) == []
        assert list(read_records(path, compression=compression)) == []


def test_random_damage_never_gives_us_a_record_that_tensorflow_refuses(tmp_path):
    path = tmp_path / "file"
    rng = random.Random(3)
    for _ in range(100):
        data = flip_byte(DATA, rng.randrange(len(DATA)), rng.randrange(1, 256))
        path.write_bytes(cut(data, rng.choice([len(data), rng.randrange(len(data))])))
        got, raised = tf_outcome(path, "")
        ours = []
        try:
            for record in read_records(path):
                ours.append(record)
        except CorruptionError:
            assert ours == got
            continue
        assert (ours, False) == (got, raised)


def test_reader_of_a_growing_file_goes_on_as_tensorflows_does(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"")
    theirs = tf.compat.v1.io.tf_record_iterator(str(path))
    ours = read_records(path)
    for number in range(4):
        assert (next(theirs, None), next(ours, None)) == (None, None)
        with TFRecordWriter(path, mode="a") as writer:
            writer.write(b"%d" % number)
        assert next(theirs) == next(ours) == b"%d" % number


# One process


@pytest.mark.parametrize(
    "order",
    ["tensorflow, purerecord", "purerecord, tensorflow"],
    ids=["TensorFlow first", "purerecord first"],
)
def test_both_live_in_one_process_whichever_is_imported_first(tmp_path, order):
    program = f"""
import {order}
import purerecord as pr, tensorflow as tf
message = tf.train.Example(features=tf.train.Features(feature={{
    "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))}}))
with pr.TFRecordWriter("file", "GZIP") as writer:
    writer.write(message)
    writer.write(pr.Example.FromString(message.SerializeToString()))
    writer.write(pr.encode_example({{"a": [1, 2]}}))
payloads = list(pr.read_records("file"))
assert payloads == [message.SerializeToString()] * 3
assert [p.numpy() for p in tf.data.TFRecordDataset("file", "GZIP")] == payloads
theirs = tf.io.parse_single_example(payloads[0], {{"a": tf.io.FixedLenFeature([2], tf.int64)}})
ours = pr.parse_single_example(payloads[0], {{"a": pr.FixedLenFeature([2], "int64")}})
assert theirs["a"].numpy().tolist() == ours["a"].tolist() == [1, 2]
print("both")
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": HOME, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "both"), done.stderr[-2000:]
