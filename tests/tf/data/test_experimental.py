"""``tf.data.experimental``: the dataset writer and the functions for ``apply``."""

from __future__ import annotations

from pathlib import Path

from purerecord import tf
from tests.support.facade_datasets import values

Dataset = tf.data.Dataset


def test_datasets_are_written_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    dataset = Dataset.range(3).map(tf.io.serialize_tensor)
    tf.data.experimental.TFRecordWriter(path, "GZIP").write(dataset)
    again = tf.data.TFRecordDataset(path, "GZIP").map(lambda record: tf.io.parse_tensor(record, tf.int64))
    assert values(again) == [0, 1, 2]
