"""``tf.io.gfile`` on URLs, on local files, and on Windows."""

from __future__ import annotations

import os

import pytest

from purerecord import tf


def test_url_without_fsspec_or_scheme_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises((ImportError, tf.errors.UnimplementedError)):
        tf.io.gfile.exists("nosuchscheme://x/y")


def test_gfile_behind_a_url() -> None:
    pytest.importorskip("fsspec")
    gfile = tf.io.gfile
    root = "memory://purerecord-test"
    gfile.makedirs(f"{root}/a")
    with gfile.GFile(f"{root}/a/x", "w") as file:
        file.write("text")
    assert gfile.exists(f"{root}/a/x")
    assert gfile.isdir(f"{root}/a")
    assert gfile.listdir(f"{root}/a") == ["x"]
    assert [name.rpartition("/")[2] for name in gfile.glob(f"{root}/a/*")] == ["x"]
    assert gfile.stat(f"{root}/a/x").length == 4
    gfile.copy(f"{root}/a/x", f"{root}/a/y")
    gfile.rename(f"{root}/a/y", f"{root}/a/z")
    assert sorted(gfile.listdir(f"{root}/a")) == ["x", "z"]
    assert gfile.GFile(f"{root}/a/z").read() == "text"
    gfile.remove(f"{root}/a/z")
    gfile.rmtree(f"{root}/a")
    assert not gfile.exists(f"{root}/a/x")


def test_files_are_opened_on_first_use_and_read_as_text_or_bytes(tmp_path) -> None:
    path = tmp_path / "file"
    unused = tf.io.gfile.GFile(str(path))
    with tf.io.gfile.GFile(path, "w") as file:
        file.write("é\nb\n")
    assert unused.read() == "é\nb\n"
    assert list(tf.io.gfile.GFile(path)) == ["é\n", "b\n"]
    assert tf.io.gfile.GFile(path, "rb").read(2) == "é".encode()
    assert tf.io.gfile.stat(path).length == 5
    with pytest.raises(tf.errors.PermissionDeniedError, match="File isn't open for writing"):
        tf.io.gfile.GFile(path).write("x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not"):
        tf.io.gfile.GFile(path, "x")


def test_patterns_match_hidden_files_and_walk_visits_all_folders(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    tf.io.gfile.makedirs("a/b")
    for name in ("x", ".hidden", "a/y", "a/b/z"):
        tf.io.write_file(name, "")
    assert tf.io.gfile.glob("*") == ["./.hidden", "./a", "./x"]
    assert tf.io.gfile.glob(["a/*", "a/b/[z]"]) == ["a/b", "a/y", "a/b/z"]
    assert list(tf.io.gfile.walk("a")) == [("a", ["b"], ["y"]), ("a/b", [], ["z"])]
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.io.gfile.copy("x", "a/y")
    tf.io.gfile.rmtree("a")
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.gfile.listdir("a")


def test_patterns_may_have_both_slashes_on_windows(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "sub").mkdir(parents=True)
    for name in ("a.tfrecord", "b.tfrecord", "sub/c.tfrecord"):
        (tmp_path / "data" / name).touch()
    monkeypatch.setattr(os, "sep", "\\")
    for pattern in ("data\\*.tfrecord", "data/*.tfrecord"):
        assert tf.io.gfile.glob(pattern) == ["data\\a.tfrecord", "data\\b.tfrecord"]
    assert tf.io.gfile.glob("data\\s*/c.*") == ["data\\sub\\c.tfrecord"]
    assert tf.io.gfile.glob("da*\\sub") == [".\\data\\sub"]


def test_drive_of_windows_is_not_its_current_folder(monkeypatch) -> None:
    monkeypatch.setattr(os, "sep", "\\")
    folders = {"C:/": ["x.tfrecord"], "C:": ["wrong.tfrecord"]}
    monkeypatch.setattr(os, "listdir", lambda folder: folders[folder])
    assert tf.io.gfile.glob("C:\\*.tfrecord") == ["C:\\x.tfrecord"]


def test_patterns_may_begin_at_the_root(tmp_path) -> None:
    (tmp_path / "x").touch()
    assert tf.io.gfile.glob(f"{tmp_path}/*") == [f"{tmp_path}/x"]
    assert "/tmp" in tf.io.gfile.glob("/t*")
