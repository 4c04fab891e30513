"""``salvage``: which records are saved, where they are written, and what is never touched."""

from __future__ import annotations

import os
import random

import pytest

from purerecord import (
    CorruptionError,
    RecordFile,
    TFRecordOptions,
    TFRecordWriter,
    build_index,
    read_records,
    salvage,
    salvage_all,
)
from tests.support.damage import cut, flip_byte, frames, insert, starts
from tests.support.other_systems import replace_as_windows, sync_as_windows

RANDOM = random.Random(7)
PAYLOADS = [RANDOM.randbytes(100 + 7 * i) for i in range(20)]
EDGES = starts(PAYLOADS)
CLEAN = frames(PAYLOADS)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.tfrecord"
    path.write_bytes(flip_byte(insert(CLEAN, EDGES[5], b"?" * 33), 40))
    return path


KEPT = PAYLOADS[1:]


def test_salvage_writes_all_sound_records_and_says_what_was_lost(source, tmp_path):
    before = source.read_bytes()
    report = salvage(source, tmp_path / "clean.tfrecord")
    assert (tmp_path / "clean.tfrecord").read_bytes() == frames(KEPT)
    assert source.read_bytes() == before
    assert not report.ok
    assert report.records == 19
    assert report.output == str(tmp_path / "clean.tfrecord")
    (file,) = report.files
    assert [(d.begin, d.end, d.kind) for d in file.damages] == [
        (0, EDGES[1], "bad data checksum"),
        (EDGES[5], EDGES[5] + 33, "garbage"),
    ]
    assert file.good_bytes + file.damaged_bytes == file.size == len(before)
    assert sorted(os.listdir(tmp_path)) == ["clean.tfrecord", "source.tfrecord"]


def test_salvage_of_a_sound_file_is_a_copy(tmp_path):
    (tmp_path / "a").write_bytes(CLEAN)
    report = salvage(tmp_path / "a", tmp_path / "b", quarantine=tmp_path / "bad")
    assert report.ok
    assert report.quarantine is None
    assert not (tmp_path / "bad").exists()
    assert (tmp_path / "b").read_bytes() == CLEAN


