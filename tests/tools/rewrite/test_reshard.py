"""``reshard``, ``merge`` and ``compress``: the same records in the same order, whatever the files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord import TFRecordOptions, TFRecordWriter, read_records
from purerecord.tools import compress, merge, reshard
from tests.support.rewriting import PAYLOADS, files_of, records, shards, write_inputs
from tests.support.settings import tries

OPTIONS = [None, "GZIP", "ZLIB", TFRecordOptions("GZIP", block_size=2000)]


@settings(max_examples=tries(60))
@given(
    lengths=st.lists(st.integers(0, 300), max_size=40),
    files=st.integers(1, 4),
    division=st.tuples(st.sampled_from(["shards", "max_records", "max_bytes"]), st.integers(1, 600)),
    options=st.sampled_from(OPTIONS),
)
def test_records_keep_their_order_whatever_the_division(tmp_path_factory, lengths, files, division, options):
    division, number = division
    folder = tmp_path_factory.mktemp("division")
    payloads = [bytes([i % 256]) * length for i, length in enumerate(lengths)]
    source = write_inputs(folder / "in", payloads, files, options)
    if division == "shards":
        number = 1 + number % 9
    out = reshard(source, folder / "out@*", **{division: number}, options="")
    assert records(out.paths) == payloads
    assert list(out.lengths) == [len(shard) for shard in shards(out.paths)]
    assert out.read == out.records == len(payloads)
    for shard in shards(out.paths):
        if division == "max_records":
            assert len(shard) <= number
        if division == "max_bytes":
            assert sum(map(len, shard)) + 16 * len(shard) <= number or len(shard) == 1
    if division == "shards":
        assert len(out.paths) == number
        assert max(out.lengths) - min(out.lengths) <= 1


def test_max_bytes_and_max_records_hold_together(tmp_path):
    payloads = [b"x" * 10] * 50 + [b"y" * 1000] * 5
    out = reshard(write_inputs(tmp_path / "in", payloads), tmp_path / "out@*", max_bytes=1100, max_records=20)
    assert records(out.paths) == payloads
    assert out.lengths == (20, 20, 10, 1, 1, 1, 1, 1)


def test_shards_are_filled_before_the_next_begins(tmp_path):
    source = write_inputs(tmp_path / "in", [b"x" * 84] * 25)  # frames of 100 bytes
    assert reshard(source, tmp_path / "out@*", max_bytes=1000).lengths == (10, 10, 5)
    assert reshard(source, tmp_path / "more@*", max_bytes=999).lengths == (9, 9, 7)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("workers", [1, 2])
def test_any_number_of_workers_writes_the_same_files(tmp_path, options, workers):
    source = write_inputs(tmp_path / "in", options=options)
    reshard(source, tmp_path / "one" / "out@5", workers=1, manifest=True)
    reshard(source, tmp_path / "more" / "out@5", workers=workers, manifest=True)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "more")


def test_output_is_compressed_as_the_input(tmp_path):
    blocked = write_inputs(tmp_path / "in", options=OPTIONS[3])
    (path,) = merge(blocked, tmp_path / "merged").paths
    assert Path(path).read_bytes()[:4] == b"\x1f\x8b\x08\x06"  # with a field for the size of the block
    (path,) = merge(blocked, tmp_path / "plain", options="").paths
    assert list(read_records(path, compression="")) == PAYLOADS


def test_input_of_mixed_compression_must_say_what_the_output_is(tmp_path):
    write_inputs(tmp_path / "a")
    write_inputs(tmp_path / "b", options="GZIP")
    both = [tmp_path / "a" / "in-2.tfrecord", tmp_path / "b" / "in-2.tfrecord"]
    with pytest.raises(ValueError, match="the input is GZIP and not compressed; say how the output is"):
        merge(both, tmp_path / "out")
    assert len(records(merge(both, tmp_path / "out", options="ZLIB").paths)) == 2 * 112


def test_merge_gives_the_file_its_exact_name(tmp_path):
    out = merge(write_inputs(tmp_path / "in"), tmp_path / "all.tfrecord")
    assert out.paths == (str(tmp_path / "all.tfrecord"),)
    assert records(out.paths) == PAYLOADS


@pytest.mark.parametrize("to", ["gzip-blocks", "gzip", "zlib", "none"])
def test_compressing_there_and_back_keeps_every_file(tmp_path, to):
    source = write_inputs(tmp_path / "in")
    compress(source, f"{tmp_path / 'packed'}/", to)
    compress(f"{tmp_path / 'packed'}/*", f"{tmp_path / 'back'}/", "none")
    assert files_of(tmp_path / "back") == files_of(tmp_path / "in")


def test_compress_takes_as_many_shards_as_there_are_files(tmp_path):
    out = compress(write_inputs(tmp_path / "in"), tmp_path / "out@*.tfrecord", "gzip")
    assert [Path(path).name for path in out.paths] == [f"out-{n:05d}-of-00003.tfrecord" for n in range(3)]
    assert shards(out.paths) == shards(sorted(map(str, (tmp_path / "in").iterdir())))


def test_unknown_compression_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="to must be one of gzip-blocks, gzip, zlib, none, not 'zip'"):
        compress(write_inputs(tmp_path / "in"), tmp_path / "out@*", "zip")


def test_reshard_must_be_told_how_many(tmp_path):
    source = write_inputs(tmp_path / "in")
    for out in ("out", "out@*", "folder/"):
        with pytest.raises(ValueError, match="say how many"):
            reshard(source, f"{tmp_path}/{out}")


def test_merge_needs_less_than_the_input(tmp_path):
    with pytest.raises(ValueError, match="a merge has one output or few"):
        merge(write_inputs(tmp_path / "in"), tmp_path / "out@*")


def test_no_records_make_empty_shards(tmp_path):
    TFRecordWriter(tmp_path / "empty").close()
    assert reshard(tmp_path / "empty", tmp_path / "out@3").lengths == (0, 0, 0)
    assert reshard(tmp_path / "empty", tmp_path / "all@*", max_bytes=100).lengths == (0,)


def test_large_file_is_read_from_its_middle(tmp_path):
    payloads = [bytes([i]) * 1_000_003 for i in range(40)]
    source = write_inputs(tmp_path / "in", payloads, files=1)
    assert records(reshard(source, tmp_path / "out@7").paths) == payloads


def test_shards_of_another_number_beside_the_new_ones_are_named(tmp_path):
    source = write_inputs(tmp_path / "in")
    assert reshard(source, tmp_path / "out@2.x").others == ()
    (tmp_path / "out-more-00000-of-00009.x").touch()  # of another name
    done = reshard(source, tmp_path / "out@3.x")
    assert done.others == tuple(str(tmp_path / f"out-0000{n}-of-00002.x") for n in range(2))
    assert f"note: there are also 2 shards of another number, first {done.others[0]}" in str(done)
