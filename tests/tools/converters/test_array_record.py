"""ArrayRecord: records byte for byte there and back, read and written by its own library too."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.tools import convert
from tests.support.interop import interop

library = interop("array_record.python.array_record_module")
from purerecord.tools.converters import array_record  # noqa: E402 - needs the library

RECORDS = st.lists(st.binary(max_size=20), max_size=20)


def written(path, records):
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(records)
    return path


def foreign(path, records):
    writer = library.ArrayRecordWriter(str(path), "group_size:3")
    for record in records:
        writer.write(record)
    writer.close()
    return path


@given(RECORDS, st.sampled_from([1, 2, 100]))
def test_there_and_back_also_through_its_library(tmp_path, records, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array_record, "_FIRST_RECORDS", at_once)
        patch.setattr(array_record, "_READ_RECORDS", at_once)
        report = convert(written(tmp_path / "a.tfrecord", records), tmp_path / "a.array_record")
        assert report.records == len(records)
        reader = library.ArrayRecordReader(str(tmp_path / "a.array_record"))
        assert reader.num_records() == len(records)
        assert (list(reader.read_all()) if records else []) == records
        reader.close()
        for name in ("a.array_record", foreign(tmp_path / "b.array_record", records).name):
            report = convert(tmp_path / name, tmp_path / "b.tfrecord")
            assert report.records == len(records)
            assert (tmp_path / "b.tfrecord").read_bytes() == (tmp_path / "a.tfrecord").read_bytes()


def test_groups_and_what_is_left_behind(tmp_path):
    source = written(tmp_path / "a.tfrecord", [b"x" * 100] * 1000)
    convert(source, tmp_path / "1.array_record")
    convert(source, tmp_path / "100.array_record", group_size=100)
    assert (tmp_path / "100.array_record").stat().st_size < (tmp_path / "1.array_record").stat().st_size
    assert len(list(tmp_path.iterdir())) == 3


def test_damage_is_an_error(tmp_path):
    path = foreign(tmp_path / "a.array_record", [b"%d" % number for number in range(1000)])
    data = path.read_bytes()
    for bad in (b"", b"hello" * 100, data[:-100]):
        path.write_bytes(bad)
        with pytest.raises(pr.EncodeError, match=r"a\.array_record: is no whole ArrayRecord file"):
            convert(path, tmp_path / "a.tfrecord")
    path.write_bytes(data[:300] + bytes([data[300] ^ 1]) + data[301:])
    with pytest.raises(pr.EncodeError, match=r"a\.array_record: (records|is no)"):
        convert(path, tmp_path / "a.tfrecord")
    assert not (tmp_path / "a.tfrecord").exists()


def test_only_local_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        convert(tmp_path / "none.array_record", tmp_path / "a.tfrecord")
    source = written(tmp_path / "a.tfrecord", [b"x"])
    with pytest.raises(ValueError, match="local files"):
        convert(source, "memory://a.array_record", from_format="tfrecord")
