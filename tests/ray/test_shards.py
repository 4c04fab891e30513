"""Files and pieces of them: found as Ray finds them, and every record in exactly one piece."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.ray import shards
from purerecord.ray.shards import Piece, cut, find_files, look_at, share
from tests.support.interop import interop


def put(folder, *names) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")


def test_a_folder_is_all_that_is_in_it_but_hidden_files_and_json(tmp_path):
    put(
        tmp_path, "b[1]/a-0.gz", "b[1]/c/a-1", "b[1]/.tmp", "b[1]/_SUCCESS", "b[1]/_x/a", "b[1]/MANIFEST.json"
    )
    put(tmp_path, "b[1]/a-0.gz.index", "other")
    folder = tmp_path / "b[1]"
    found = [str(folder / "a-0.gz"), str(folder / "c" / "a-1")]
    assert find_files(folder) == find_files([str(folder) + "/"]) == found
    assert find_files([folder, tmp_path / "other"]) == [*found, str(tmp_path / "other")]
    assert find_files(folder, extensions=["GZ"]) == found[:1]
    assert find_files(folder, choose=lambda paths: [path for path in paths if "/c/" in path]) == found[1:]


@pytest.mark.parametrize("name", ["train", "a", "d", "x-train", "tfrecord"])
def test_a_file_whose_name_has_that_of_the_folder_in_it_is_found(tmp_path, name):
    names = [f"{name}/{name}_1.tfrecord", f"{name}/{name}/of-{name}.tfrecord", f"{name}/{name}.tfrecord"]
    put(tmp_path, *names, f"{name}/_{name}", f"{name}/_/{name}/{name}")
    assert sorted(find_files(tmp_path / name)) == sorted(str(tmp_path / one) for one in names)
    memory = interop("fsspec").filesystem("memory")
    for one in [*names, f"{name}/_{name}", f"{name}/{name}/_{name}/{name}"]:
        memory.pipe_file(f"/named/{one}", b"")
    try:
        found = find_files(f"memory://named/{name}/")
        assert sorted(path.partition("/named/")[2] for path in found) == sorted(names)
    finally:
        memory.rm("/named", recursive=True)


def test_names_become_absolute(tmp_path, monkeypatch):
    put(tmp_path, "a")
    monkeypatch.chdir(tmp_path)
    assert find_files("a") == find_files(["a"]) == [str(tmp_path / "a")]
    assert find_files("*") == [str(tmp_path / "a")]


def test_a_missing_file_is_an_error_unless_it_may_be_missing(tmp_path):
    put(tmp_path, "a")
    paths = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(FileNotFoundError):
        find_files(paths)
    assert find_files(paths, ignore_missing=True) == [str(paths[0])]
    for nothing in ({"ignore_missing": True}, {"extensions": ["gz"]}, {"choose": lambda paths: []}):
        with pytest.raises(FileNotFoundError):
            find_files(paths[1 if "ignore_missing" in nothing else 0], **nothing)


def test_a_remote_folder_is_found_too():
    memory = interop("fsspec").filesystem("memory")
    for name in ("/find/part/a", "/find/part/b/c.tfrecord", "/find/part/_d", "/find/part/e.json"):
        memory.pipe_file(name, b"")
    try:
        found = ["memory://find/part/a", "memory://find/part/b/c.tfrecord"]
        found = ["memory://" + name.removeprefix("memory://").lstrip("/") for name in found]
        for paths in ("memory://find/part", "memory://find/part/", ["memory://find/part"]):
            assert ["memory://" + path[9:].lstrip("/") for path in find_files(paths)] == found
        assert find_files(["memory://find/no", "memory://find/part/a"], ignore_missing=True) == [
            "memory://find/part/a"
        ]
    finally:
        memory.rm("/find", recursive=True)


@given(
    counts=st.lists(st.integers(0, 40), min_size=1, max_size=4),
    cuts=st.tuples(st.integers(50, 2000), st.integers(1, 9)),
    index=st.booleans(),
    block_size=st.sampled_from([None, 100]),
)
def test_every_record_is_in_one_piece_and_an_index_tells_how_many(
    tmp_path_factory, counts, cuts, index, block_size
):
    most, tasks = cuts
    folder = tmp_path_factory.mktemp("pieces")
    records = []
    for number, count in enumerate(counts):
        some = [b"%d %d" % (number, i) + bytes(i % 30) for i in range(count)]
        options = None if block_size is None else pr.TFRecordOptions("GZIP", block_size=block_size)
        with pr.TFRecordWriter(folder / f"{number}.tfrecord", options, index=index) as writer:
            writer.write_many(some)
        records += some
    pieces = cut(look_at(find_files(folder)), most, tasks)
    found = [list(read(piece)) for piece in pieces]
    assert [record for some in found for record in some] == records
    assert [piece.records for piece in pieces] == (
        [len(some) for some in found] if index else [None] * len(found)
    )
    assert all(piece.size <= most for piece in pieces if not index and piece.byte_range is not None)
    assert [piece for some in share(pieces, tasks) for piece in some] == pieces
    assert len(share(pieces, tasks)) <= tasks


def read(piece: Piece):
    for batch in pr.read_batches(piece.path, byte_range=piece.byte_range):
        yield from batch


def test_a_file_is_cut_finer_if_there_are_tasks_for_it(tmp_path, monkeypatch):
    with pr.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_many([bytes(84)] * 100)
    found = look_at(find_files(tmp_path))
    assert [piece.byte_range for piece in cut(found, 1 << 20, 4)] == [None]
    monkeypatch.setattr(shards, "_SMALLEST_PIECE", 1000)
    pieces = cut(found, 1 << 20, 4)
    assert [piece.size for piece in pieces] == [2500] * 4
    assert [piece.byte_range for piece in cut(found, 1 << 20, 1)] == [None]


def test_a_large_index_is_not_loaded_and_a_stale_one_is_an_error(tmp_path, monkeypatch):
    with pr.TFRecordWriter(tmp_path / "a", index=True) as writer:
        writer.write_many([b"x"] * 10)
    assert [piece.records for piece in cut(look_at(find_files(tmp_path)), 1 << 20, 1)] == [10]
    with open(tmp_path / "a", "r+b") as file:
        file.write(b"\2")
    with pytest.raises(pr.StaleIndexError):
        cut(look_at(find_files(tmp_path)), 1 << 20, 1)
    monkeypatch.setattr(shards, "_LARGEST_INDEX", os.path.getsize(tmp_path / "a.index") - 1)
    assert [piece.records for piece in cut(look_at(find_files(tmp_path)), 1 << 20, 1)] == [None]


@given(sizes=st.lists(st.integers(0, 1000), max_size=30), tasks=st.integers(1, 12))
def test_tasks_have_neighbours_of_about_as_many_bytes(sizes, tasks):
    pieces = [Piece(str(i), None, size, None) for i, size in enumerate(sizes)]
    shared = share(pieces, tasks)
    assert [piece for some in shared for piece in some] == pieces
    assert len(shared) <= tasks
    assert all(shared)
    even = sum(max(size, 1) for size in sizes) / tasks
    for some in shared:
        assert sum(piece.size for piece in some) <= even + 2 * max(map(max, [*pairwise(sizes), (1, *sizes)]))


def test_pieces_are_cut_by_numpy_numbers_that_pickle_small(tmp_path):
    with pr.TFRecordWriter(tmp_path / "a", index=True) as writer:
        writer.write_many([bytes(84)] * 100)
    for piece in cut(look_at(find_files(tmp_path)), 1000, 1):
        assert not any(isinstance(value, np.generic) for value in (*piece, *(piece.byte_range or ())))
