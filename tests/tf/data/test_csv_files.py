"""``tf.data``: rows of CSV files."""

from __future__ import annotations

from pathlib import Path

from purerecord import tf


def test_rows_after_a_bad_one_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b'1,"x"y\n2,"a, ""b"""\n')
    rows = tf.data.experimental.CsvDataset(str(tmp_path / "a"), [tf.int32, tf.string]).ignore_errors()
    assert [(int(one), two.numpy()) for one, two in rows] == [(2, b'a, "b"')]
