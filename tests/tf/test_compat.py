"""``tf.compat``, and the names of TensorFlow 1."""

from __future__ import annotations

from pathlib import Path

import purerecord as pr
from purerecord import tf

A = pr.encode_example({"a": [1, 2], "s": "text", "f": 0.5})


def test_old_spellings(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    with tf.python_io.TFRecordWriter(path, tf.python_io.TFRecordOptions(2)) as writer:
        writer.write(A)
    (record,) = tf.compat.v1.io.tf_record_iterator(path, "GZIP")
    assert tf.parse_single_example(record, {"a": tf.FixedLenFeature([2], tf.int64)})[
        "a"
    ].numpy().tolist() == [1, 2]
    assert tf.parse_example([record], {"a": tf.VarLenFeature(tf.int64)})["a"].shape == (1, 2)
    assert tf.parse_tensor(tf.serialize_tensor(3), tf.int32) == 3
    assert tf.decode_raw(b"ab", tf.uint8).shape == (2,)
    assert tf.gfile.Exists(path)
    assert tf.gfile.Glob(f"{tmp_path}/*") == [path]
    assert tf.compat.as_bytes("é") == "é".encode()
    assert tf.compat.as_text(b"x") == tf.compat.as_str_any(b"x") == "x"
    assert tf.compat.v1 is tf