def test_salvage_of_an_empty_file_is_an_empty_file(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    assert salvage(tmp_path / "a", tmp_path / "b").ok
    assert (tmp_path / "b").read_bytes() == b""


FORMS = {
    "": None,
    "GZIP": "GZIP",
    "ZLIB": "ZLIB",
    "blocked": TFRecordOptions("GZIP", block_size=1000),
}


@pytest.mark.parametrize("form", FORMS)
def test_salvaged_file_is_compressed_as_its_source(tmp_path, form):
    with TFRecordWriter(tmp_path / "a", FORMS[form]) as writer:
        writer.write_many(PAYLOADS)
    report = salvage(tmp_path / "a", tmp_path / "b")
    assert report.ok
    assert report.compression == ("GZIP" if form == "blocked" else form)
    assert list(read_records(tmp_path / "b", compression=report.compression)) == PAYLOADS
    if form in ("", "blocked"):  # one can still seek in it
        assert RecordFile(tmp_path / "b")[7] == PAYLOADS[7]
        assert len(build_index(tmp_path / "b")) == 20


@pytest.mark.parametrize("options", ["", "GZIP", TFRecordOptions("ZLIB", compression_level=1)])
def test_salvaged_file_is_compressed_as_told(source, tmp_path, options):
    report = salvage(source, tmp_path / "clean", options=options)
    assert report.compression == TFRecordOptions.get_compression_type_string(options)
    assert list(read_records(tmp_path / "clean")) == KEPT


def test_source_is_no_target(source, tmp_path):
    before = source.read_bytes()
    (tmp_path / "link").symlink_to(source)
    for target in (source, tmp_path / "." / source.name, tmp_path / "link"):
        with pytest.raises(ValueError, match="never changed"):
            salvage(source, target)
    assert source.read_bytes() == before


def test_folder_is_no_target(source, tmp_path):
    with pytest.raises(IsADirectoryError):
        salvage(source, tmp_path)


@pytest.mark.parametrize("link", [False, True])
def test_devices_and_pipes_are_no_targets(source, tmp_path, link):
    os.mkfifo(tmp_path / "pipe")
    target = tmp_path / "pipe"
    if link:
        target = tmp_path / "link"
        target.symlink_to("pipe")
    with pytest.raises(FileExistsError, match="no ordinary file"):
        salvage(source, target)
    with pytest.raises(FileExistsError, match="no ordinary file"):
        TFRecordWriter(target, atomic=True)
    (tmp_path / "sound").write_bytes(CLEAN)
    with pytest.raises(FileExistsError, match="no ordinary file"):
        build_index(tmp_path / "sound").save(target)
    assert (tmp_path / "pipe").is_fifo()
    assert target.is_symlink() is link


def test_several_files_are_no_source(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.tfrecord").write_bytes(CLEAN)
    with pytest.raises(ValueError, match="names 2 files"):
        salvage(tmp_path / "*.tfrecord", tmp_path / "clean")


@pytest.mark.parametrize("data", [b"<html>no data here</html>", cut(CLEAN, 60), bytes(5000)])
def test_nothing_is_written_where_nothing_is_sound(tmp_path, data):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(CorruptionError, match="no sound record"):
        salvage(tmp_path / "a", tmp_path / "b", quarantine=tmp_path / "bad")
    assert os.listdir(tmp_path) == ["a"]


def test_what_fails_leaves_nothing_behind(source, tmp_path, monkeypatch):
    (tmp_path / "clean").write_bytes(b"what was there before")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(TFRecordWriter, "close", refuse)
    with pytest.raises(OSError, match="No space"):
        salvage(source, tmp_path / "clean", quarantine=tmp_path / "bad")
    assert sorted(os.listdir(tmp_path)) == ["clean", "source.tfrecord"]
    assert (tmp_path / "clean").read_bytes() == b"what was there before"


def test_output_that_does_not_read_back_is_refused(source, tmp_path, monkeypatch):
    write_many = TFRecordWriter.write_many
    monkeypatch.setattr(TFRecordWriter, "write_many", lambda self, records: write_many(self, records[:-1]))
    with pytest.raises(OSError, match="read back"):
        salvage(source, tmp_path / "clean")
    assert os.listdir(tmp_path) == ["source.tfrecord"]


def test_progress_tells_all_bytes_and_records(source, tmp_path):
    steps = []
    salvage(source, tmp_path / "clean", progress=lambda size, records: steps.append((size, records)))
    assert sum(records for _, records in steps) == 19
    assert sum(size for size, _ in steps) == len(source.read_bytes())


# Windows


def test_windows_syncs_what_is_open_for_writing(source, tmp_path, monkeypatch):
    sync_as_windows(monkeypatch)
    salvage(source, tmp_path / "clean")
    assert list(read_records(tmp_path / "clean")) == KEPT


def test_target_that_a_program_has_open_on_windows_is_named_and_stays(source, tmp_path, monkeypatch):
    target = tmp_path / "clean"
    target.write_bytes(b"old")
    replace_as_windows(monkeypatch, target)
    with pytest.raises(PermissionError, match=r"perhaps because a program has the old one open: .*clean"):
        salvage(source, target, quarantine=tmp_path / "bad")
    assert target.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["clean", "source.tfrecord"]


# Many files


@pytest.mark.parametrize("workers", [1, 2])
def test_many_files_are_saved_and_errors_are_results(source, tmp_path, workers):
    (tmp_path / "foreign").write_bytes(b"no records")
    (tmp_path / "sound").write_bytes(CLEAN)
    told = []
    jobs = [
        (source, tmp_path / "a", tmp_path / "kept"),
        (tmp_path / "foreign", tmp_path / "b", None),
        (tmp_path / "missing", tmp_path / "c", None),
        (tmp_path / "sound", tmp_path / "d", None),
    ]
    found = salvage_all(jobs, workers=workers, progress=lambda *done: told.append(done))
    assert list(read_records(tmp_path / "a")) == KEPT
    assert (tmp_path / "d").read_bytes() == CLEAN
    assert [type(one).__name__ for one in found[1:3]] == ["CorruptionError", "FileNotFoundError"]
    assert [report.output for report in (found[0], found[3])] == [str(tmp_path / "a"), str(tmp_path / "d")]
    assert (found[0].records, found[0].quarantine, found[3].ok) == (19, str(tmp_path / "kept"), True)
    assert not {"b", "c"} & {path.name for path in tmp_path.iterdir()}
    assert sum(records for _, records in told) == 39


def test_two_files_with_one_target_are_refused_before_anything_is_written(source, tmp_path):
    (tmp_path / "sound").write_bytes(CLEAN)
    jobs = [(source, tmp_path / "a", None), (tmp_path / "sound", tmp_path / "a", None)]
    with pytest.raises(ValueError, match="would both be written"):
        salvage_all(jobs)
    assert not (tmp_path / "a").exists()
