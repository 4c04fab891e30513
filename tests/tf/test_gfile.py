"""``tf.io.gfile`` on URLs."""

from __future__ import annotations

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
