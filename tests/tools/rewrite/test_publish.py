"""Publishing: all shards get their names, or none does."""

from __future__ import annotations

import pytest

from purerecord.tools.rewrite.publish import Complete, publish
from purerecord.tools.rewrite.work_folder import WorkFolder
from tests.support.rewriting import files_of


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "work").mkdir()
    for number in range(3):
        (tmp_path / "work" / f"shard-{number}").write_bytes(b"new")
    return WorkFolder(str(tmp_path / "work"))


def complete(tmp_path):
    return [Complete(f"shard-{number}", str(tmp_path / f"out-{number}")) for number in range(3)]


def test_old_shards_make_room(tmp_path, folder):
    (tmp_path / "out-1").write_bytes(b"old")
    publish(folder, complete(tmp_path), 1)
    assert [(tmp_path / f"out-{n}").read_bytes() for n in range(3)] == [b"new"] * 3


def test_an_error_puts_the_old_ones_back(tmp_path, folder):
    (tmp_path / "out-1").write_bytes(b"old")
    (tmp_path / "work" / "shard-2").unlink()
    with pytest.raises(FileNotFoundError) as caught:
        publish(folder, complete(tmp_path), 1)
    assert caught.value.filename == str(tmp_path / "out-2")
    left = files_of(tmp_path)
    assert left["out-1"] == b"old"
    assert left["work/shard-0"] == left["work/shard-1"] == b"new"
    assert "out-0" not in left


def test_publishing_goes_on_where_it_was_stopped(tmp_path, folder):
    folder.mark("publishing", {})
    (tmp_path / "work" / "shard-0").rename(tmp_path / "out-0")
    publish(folder, complete(tmp_path), 1)
    assert [(tmp_path / f"out-{n}").read_bytes() for n in range(3)] == [b"new"] * 3
