"""The quarantine: the folder that takes the damaged ranges of a salvaged file."""

from __future__ import annotations

import gzip
import io
import json
import os
import random

import pytest

from purerecord import salvage
from purerecord.recovery import quarantine
from tests.support.damage import flip_byte, frames, insert, starts
from tests.support.small_buffers import buffers

RANDOM = random.Random(7)
PAYLOADS = [RANDOM.randbytes(100 + 7 * i) for i in range(20)]
EDGES = starts(PAYLOADS)
CLEAN = frames(PAYLOADS)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.tfrecord"
    path.write_bytes(flip_byte(insert(CLEAN, EDGES[5], b"?" * 33), 40))
    return path


@pytest.mark.parametrize("make", [lambda p: p, lambda p: io.BytesIO(p.read_bytes())], ids=["path", "stream"])
def test_quarantine_takes_the_damaged_ranges(source, tmp_path, make):
    report = salvage(make(source), tmp_path / "clean", quarantine=tmp_path / "bad")
    assert report.quarantine == str(tmp_path / "bad")
    listed = json.loads((tmp_path / "bad" / "damages.json").read_text())
    data = source.read_bytes()
    assert len(listed["damages"]) == 2
    for entry in listed["damages"]:
        kept = (tmp_path / "bad" / entry["file"]).read_bytes()
        assert kept == data[entry["begin"] : entry["end"]]
        assert int(entry["file"].split(".")[0]) == entry["begin"]
    assert sorted(os.listdir(tmp_path / "bad")) == [
        "000000000000.bin",
        f"{EDGES[5]:012d}.bin",
        "damages.json",
    ]


def test_quarantine_of_a_compressed_file_takes_plain_bytes(tmp_path):
    plain = flip_byte(CLEAN, EDGES[7] + 30)
    (tmp_path / "a").write_bytes(gzip.compress(plain))
    report = salvage(tmp_path / "a", tmp_path / "b", quarantine=tmp_path / "bad")
    assert report.files[0].size == len(plain)
    assert (tmp_path / "bad" / f"{EDGES[7]:012d}.bin").read_bytes() == plain[EDGES[7] : EDGES[8]]


def test_quarantine_of_a_stream_forgets_what_is_not_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(quarantine, "_KEPT_IN_MEMORY", 500)
    plain = flip_byte(CLEAN, EDGES[17] + 30)
    with buffers(_SMALLEST_READ=300):
        salvage(io.BytesIO(plain), tmp_path / "b", quarantine=tmp_path / "bad")
    assert (tmp_path / "bad" / f"{EDGES[17]:012d}.bin").read_bytes() == plain[EDGES[17] : EDGES[18]]


def test_quarantine_may_be_an_empty_folder_but_no_other(source, tmp_path):
    (tmp_path / "bad").mkdir()
    salvage(source, tmp_path / "clean", quarantine=tmp_path / "bad")
    with pytest.raises(FileExistsError, match="new or an empty folder"):
        salvage(source, tmp_path / "clean2", quarantine=tmp_path / "bad")
    assert not (tmp_path / "clean2").exists()
