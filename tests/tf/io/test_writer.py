"""``tf.io.TFRecordWriter``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import purerecord as pr
from purerecord import tf


def test_closed_writer_says_so(tmp_path: Path) -> None:
    writer = tf.io.TFRecordWriter(str(tmp_path / "file"))
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"^Writer is closed\.$"):
        writer.write(b"")


@pytest.mark.parametrize("record", [3, None, [b"x"], memoryview(b"x"), tf.constant("x"), pr.Example()])
def test_writer_takes_bytes_and_text_only(tmp_path: Path, record: Any) -> None:
    with (
        tf.io.TFRecordWriter(str(tmp_path / "file")) as writer,
        pytest.raises(TypeError, match="incompatible"),
    ):
        writer.write(record)
