"""``TFRecordDataset``: damaged files, arbitrary bytes, and files of a URL."""

from __future__ import annotations

import contextlib
import gzip
import tempfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord import tf
from purerecord.container import frames


def test_records_of_a_damaged_file_and_those_after_it(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in "ab"]
    for path in paths:
        with pr.TFRecordWriter(path) as writer:
            writer.write_many([path[-1] + "0", path[-1] + "1"])
    data = bytearray(Path(paths[0]).read_bytes())
    data[-6] ^= 1
    Path(paths[0]).write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match=r"^corrupted record at 30$") as caught:
        list(tf.data.TFRecordDataset(paths))
    assert isinstance(caught.value, pr.ChecksumError)
    rest = tf.data.TFRecordDataset(paths).ignore_errors()
    assert [record.numpy() for record in rest] == [b"a0", b"b0", b"b1"]


@given(st.data())
def test_any_file_gives_records_or_tensorflows_errors(data: st.DataObject) -> None:
    whole = b"".join(piece for record in (b"hello", b"", b"x" * 40) for piece in frames.encode(record))
    compression = data.draw(st.sampled_from(["", "GZIP", "ZLIB"]))
    if compression:
        whole = zlib.compress(whole) if compression == "ZLIB" else gzip.compress(whole)
    changed = bytearray(whole[: data.draw(st.integers(0, len(whole)))] + data.draw(st.binary(max_size=20)))
    if changed and data.draw(st.booleans()):
        changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    with tempfile.NamedTemporaryFile() as file:
        file.write(changed)
        file.flush()
        dataset = tf.data.TFRecordDataset([file.name, file.name], compression)
        assert len(list(dataset.ignore_errors())) <= 20
        with contextlib.suppress(tf.errors.DataLossError):
            list(dataset)


def test_records_behind_a_url() -> None:
    pytest.importorskip("fsspec")
    path = "memory://purerecord-records/file"
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        writer.write("record")
    assert [record.numpy() for record in tf.data.TFRecordDataset(path, "GZIP")] == [b"record"]
    assert len(tf.data.Dataset.list_files("memory://purerecord-records/*")) == 1
    for missing in (lambda: list(tf.data.TFRecordDataset(path + "x")), lambda: tf.io.read_file(path + "x")):
        with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
            missing()
    with pytest.raises(tf.errors.UnimplementedError, match="scheme 'nosuch' not implemented"):
        list(tf.data.TFRecordDataset("nosuch://x"))
