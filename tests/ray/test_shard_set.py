"""Shards of a job: temporary names that no reader takes for shards, then all final names, or none."""

from __future__ import annotations

import os
import pickle

import pytest

import purerecord as pr
from purerecord.ray.shard_set import ShardSet
from purerecord.ray.shards import find_files
from tests.support.interop import interop


def attempt(shards: ShardSet, task: int, *records: bytes) -> list[str]:
    """The files of one attempt of a task, which runs elsewhere."""
    elsewhere = pickle.loads(pickle.dumps(shards))
    with pr.ShardedWriter(elsewhere.temporary(task), max_records=2) as writer:
        writer.write_many(records)
    return writer.paths


def read(path) -> list[bytes]:
    return list(pr.read_records(path))


@pytest.fixture(params=["local", "memory"])
def place(request, tmp_path):
    if request.param == "local":
        yield f"{tmp_path}/out[1]"
        return
    memory = interop("fsspec").filesystem("memory")
    yield "memory://shard_set/out"
    if memory.exists("/shard_set"):
        memory.rm("/shard_set", recursive=True)


def test_only_the_attempts_that_count_become_shards_and_nothing_else_stays(place):
    shards = ShardSet(place, "error")
    assert shards.check()
    files = [*attempt(shards, 0, b"a", b"b", b"c"), *attempt(shards, 1, b"d")]
    attempt(shards, 1, b"d")  # again, after its worker seemed to be dead
    assert shards.existing() == []
    with pytest.raises(FileNotFoundError):
        find_files(place + "/")
    names = shards.publish(files)
    assert [str(name).rpartition("/")[2] for name in names] == [
        f"part-0000{i}-of-00003.tfrecord" for i in range(3)
    ]
    assert [str(path).replace("///", "//") for path in find_files(place)] == [str(name) for name in names]
    assert read(place + "/part@3.tfrecord") == [b"a", b"b", b"c", b"d"]
    left = (
        os.listdir(place)
        if "://" not in place
        else interop("fsspec").filesystem("memory").ls(place, detail=False)
    )
    assert len(left) == 3


def test_a_job_that_failed_leaves_nothing(place):
    shards = ShardSet(place + "/a@*", "error")
    attempt(shards, 0, b"a")
    shards.clean()
    assert shards.existing() == []
    shards.clean()
    if "://" not in place:
        assert os.listdir(place) == []


def test_modes_are_those_of_ray(place):
    def write(mode, *records) -> list[str]:
        shards = ShardSet(place + "/a@*.tfrecord", mode)
        return shards.publish(attempt(shards, 0, *records)) if shards.check() else []

    assert len(write("error", b"1", b"2", b"3")) == 2
    with pytest.raises(FileExistsError, match='mode="overwrite"'):
        write("error", b"4")
    assert write("ignore", b"4") == []
    assert len(write("overwrite", b"5")) == 1  # the shards of the other number go
    assert read(place + "/a@1.tfrecord") == [b"5"]
    assert len(find_files(place)) == 1
    assert len(write("append", b"6")) == 1
    assert sorted(record for path in find_files(place) for record in read(path)) == [b"5", b"6"]
    assert len(write("overwrite", b"7")) == 1  # what was appended has another name
    with pytest.raises(ValueError, match="mode must be"):
        ShardSet(place, "upsert")


def test_names_of_other_sets_are_not_those_of_this_one(place):
    for name in ("a", "ab", "b-a"):
        with (
            pr.ShardedWriter(f"{place}/x/{name}@2")
            if "://" in place
            else _in_new_folder(place, name) as writer
        ):
            writer.write(b"x")
    shards = ShardSet(f"{place}/x/a@*", "overwrite")
    assert [str(path).rpartition("/")[2] for path in shards.existing()] == [
        "a-00000-of-00002",
        "a-00001-of-00002",
    ]


def _in_new_folder(place, name) -> pr.ShardedWriter:
    os.makedirs(place + "/x", exist_ok=True)
    return pr.ShardedWriter(f"{place}/x/{name}@2")


def test_a_manifest_lists_the_shards(tmp_path):
    shards = ShardSet(tmp_path / "a@*.tfrecord", "error")
    names = shards.publish(attempt(shards, 0, b"a", b"b", b"c"))
    shards.save_manifest([(2, 34, "sha256:" + "0" * 64), (1, 17, "sha256:" + "1" * 64)])
    manifest = pr.load_manifest(tmp_path / "a.tfrecord.manifest.json")
    assert manifest.paths() == names
    assert manifest.records == 3
    shards.publish(attempt(shards, 0, b"a"))
    assert not (tmp_path / "a.tfrecord.manifest.json").exists()  # that of older shards


def test_a_name_without_shards_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="names no shards"):
        ShardSet(tmp_path / "a@0", "error")
    assert ShardSet(tmp_path / "a@3", "error").count == 3
