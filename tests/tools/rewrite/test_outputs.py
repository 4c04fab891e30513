"""The names of new shards, and what must not be overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from purerecord.tools import compress, merge, reshard
from purerecord.tools.rewrite.how import complete
from purerecord.tools.rewrite.outputs import find_output
from tests.support.rewriting import write_inputs


@pytest.mark.parametrize(
    ("out", "how", "names"),
    [
        ("a@2.tfrecord", {}, ["a-00000-of-00002.tfrecord", "a-00001-of-00002.tfrecord"]),
        ("a@*.tfrecord", {"shards": 1}, ["a-00000-of-00001.tfrecord"]),
        ("a", {"shards": 2}, ["a-00000-of-00002", "a-00001-of-00002"]),
        ("a.tfrecord", {}, ["a.tfrecord"]),
        ("a@*.tfrecord", {"max_bytes": 5}, ["a-?????-of-?????.tfrecord"]),
    ],
)
def test_the_output_names_its_shards(out, how, names):
    assert find_output(out, complete(how)).expected([]) == names


@pytest.mark.parametrize(
    ("out", "how", "reason"),
    [
        ("a@2", {"shards": 3}, "the name says 2 shards, the argument 3"),
        ("a@0", {}, "a@0 names no shards"),
        ("a@2", {"max_bytes": 3}, "either shards, or max_bytes and/or max_records"),
        ("folder/", {"shards": 3}, "folder/ is a folder; name the shards: folder/name@"),
        ("a", {"shards": 0}, "shards must be positive, not 0"),
        ("a", {"workers": 0}, "workers must be positive, not 0"),
        ("a", {"on_error": "stop"}, 'on_error must be "raise" or "skip", not \'stop\''),
    ],
)
def test_a_division_that_cannot_be_is_explained(out, how, reason):
    with pytest.raises(ValueError, match=reason):
        find_output(out, complete(how))


def test_an_input_is_never_overwritten(tmp_path, monkeypatch):
    source = write_inputs(tmp_path / "in")
    monkeypatch.chdir(tmp_path / "in")
    for out in ("in-1.tfrecord", "../in/in-1.tfrecord", str(tmp_path / "in" / "in-1.tfrecord")):
        with pytest.raises(ValueError, match="is read, so it cannot be written"):
            merge(source, out)
    with pytest.raises(ValueError, match="is read, so it cannot be written"):
        compress(source, "./", "gzip")


def test_names_must_not_meet_in_a_folder(tmp_path):
    sources = [write_inputs(tmp_path / "a"), write_inputs(tmp_path / "b")]
    with pytest.raises(ValueError, match="two inputs have the same name"):
        compress(sources, f"{tmp_path}/out/", "gzip")


def test_a_shard_does_not_take_the_place_of_a_folder(tmp_path):
    (tmp_path / "new-00001-of-00002").mkdir()
    with pytest.raises(IsADirectoryError, match="cannot take the place of a folder"):
        reshard(write_inputs(tmp_path / "in"), tmp_path / "new@2")


def test_folders_of_the_output_are_made(tmp_path):
    done = merge(write_inputs(tmp_path / "in"), tmp_path / "deep" / "er" / "all")
    assert Path(done.paths[0]).exists()
