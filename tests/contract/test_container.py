"""The contract of the container: each promise as a property that holds for any file."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import random
import struct
import subprocess
import sys
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import purerecord
from purerecord import (
    ChecksumError,
    CorruptionError,
    PureRecordError,
    RecordFile,
    ShardedWriter,
    StaleIndexError,
    TFRecordOptions,
    TFRecordWriter,
    TruncatedError,
    build_index,
    load_index,
    read_batches,
    read_records,
)
from purerecord.container.frame_stream import FrameStream
from purerecord.storage.opened import Opened
from tests.support.all_readers import STREAMING, Outcome, Trickle, agreed, outcome
from tests.support.damage import (
    FOOTER,
    HEADER,
    OVERHEAD,
    cut,
    delete,
    fix_crc,
    flip_bit,
    flip_byte,
    frames,
    insert,
    set_length,
    starts,
    swap,
    zero,
)
from tests.support.missing_library import needs_missing_library
from tests.support.settings import sampled, tries

HOME = str(Path(purerecord.__file__).parents[1])
COMPRESS = {
    "plain": bytes,
    "GZIP": gzip.compress,
    "ZLIB": zlib.compress,
    "BZ2": bz2.compress,
    "XZ": lzma.compress,
}
each_compression = pytest.mark.parametrize("compression", COMPRESS)

payload_lists = st.lists(st.binary(max_size=40), max_size=10)
some_payloads = st.lists(st.binary(max_size=40), min_size=1, max_size=10)


@st.composite
def damaged_files(draw) -> tuple[list[bytes], bytes]:
    """Records, and a file of them, plain or compressed, with up to three random damages."""
    records = draw(some_payloads)
    whole = frames(records)
    inside = draw(st.booleans())
    compression = draw(st.sampled_from(list(COMPRESS.values())))
    data = whole if inside else compression(whole)
    for _ in range(draw(st.integers(0, 3))):
        begin, middle, end = sorted(draw(st.integers(0, len(data))) for _ in range(3))
        kind = draw(st.sampled_from(["bit", "byte", "cut", "insert", "delete", "zero", "swap"]))
        if kind == "bit" and begin < len(data):
            data = flip_bit(data, 8 * begin + draw(st.integers(0, 7)))
        elif kind == "byte" and begin < len(data):
            data = flip_byte(data, begin, draw(st.integers(1, 255)))
        elif kind == "cut":
            data = cut(data, end)
        elif kind == "insert":
            data = insert(data, begin, draw(st.binary(max_size=20)))
        elif kind == "delete":
            data = delete(data, begin, middle)
        elif kind == "zero":
            data = zero(data, begin, middle)
        elif kind == "swap":
            data = swap(data, (begin, middle), (middle, end))
    return records, compression(data) if inside else data


# 1. Data that does not end at a frame boundary is a TruncatedError.


@given(some_payloads, st.data())
def test_data_that_ends_inside_a_frame_is_truncated_and_never_just_ends(tmp_path, records, data):
    path = tmp_path / "file"
    whole = frames(records)
    size = data.draw(st.integers(0, len(whole)))
    path.write_bytes(cut(whole, size))
    edges = starts(records)
    complete = sum(edge <= size for edge in edges) - 1
    expected = None if size in edges else (TruncatedError, complete, edges[complete])
    assert agreed(path) == Outcome(records[:complete], expected)


@each_compression
def test_every_cut_of_a_small_file_is_seen(tmp_path, compression):
    records = [b"ab", b"", b"xyz"]
    whole = COMPRESS[compression](frames(records))
    path = tmp_path / "file"
    for size in range(1, len(whole)):
        path.write_bytes(cut(whole, size))
        got, error = agreed(path)
        assert got == records[: len(got)]
        assert (error is None) == (compression == "plain" and size in starts(records))


# 2. A length is used only after its CRC was checked, and never allocates more memory than the file has bytes.


@given(some_payloads, st.data())
def test_length_whose_crc_does_not_match_is_never_followed(tmp_path, records, data):
    path = tmp_path / "file"
    number = data.draw(st.integers(0, len(records) - 1))
    length = data.draw(st.integers(0, 2**64 - 1) | st.integers(0, 100))
    at = starts(records)[number]
    if length == len(records[number]):
        return
    path.write_bytes(set_length(frames(records), at, length))
    assert agreed(path) == Outcome(records[:number], (ChecksumError, number, at))
    with pytest.raises(ChecksumError, match="length checksum"):
        build_index(path)


@each_compression
@pytest.mark.parametrize("length", [2**26, 2**40, 2**62, 2**63 - 1, 2**64 - 17, 2**64 - 1])
def test_absurd_length_whose_crc_matches_takes_no_memory(tmp_path, compression, length):
    path = tmp_path / "file"
    records = [b"first", b"second"]
    at = starts(records)[1]
    path.write_bytes(COMPRESS[compression](fix_crc(set_length(frames(records), at, length), at)))
    tracemalloc.start()
    assert agreed(path) == Outcome([b"first"], (TruncatedError, 1, at))
    assert outcome(read_records(path, on_error="skip")).error is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 26


# 3. Any bytes give records or a PureRecordError.


@given(damaged_files() | st.binary(max_size=300).map(lambda data: ([], data)))
@example(([], b"BZh9"))
@example(([], b"\x04\x22\x4d\x18"))
@settings(max_examples=tries(200))
def test_any_bytes_give_records_or_a_pure_record_error(tmp_path, file):
    _, data = file
    assume(not needs_missing_library(data))
    path = tmp_path / "file"
    path.write_bytes(data)
    for compression in ("auto", "", "GZIP", "ZLIB", "BZ2", "XZ"):
        for on_error in ("raise", "skip", "stop"):
            found = outcome(read_records(path, compression=compression, on_error=on_error))
            assert found.error is None or on_error == "raise"
    for use in (build_index, load_index, RecordFile, lambda path: list(RecordFile(path))):
        with contextlib.suppress(PureRecordError, io.UnsupportedOperation):
            use(path)


def test_message_of_any_error_names_the_file(tmp_path):
    path = tmp_path / "file"
    rng = random.Random(0)
    whole = frames([b"ab", b"", b"x" * 20])
    for _ in range(200):
        path.write_bytes(flip_bit(whole, rng.randrange(8 * len(whole))))
        for use in (lambda: list(read_records(path)), lambda: list(RecordFile(path))):
            with pytest.raises(CorruptionError) as caught:
                use()
            assert str(caught.value).startswith(str(path))


# 4. Both CRCs are verified by default.


@each_compression
def test_every_flipped_bit_is_seen_and_no_record_is_invented(tmp_path, compression):
    records = [b"ab", b"", b"xyz"]
    whole = COMPRESS[compression](frames(records))
    path = tmp_path / "file"
    for bit in sampled(range(8 * len(whole)), 50):
        path.write_bytes(flip_bit(whole, bit))
        got, error = agreed(path)
        assert got == records[: len(got)]
        if compression == "plain":
            number = sum(edge <= bit // 8 for edge in starts(records)) - 1
            assert got == records[:number]
            assert error == (ChecksumError, number, starts(records)[number])
        else:
            assert error is not None or got == records


def test_every_damaged_byte_of_a_blocked_file_is_seen(tmp_path):
    records = [b"ab", b"", b"x" * 20]
    path = tmp_path / "file"
    with TFRecordWriter(path, TFRecordOptions("GZIP", block_size=1)) as writer:
        for record in records:
            writer.write(record)
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(flip_byte(whole, at, 1 << at % 8))
        got, error = outcome(read_records(path))
        assert got == records[: len(got)]
        assert error is not None or got == records
        try:
            indexed = outcome(RecordFile(path))
        except StaleIndexError:
            continue
        assert indexed.records == records[: len(indexed.records)]
        assert indexed.error is not None or indexed.records == records


@given(some_payloads, st.data())
def test_defaults_verify_everywhere(tmp_path, records, data):
    path = tmp_path / "file"
    edges = starts(records)
    number = data.draw(st.integers(0, len(records) - 1))
    at = data.draw(st.integers(edges[number] + HEADER, edges[number + 1] - 1))
    path.write_bytes(flip_byte(frames(records), at, data.draw(st.integers(1, 255))))
    expected = Outcome(records[:number], (ChecksumError, number, edges[number]))
    assert agreed(path) == expected
    assert outcome(RecordFile(path)) == expected
    with pytest.raises(ChecksumError, match="data checksum"):
        RecordFile(path)[number]
    with pytest.raises(ChecksumError):
        RecordFile(path).__getitems__(range(len(records)))


# 5. Every byte is accounted for: in a good frame, or in damage.


@given(payload_lists)
def test_index_of_a_whole_file_covers_every_byte(tmp_path, records):
    path = tmp_path / "file"
    path.write_bytes(frames(records))
    found = build_index(path)
    assert [0, *(found.offsets + found.sizes).tolist()] == starts(records)
    assert int(found.sizes.sum()) == path.stat().st_size


@given(damaged_files())
def test_frames_and_damage_cover_every_byte_once(tmp_path, file):
    _, data = file
    path = tmp_path / "file"
    path.write_bytes(data)
    stream = FrameStream(Opened(str(path), ""))
    position = 0
    while True:
        try:
            records = stream.next()
        except CorruptionError:
            damage = stream.skip()
            assert damage.begin == position
            assert damage.end > damage.begin
            position = damage.end
            continue
        if records is None:
            break
        for begin, end in zip(records.begins.tolist(), records.ends.tolist(), strict=True):
            # Damage can end at the payload: the header alone was damaged.
            assert position in (records.base + begin - HEADER, records.base + begin)
            position = records.base + end + FOOTER
    stream.close()
    assert position == len(data)


# 7. All ways to read agree, on whole files and on damaged ones.


@given(payload_lists, st.sampled_from(list(COMPRESS.values())), st.integers(1, 5))
def test_all_ways_to_read_agree_on_whole_files(tmp_path, records, compress, copies):
    path = tmp_path / "file"
    path.write_bytes(compress(frames(records * copies)))
    assert agreed(path) == Outcome(records * copies, None)
    indexed = RecordFile(path)
    assert len(indexed) == len(records) * copies
    if compress is bytes:
        assert [indexed[i] for i in range(len(indexed))] == records * copies


@given(damaged_files())
@settings(max_examples=tries(200))
def test_all_ways_to_read_agree_on_damaged_files(tmp_path, file):
    _, data = file
    path = tmp_path / "file"
    path.write_bytes(data)
    agreed(path)


@given(damaged_files())
@settings(max_examples=tries(50))
def test_all_ways_to_read_agree_on_what_to_skip(tmp_path, file):
    _, data = file
    path = tmp_path / "file"
    path.write_bytes(data)
    expected = list(read_records(path, on_error="skip"))
    for source in (io.BytesIO(data), Trickle(data, 1), Trickle(data, 13)):
        assert list(read_records(source, on_error="skip")) == expected
    for batch_size in (None, 1, 3, 1000):
        batches = read_batches(path, batch_size=batch_size, on_error="skip")
        assert [record for batch in batches for record in batch] == expected
    stopped = list(read_records(path, on_error="stop"))
    assert stopped == outcome(read_records(path)).records
    assert expected[: len(stopped)] == stopped


@pytest.mark.parametrize("seed", range(tries(2)))
@each_compression
def test_all_ways_to_read_agree_on_large_damaged_files(tmp_path, seed, compression):
    rng = random.Random(f"{seed}{compression}")
    count = 40 if compression in ("BZ2", "XZ") else 300  # they are slow
    records = [rng.randbytes(rng.choice([0, 10, 100, 5000, 50_000])) for _ in range(count)]
    path = tmp_path / "file"
    whole = COMPRESS[compression](frames(records))
    ways = {way: read for way, read in STREAMING.items() if "stream" not in way}
    ways["pieces"] = lambda path: read_records(Trickle(path.read_bytes(), 5000))
    for _ in range(3):
        at = rng.randrange(len(whole))
        damaged = rng.choice([flip_byte(whole, at), cut(whole, at), zero(whole, at, at + 700)])
        path.write_bytes(damaged)
        outcomes = {way: outcome(read(path)) for way, read in ways.items()}
        first = outcomes["read_records"]
        assert first.error is not None or first.records == records
        assert first.records == records[: len(first.records)]
        for way, found in outcomes.items():
            assert found == first, way


# 8. No silent fallback.


@pytest.mark.parametrize(
    "use",
    [
        lambda path: read_records(path, compression="FOO"),
        lambda path: read_records(path, compression="gzip"),
        lambda path: read_batches(path, compression="SNAPPY"),
        lambda path: read_records(path, on_error="ignore"),
        lambda path: TFRecordWriter(path, "FOO"),
        lambda path: TFRecordWriter(path, mode="rw"),
        lambda path: TFRecordOptions("GZIP", compression_level=10),
        lambda path: TFRecordOptions("ZLIB", block_size=1000),
        lambda path: TFRecordWriter(path, "ZLIB", index=True),
        ShardedWriter,
        lambda path: ShardedWriter(path, shards=2, max_records=3),
        lambda path: ShardedWriter(f"{path}@2", shards=3),
        lambda path: RecordFile(path, index=[None, None]),
        lambda path: build_index(path).save(f"{path}.x", format="csv"),
        lambda path: next(read_batches(path, batch_size=0)),
    ],
)
def test_what_cannot_be_meant_is_a_value_error(tmp_path, use):
    path = tmp_path / "file"
    path.write_bytes(frames([b"x"]))
    with pytest.raises(ValueError, match=r"\w"):
        use(path)
    assert path.read_bytes() == frames([b"x"])
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    "use", [read_records, read_batches, RecordFile, TFRecordWriter, ShardedWriter, build_index, load_index]
)
def test_unknown_option_is_a_type_error(tmp_path, use):
    path = tmp_path / "file"
    path.write_bytes(frames([b"x"]))
    with pytest.raises(TypeError):
        use(path, verfy=False)


def test_stale_index_is_never_used_nor_quietly_replaced(tmp_path):
    path = tmp_path / "file"
    with TFRecordWriter(path, index=True) as writer:
        writer.write_many([b"a", b"b"])
    before = (tmp_path / "file.index").read_bytes()
    path.write_bytes(frames([b"c"]))
    for use in (lambda: len(RecordFile(path)), lambda: RecordFile(path)[0], lambda: list(RecordFile(path))):
        with pytest.raises(StaleIndexError):
            use()
    assert (tmp_path / "file.index").read_bytes() == before


# 9. No global state.


def test_import_and_use_change_nothing_global(tmp_path):
    program = """
