"""Files that can only be read forward."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zlib
from contextlib import closing
from dataclasses import replace

import pytest

from purerecord.view.limits import DEFAULT
from purerecord.view.spool import Spool
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


@pytest.fixture
def counted():
    with closing(Spool(DEFAULT.spool_total)) as spool:

        def count(named, limits=DEFAULT) -> SpooledFile:
            file = SpooledFile(named, "auto", None, limits, spool)
            while file.walk():
                pass
            return file

        yield count


@pytest.mark.parametrize("name", COMPRESSED)
def test_any_row_of_a_compressed_file_can_be_read(counted, tmp_path, name):
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


def test_an_open_file_is_read_once_and_shown_at_will(counted):
    file = counted(io.BytesIO(CLEAN))
    assert file.compression == "none"
    assert list(file.fetch(190, 200, 1 << 20).records) == PAYLOADS[190:]
    file.close()


def test_damage_in_compressed_data_is_listed_and_the_rest_is_shown(counted, tmp_path):
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


def test_compressed_files_share_the_room_and_one_that_is_asked_for_gets_more(tmp_path):
    for number in range(8):
        (tmp_path / f"{number}.tfrecord").write_bytes(COMPRESSED["GZIP"])
    size = sum(map(len, PAYLOADS))
    limits = replace(DEFAULT, spool_total=6 * size)
    with viewing(str(tmp_path), limits=limits) as asking:
        files = asking.json("api/files")["files"]
        counts = [file["records"] for file in files]
        assert counts.count(200) in (3, 4)  # two are read at a time
        assert counts[-1] == 0
        assert files[-1]["status"] == "limited"
        assert "together; records after byte 0 are not shown; asking for later rows goes on" in (
            files[-1]["message"].replace("\n", " ")
        )
        assert len(asking.rows(scope=7, limit=200)) == 200  # asking for it reads it
        for number in range(8):
            asking.get("api/rows", scope=number)
        kept = asking.viewer.catalog._spool.size
        assert kept <= 7 * size
        assert any(
            "open fewer files" in (file["message"] or "") for file in asking.json("api/files")["files"]
        )


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files as Linux shows them")
@pytest.mark.parametrize("data", [CLEAN, COMPRESSED["GZIP"]])
def test_hundreds_of_files_are_not_all_open_at_once(tmp_path, data):
    for number in range(300):
        (tmp_path / f"{number}.tfrecord").write_bytes(data)
    with viewing(str(tmp_path)) as asking:
        assert asking.json("api/files")["totals"]["records"] == 300 * 200
        assert asking.rows(scope=299)
        assert len(os.listdir("/proc/self/fd")) < 150


def test_endless_zeros_in_few_bytes_are_not_read_to_their_end(tmp_path):
    (tmp_path / "file").write_bytes(gzip.compress(CLEAN + bytes(50_000_000)))
    with viewing(str(tmp_path / "file"), limits=replace(DEFAULT, spool_bytes=1_000_000)) as asking:
        (file,) = asking.json("api/files")["files"]
        assert (file["records"], file["exact"], file["status"]) == (200, False, "limited")
        assert file["message"] == (
            f"after byte {len(CLEAN):,} there is damage, and no good record in the next 1,000,000 bytes "
            "of data; what follows is not shown"
        )
        assert file["walked"] < 3_000_000
        assert [row["row"] for row in asking.all_rows(limit=200)] == list(range(200))
