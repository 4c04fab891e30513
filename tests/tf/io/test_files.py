"""``tf.io``: whole files."""

from __future__ import annotations

from pathlib import Path

import pytest

from purerecord import tf


def test_whole_files_and_pathlib(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    tf.io.write_file(str(path), tf.constant(b"\0text"))
    assert tf.io.read_file(path).numpy() == b"\0text"
    assert tf.io.gfile.exists(path)
    with tf.io.gfile.GFile(path, "rb") as file:
        assert file.read() == b"\0text"
    with tf.io.TFRecordWriter(path) as writer:  # type: ignore[arg-type,unused-ignore]
        writer.write("record")
    assert [record.numpy() for record in tf.data.TFRecordDataset(path)] == [b"record"]


def test_missing_file_is_also_pythons_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        tf.io.read_file(str(tmp_path / "missing"))
    assert isinstance(caught.value, tf.errors.NotFoundError)
    assert str(caught.value).endswith("missing; No such file or directory")
