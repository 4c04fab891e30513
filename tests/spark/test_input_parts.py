"""The files of a read, and the parts that tasks read."""

from __future__ import annotations

import json
import os

import pytest

import purerecord as pr
from purerecord.spark.input_parts import FilePart, input_files, input_parts
from purerecord.spark.options import ReadOptions, read_options
from tests.support.interop import interop

NAMES = [
    "_SUCCESS",
    ".hidden",
    "b.tfrecord",
    "a.tfrecord",
    "a.tfrecord.index",
    "_temporary-1/part-0",
    "MANIFEST.json",
]


def options(*paths: str, **given: str) -> ReadOptions:
    return read_options({"paths": json.dumps([str(path) for path in paths]), **given})


def made(folder, *names: str) -> None:
    for name in names:
        os.makedirs(os.path.dirname(folder / name), exist_ok=True)
        with pr.TFRecordWriter(str(folder / name)) as writer:
            writer.write(name)


def names(paths, **given: str) -> list[str]:
    files = input_files(options(*paths, **given))
    return [os.path.basename(os.path.dirname(file)) + "/" + os.path.basename(file) for file in files]


def test_folder_stands_for_its_files_without_hidden_and_index_files(tmp_path):
    made(tmp_path / "d", *NAMES)
    for path in (tmp_path / "d", f"{tmp_path}/d/", f"file:{tmp_path}/d", f"file://{tmp_path}/d"):
        assert names([path]) == ["d/a.tfrecord", "d/b.tfrecord"]


def test_folders_in_a_folder_are_read_on_request_and_never_left_out(tmp_path):
    made(tmp_path / "d", "a.tfrecord", "x=1/c.tfrecord", "x=1/_SUCCESS", "_hidden/e.tfrecord")
    with pytest.raises(ValueError, match="'x=1'; set recursiveFileLookup"):
        names([tmp_path / "d"])
    assert names([tmp_path / "d"], recursiveFileLookup="true") == ["d/a.tfrecord", "x=1/c.tfrecord"]


def test_glob_list_and_shard_pattern(tmp_path):
    made(tmp_path / "d", "s-00000-of-00002", "s-00001-of-00002", "other")
    assert names([tmp_path / "d" / "s-*"]) == ["d/s-00000-of-00002", "d/s-00001-of-00002"]
    assert names([tmp_path / "d" / "s@2"]) == ["d/s-00000-of-00002", "d/s-00001-of-00002"]
    assert names([tmp_path / "d/other", tmp_path / "d/s-00000*"]) == ["d/other", "d/s-00000-of-00002"]
    with pytest.raises(FileNotFoundError):
        names([tmp_path / "d/missing"])
    with pytest.raises(FileNotFoundError):
        names([tmp_path / "d/missing*"])


def test_glob_finds_folders_too(tmp_path):
    made(tmp_path, "x=1/a", "x=1/_SUCCESS", "x=2/b", "c")
    assert names([tmp_path / "x=*"]) == ["x=1/a", "x=2/b"]
    assert [name.rsplit("/", 1)[1] for name in names([tmp_path / "*"])] == ["c", "a", "b"]


def test_names_are_filtered(tmp_path):
    made(tmp_path / "d", "a.tfrecord", "b.json")
    assert names([tmp_path / "d"], pathGlobFilter="*.tfrecord") == ["d/a.tfrecord"]


def test_remote_folder_is_listed_as_a_local_one():
    fsspec = interop("fsspec")
    store = fsspec.filesystem("memory")
    for name in [*NAMES, "deep/c"]:
        store.pipe_file(f"/spark-parts/{name}", b"")
    try:
        with pytest.raises(ValueError, match="'deep'; set recursiveFileLookup"):
            input_files(options("memory://spark-parts"))
        found = input_files(options("memory://spark-parts/", recursiveFileLookup="true"))
        assert found == [f"memory://spark-parts/{name}" for name in ("a.tfrecord", "b.tfrecord", "deep/c")]
        (one,) = input_files(options("memory://spark-parts/a*"))
        assert one.endswith("/spark-parts/a.tfrecord")
        assert [len(part) for part in input_parts(found, options("memory://x"))] == [3]
    finally:
        store.rm("/spark-parts", recursive=True)


# --- Parts ------------------------------------------------------------------------------------------


def big(path, compression: str = "", block_size: int | None = None, records: int = 100) -> str:
    with pr.TFRecordWriter(str(path), pr.TFRecordOptions(compression, block_size=block_size)) as writer:
        writer.write_many(os.urandom(1000) for _ in range(records))
    return str(path)


def read(parts: list[FilePart]) -> list[bytes]:
    found = []
    for part in parts:
        for batch in pr.read_batches(part.path, byte_range=part.range):
            found += list(batch)
    return found


@pytest.mark.parametrize("block_size", [None, 5000])
def test_large_file_has_parts_that_give_each_record_once(tmp_path, block_size):
    path = big(tmp_path / "a", "GZIP" if block_size else "", block_size)
    parts = input_parts([path], options(path, splitSize="10000"))
    assert len(parts) > 9
    assert [record for part in parts for record in read(part)] == list(pr.read_records(path))


def test_file_that_cannot_be_split_is_one_part(tmp_path):
    path = big(tmp_path / "a", "GZIP")
    assert input_parts([path], options(path, splitSize="10000")) == [[FilePart(path)]]


def test_file_that_is_to_end_at_damage_is_one_part(tmp_path):
    path = big(tmp_path / "a")
    assert input_parts([path], options(path, splitSize="10000", on_error="stop")) == [[FilePart(path)]]
    assert len(input_parts([path], options(path, splitSize="10000", on_error="tail"))) > 1


def test_small_files_are_read_together_and_a_small_read_has_some_parts(tmp_path):
    files = [big(tmp_path / str(number), records=1) for number in range(64)]
    groups = input_parts(files, options("x"))
    assert [part.path for group in groups for part in group] == files
    assert 10 <= len(groups) <= 16
    assert all(part.range is None for group in groups for part in group)
    assert len(input_parts(files, options("x", splitSize="20MiB"))) == 16


def test_no_files_have_no_parts_and_empty_ones_do(tmp_path):
    assert input_parts([], options("x")) == []
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    assert input_parts([str(empty)], options("x")) == [[FilePart(str(empty))]]
    assert read([FilePart(str(empty))]) == []


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="this system has no such device")
def test_pipe_is_no_input_of_tasks():
    with pytest.raises(OSError, match="cannot be read by tasks"):
        input_parts(["/dev/null"], options("x"))
