"""``tf.python_io``: the record functions of TensorFlow 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from purerecord import tf


@pytest.mark.parametrize("compression", ["NONE", "ZLIB", "GZIP"])
def test_records_are_read_as_they_were_written(tmp_path: Path, compression: str) -> None:
    path = str(tmp_path / "file")
    options = tf.python_io.TFRecordOptions(getattr(tf.python_io.TFRecordCompressionType, compression))
    with tf.python_io.TFRecordWriter(path, options) as writer:
        writer.write(b"one")
        writer.write("two")
    assert list(tf.python_io.tf_record_iterator(path, options)) == [b"one", b"two"]


def test_names_are_those_of_tf_io() -> None:
    for name in tf.python_io.__all__:
        assert getattr(tf.python_io, name) is getattr(tf.io, name)
