"""``validate``: all files, all bytes, all damage; with workers or without, and into payloads on request."""

from __future__ import annotations

import gzip
import io
import os

import numpy as np
import pytest

from purerecord import (
    FixedLenFeature,
    Report,
    encode_example,
    encode_sequence_example,
    infer_schema,
    scan,
    validate,
)
from purerecord.container.damage import Damage
from tests.support.damage import cut, flip_byte, frames, insert, starts, zero

PAYLOADS = [encode_example({"label": i, "name": f"{i}.jpg"}) for i in range(500)]
EDGES = starts(PAYLOADS)
CLEAN = frames(PAYLOADS)
SCHEMA = {"label": FixedLenFeature((), np.int64), "name": FixedLenFeature((), bytes)}


@pytest.fixture
def fleet(tmp_path):
    """A sound file, a damaged, a cut, a compressed and an empty one."""
    for number, data in enumerate(
        [
            CLEAN,
            flip_byte(insert(CLEAN, EDGES[300], b"?" * 40), EDGES[7] + 20),
            cut(CLEAN, len(CLEAN) - 3),
            gzip.compress(zero(CLEAN, EDGES[100], EDGES[120])),
            b"",
        ]
    ):
        (tmp_path / f"train-{number:05d}-of-00005").write_bytes(data)
    return tmp_path / "train@5"


def test_report_on_a_fleet(fleet):
    report = validate(fleet)
    assert isinstance(report, Report)
    assert [file.ok for file in report.files] == [True, False, False, False, True]
    assert [file.records for file in report.files] == [500, 499, 499, 480, 0]
    assert [file.compression for file in report.files] == ["", "", "", "GZIP", ""]
    assert [len(file.damages) for file in report.files] == [0, 2, 1, 1, 0]
    for file in report.files:
        assert file.good_bytes + file.damaged_bytes == file.size
        if not file.compression:
            assert file.size == os.path.getsize(file.path)


def test_file_report_is_what_scanning_finds(fleet):
    for file in validate(fleet).files:
        items = list(scan(file.path))
        assert list(file.damages) == [item for item in items if isinstance(item, Damage)]
        assert file.records == len(items) - len(file.damages)


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_workers_make_no_difference(fleet, workers):
    assert validate(fleet, workers=workers) == validate(fleet)
    assert validate(fleet, workers=workers, schema=SCHEMA) == validate(fleet, schema=SCHEMA)


def test_streams_are_validated_too():
    report = validate([io.BytesIO(CLEAN), io.BytesIO(gzip.compress(CLEAN))], workers=4)
    assert report.ok
    assert report.records == 1000


def test_no_workers_is_an_error(fleet):
    with pytest.raises(ValueError, match="must be positive"):
        validate(fleet, workers=0)


def test_missing_file_is_an_error_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        validate(tmp_path / "none")


def test_missing_files_of_many_are_reported_and_the_others_are_checked(fleet, tmp_path):
    os.unlink(tmp_path / "train-00001-of-00005")
    os.unlink(tmp_path / "train-00004-of-00005")
    for paths in (fleet, tmp_path / "train@*", [tmp_path / "train-00000-of-00005", tmp_path / "none"]):
        report = validate(paths)
        assert report.files[0].ok
        assert [file.error for file in report.unreadable] == ["No such file or directory"] * len(
            report.unreadable
        )
        assert len(report.unreadable) == (1 if isinstance(paths, list) else 2)
    assert [file.records for file in validate(fleet).files] == [500, 0, 499, 480, 0]


def test_file_that_cannot_be_read_is_reported_and_the_others_are_checked(fleet, tmp_path):
    os.unlink(tmp_path / "train-00001-of-00005")
    os.mkdir(tmp_path / "train-00001-of-00005")
    for workers in (1, 2):
        report = validate([tmp_path / f"train-0000{i}-of-00005" for i in range(3)], workers=workers)
        assert not report.files[1].ok
        assert "directory" in report.files[1].error
        assert report.files[0].ok
        assert report.files[2].records == 499


