"""A folder in which files appear, on the disk and in a store."""

from __future__ import annotations

import pytest

import purerecord as pr
from purerecord.spark.output_folder import output_folder
from purerecord.storage.url import Url
from tests.support.interop import interop


@pytest.fixture(params=["local", "remote"])
def place(request, tmp_path):
    if request.param == "local":
        yield str(tmp_path / "deep" / "folder")
        return
    store = interop("fsspec").filesystem("memory")
    yield Url("memory://spark-output/folder/")
    if store.exists("/spark-output"):
        store.rm("/spark-output", recursive=True)


def write(path: str) -> None:
    with pr.TFRecordWriter(path) as writer:
        writer.write(b"x")


def test_files_are_written_moved_and_removed(place):
    folder = output_folder(place)
    assert not folder.exists()
    assert folder.names() == []
    folder.make("hidden")
    write(folder.path("hidden/one"))
    write(folder.path("hidden/two"))
    assert folder.exists()
    folder.move("hidden/one", "first")
    assert folder.names() == ["first", "hidden"]
    assert list(pr.read_records(folder.path("first"))) == [b"x"]
    folder.remove("hidden")
    folder.remove("hidden")
    folder.remove("missing")
    folder.touch("_SUCCESS")
    assert folder.names() == ["_SUCCESS", "first"]
    folder.remove("first")
    folder.remove_empty()
    assert folder.names() == ["_SUCCESS"]
    folder.remove("_SUCCESS")
    folder.remove_empty()
    assert not folder.exists()


def test_file_is_no_folder(place):
    folder = output_folder(place)
    folder.touch("file")
    with pytest.raises(NotADirectoryError, match="a write makes a folder"):
        output_folder(folder.path("file")).exists()