import json, locale, logging, os, random, signal, sys, threading, warnings
import numpy
random.seed(1); numpy.random.seed(1)

def state():
    return json.dumps([
        random.getstate(), str(numpy.random.get_state()), numpy.geterr(), [str(f) for f in warnings.filters],
        logging.root.level, [str(h) for h in logging.root.handlers], sorted(logging.root.manager.loggerDict),
        str(signal.getsignal(signal.SIGINT)), os.getcwd(), sorted(os.environ), threading.active_count(),
        locale.setlocale(locale.LC_ALL),
    ])

before = state()
import purerecord
imported = state()
with purerecord.TFRecordWriter("file", index=True) as writer:
    writer.write_many([b"x"] * 1000)
with purerecord.ShardedWriter("t@3") as writer:
    writer.write_many([b"x"] * 10)
assert list(purerecord.read_records("file")) == list(purerecord.RecordFile("file"))
assert list(purerecord.read_records("t@3"))
used = state()
print(json.dumps([before == imported, imported == used]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": HOME},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [True, True]


def test_reading_and_writing_print_nothing(tmp_path, capfd):
    path = tmp_path / "file"
    with TFRecordWriter(path, "GZIP") as writer:
        writer.write(b"x")
    path.write_bytes(cut(path.read_bytes(), 20))
    list(read_records(path, on_error="skip"))
    assert capfd.readouterr() == ("", "")


def test_same_records_give_the_same_bytes_always(tmp_path):
    records = [random.Random(i).randbytes(i) for i in range(200)]
    for options in (None, "GZIP", "ZLIB", TFRecordOptions("GZIP", block_size=500)):
        files = []
        for name in ("one", "two"):
            with TFRecordWriter(tmp_path / name, options) as writer:
                writer.write_many(records)
            files.append((tmp_path / name).read_bytes())
        assert files[0] == files[1]
    assert struct.calcsize("<QI") + FOOTER == OVERHEAD