class Failing(io.RawIOBase):
    """A disk that fails in the middle of a file."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(min(size, 5000))
        if not data:
            raise OSError(5, "Input/output error")
        return data


def test_disk_error_keeps_what_was_found_before_it():
    (file,) = validate(Failing(CLEAN)).files
    assert not file.ok
    assert file.error == "Input/output error"
    assert 0 < file.records <= 500
    assert not file.damages


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_adds_up_to_all_bytes_and_records(fleet, tmp_path, workers):
    steps = []
    report = validate(fleet, workers=workers, progress=lambda size, records: steps.append((size, records)))
    sizes = sum(os.path.getsize(tmp_path / name) for name in os.listdir(tmp_path))
    assert sum(size for size, _ in steps) == sizes
    assert sum(records for _, records in steps) == report.records


# Into the payloads


def test_payload_that_is_no_example_is_damage():
    data = frames([*PAYLOADS[:3], b"\xff\xff", b"\x0a", *PAYLOADS[3:], b"no Example"])
    (file,) = validate(io.BytesIO(data), decode=True).files
    edges = starts([*PAYLOADS[:3], b"\xff\xff", b"\x0a"])
    assert [(d.begin, d.end, d.kind, d.records) for d in file.damages] == [
        (edges[3], edges[5], "not an Example", 2),  # neighbours that are bad alike are one damage
        (len(data) - 26, len(data), "not an Example", 1),
    ]
    assert file.records == 500
    assert file.good_bytes + file.damaged_bytes == file.size == len(data)
    assert validate(io.BytesIO(data)).ok


def test_payload_that_does_not_fit_the_schema_is_damage():
    odd = [encode_example({"label": [1, 2], "name": "a"}), encode_example({"label": 1})]
    (file,) = validate(io.BytesIO(frames([*PAYLOADS[:5], *odd, *PAYLOADS[5:]])), schema=SCHEMA).files
    assert [(d.begin, d.kind, d.records) for d in file.damages] == [(EDGES[5], "not of the schema", 2)]
    assert "feature 'label'" in file.damages[0].detail
    assert file.records == 500


def test_sequence_examples_have_a_schema_of_two_parts():
    payloads = [encode_sequence_example({"id": i}, {"words": [["a"], ["b", "c"]]}) for i in range(20)]
    schema = infer_schema(payloads, sequence=True)
    assert validate(io.BytesIO(frames(payloads)), schema=schema).ok
    payloads[7] = encode_sequence_example({"id": 7}, {"words": [[1]]})
    (file,) = validate(io.BytesIO(frames(payloads)), schema=schema).files
    assert [(d.begin, d.kind, d.records) for d in file.damages] == [
        (starts(payloads)[7], "not of the schema", 1)
    ]
    assert "feature 'words'" in file.damages[0].detail


def test_schema_finds_what_is_no_example_as_well():
    (file,) = validate(io.BytesIO(frames([PAYLOADS[0], b"\xff"])), schema=SCHEMA).files
    assert [damage.kind for damage in file.damages] == ["not an Example"]


def test_damage_to_frames_and_to_payloads_are_told_apart():
    data = flip_byte(frames([b"\xff\xff", *PAYLOADS]), 40)
    data = flip_byte(data, len(data) - 200)
    kinds = [damage.kind for damage in validate(io.BytesIO(data), decode=True).files[0].damages]
    assert kinds == ["not an Example", "bad data checksum", "bad data checksum"]


def test_bad_payload_behind_a_damaged_header_is_accounted_for_once():
    data = flip_byte(frames([PAYLOADS[0], b"\xff" * 40, PAYLOADS[1]]), EDGES[1])
    (file,) = validate(io.BytesIO(data), decode=True).files
    assert [(d.begin, d.end, d.kind) for d in file.damages] == [
        (EDGES[1], EDGES[1] + 12, "bad length checksum"),
        (EDGES[1] + 12, EDGES[1] + 56, "not an Example"),
    ]
    assert file.good_bytes + file.damaged_bytes == file.size == len(data)
    assert file.records == 2
