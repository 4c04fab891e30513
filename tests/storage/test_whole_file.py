"""Small files that appear whole or not at all."""

from __future__ import annotations

import os

import pytest

from purerecord.storage.whole_file import write_whole


def test_it_replaces_what_was_there(tmp_path):
    path = str(tmp_path / "file")
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert (tmp_path / "file").read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["file"]


def test_an_error_names_the_file_and_leaves_nothing(tmp_path):
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match="file") as caught:
        write_whole(str(tmp_path / "file"), b"data")
    assert caught.value.filename == str(tmp_path / "file")
    assert os.listdir(tmp_path) == ["file"]
