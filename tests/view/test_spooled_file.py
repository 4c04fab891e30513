"""Files that can only be read forward."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from dataclasses import replace

import pytest

from purerecord.view.limits import DEFAULT
from purerecord.view.spooled_file import SpooledFile, rebuilt_frame
from tests.support.damage import flip_byte, frame, frames, starts
from tests.support.viewing import viewing

PAYLOADS = [f"record {n}".encode() * (1 + n % 5) for n in range(200)]
EDGES = starts(PAYLOADS)
CLEAN = frames(PAYLOADS)
COMPRESSED = {
    "GZIP": gzip.compress(CLEAN),
    "ZLIB": zlib.compress(CLEAN),
    "XZ": lzma.compress(CLEAN),
}


def counted(named, limits=DEFAULT) -> SpooledFile:
    file = SpooledFile(named, "auto", None, limits)
    while file.walk():
        pass
    return file


@pytest.mark.parametrize("name", COMPRESSED)
def test_any_row_of_a_compressed_file_can_be_read(tmp_path, name):
    (tmp_path / "file").write_bytes(COMPRESSED[name])
    file = counted(str(tmp_path / "file"))
    assert (file.compression, file.count, file.exact, file.plain_size) == (name, 200, True, len(CLEAN))
    assert list(file.fetch(0, 200, 1 << 20).records) == PAYLOADS
    assert list(file.fetch(150, 160, 1 << 20).records) == PAYLOADS[150:160]
    assert file.fetch(7, 9, 1 << 20).offsets == EDGES[7:9]
    assert len(file.fetch(0, 200, 1).lengths) == 1
    assert file.frame_bytes(3, 0, 1 << 20) == frame(PAYLOADS[3])
    assert file.place(3)[2] == f"bytes {EDGES[3]} to {EDGES[4]} of the data inside the compressed file"
    assert file.row_at(EDGES[20]) == 20
    assert file.progress in (None, 1.0)
    file.close()


def test_an_open_file_is_read_once_and_shown_at_will():
    file = counted(io.BytesIO(CLEAN))
    assert file.compression == "none"
    assert list(file.fetch(190, 200, 1 << 20).records) == PAYLOADS[190:]
    file.close()


def test_damage_in_compressed_data_is_listed_and_the_rest_is_shown(tmp_path):
    data = gzip.compress(flip_byte(CLEAN, EDGES[5] + 14)) + gzip.compress(CLEAN)
    (tmp_path / "file").write_bytes(data)
    file = counted(str(tmp_path / "file"))
    assert file.count == 399
    assert [(one.begin, one.end) for one in file.damages] == [(EDGES[5], EDGES[6])]
    file.close()


def test_a_broken_stream_ends_with_the_range_that_could_not_be_inflated(tmp_path):
    data = COMPRESSED["GZIP"]
    (tmp_path / "file").write_bytes(data[: len(data) // 2])
    with viewing(str(tmp_path / "file")) as asking:
        (file,) = asking.json("api/files")["files"]
        assert file["exact"]
        assert 0 < file["records"] < 200
        (damage,) = asking.json("api/damage")["damages"]
        assert damage["kind"] == "broken compression"
        assert damage["compressed"] == [len(data) // 2] * 2


def test_what_is_kept_is_bounded_and_that_is_said(tmp_path):
    (tmp_path / "file").write_bytes(gzip.compress(frames([b"x" * 1_000_000] * 50)))
    with viewing(str(tmp_path / "file"), limits=replace(DEFAULT, spool_bytes=5_000_000)) as asking:
        (file,) = asking.json("api/files")["files"]
        assert file["status"] == "limited"
        assert "is read up to 5,000,000 bytes of data; records after byte " in file["message"]
        assert 5 <= file["records"] < 50
        got = asking.json("api/rows", row=45)
        assert (got["rows"], got["exact"], got["pending"]) == ([], False, False)


def test_a_frame_is_made_again_of_its_payload():
    assert rebuilt_frame(b"payload") == frame(b"payload")
