"""The end of a file and the compression types, as TensorFlow has them."""

from __future__ import annotations

from pathlib import Path

import pytest

import purerecord as pr
from purerecord import tf


def test_a_cut_header_is_the_end_as_in_tensorflow(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pr.TFRecordWriter(str(path)) as writer:
        writer.write(b"x")
    path.write_bytes(path.read_bytes() + b"12345678901")
    assert len(list(tf.data.TFRecordDataset(str(path)))) == 1
    with pytest.raises(pr.TruncatedError):
        list(pr.read_records(str(path)))


def test_unknown_compression_is_logged_and_read_as_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(tmp_path / "file")
    with pr.TFRecordWriter(path) as writer:
        writer.write(b"x")
    assert len(list(tf.data.TFRecordDataset(path, "FOO"))) == 1
    assert "Unsupported compression_type: FOO" in caplog.text
    with pytest.raises(tf.errors.UnimplementedError):
        tf.data.TFRecordDataset(path, "SNAPPY")
