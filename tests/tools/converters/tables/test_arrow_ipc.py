"""Arrow's files and streams: which is which, pipes, and files that are none."""

from __future__ import annotations

import io
import os

import pytest

import purerecord as pr
from purerecord.tools import convert
from tests.support.interop import interop

pa = interop("pyarrow")
feather = interop("pyarrow.feather")

TABLE = pa.table({"a": [1, 2], "b": ["x", None]})


def ids(path):
    return [pr.decode_example(record)["a"].tolist() for record in pr.read_records(path)]


def test_files_streams_and_feather_are_told_by_their_content(tmp_path):
    with pa.ipc.new_file(tmp_path / "file.arrow", TABLE.schema) as writer:
        writer.write_table(TABLE)
    with pa.ipc.new_stream(tmp_path / "stream.arrow", TABLE.schema) as writer:
        writer.write_table(TABLE)
    feather.write_feather(TABLE, tmp_path / "lz4.feather", compression="lz4")
    for name in ("file.arrow", "stream.arrow", "lz4.feather"):
        convert(tmp_path / name, tmp_path / "a.tfrecord")
        assert ids(tmp_path / "a.tfrecord") == [[1], [2]]


def test_pipes():
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, TABLE.schema) as writer:
        writer.write_table(TABLE)
    read, write = os.pipe()
    os.write(write, stream.getvalue())
    os.close(write)
    out = io.BytesIO()
    with open(read, "rb") as pipe:
        convert(pipe, out, from_format="arrow")
    again = io.BytesIO()
    convert(io.BytesIO(out.getvalue()), again, from_format="tfrecord", to_format="arrow")
    assert pa.ipc.open_stream(again.getvalue()).read_all().to_pylist() == TABLE.to_pylist()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"FEA1....", "Feather V1"),
        (b"ARROW1\0\0", r"a\.arrow: pyarrow"),
        (b"id,name\n1,2\n", r"a\.arrow: pyarrow"),
    ],
)
def test_what_is_no_arrow_file_is_one_clear_error(tmp_path, data, words):
    (tmp_path / "a.arrow").write_bytes(data)
    with pytest.raises(pr.EncodeError, match=words):
        convert(tmp_path / "a.arrow", tmp_path / "a.tfrecord")
