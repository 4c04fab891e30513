"""Blocked GZIP, block by block."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import purerecord as pr
from purerecord.errors import CorruptionError
from purerecord.storage.file_handles import OpenFiles
from purerecord.view.block_file import BlockFile
from purerecord.view.limits import DEFAULT
from tests.support.damage import flip_byte, frame
from tests.support.viewing import viewing

PAYLOADS = [f"record {n}".encode() * (1 + n % 5) for n in range(2000)]


@pytest.fixture
def path(tmp_path) -> str:
    path = str(tmp_path / "file")
    with pr.TFRecordWriter(path, pr.TFRecordOptions("GZIP", block_size=4000)) as writer:
        writer.write_many(PAYLOADS)
    return path


def test_all_records_are_counted_at_once_and_read_block_by_block(path):
    file = BlockFile(path, DEFAULT, OpenFiles())
    assert (file.count, file.exact, file.walk()) == (2000, True, False)
    while file.check():
        assert not file.damages.count
    assert file.verified == file.walked == file.size
    row = 0
    while row < 2000:
        fetched = file.fetch(row, 2000, 1 << 20)
        assert list(fetched.records) == PAYLOADS[row : fetched.end]
        assert fetched.end < 2000 or row
        row = fetched.end
    assert file.frame_bytes(77, 0, 1000) == frame(PAYLOADS[77])
    assert "of GZIP block 0, which is bytes 0 to " in file.place(3)[2]
    assert len(file.fetch(5, 10, 1).lengths) == 1
    file.close()


def test_a_viewer_shows_any_page_and_counts_from_the_headers(path):
    with viewing(path) as asking:
        (known,) = asking.json("api/files")["files"]
        assert (known["compression"], known["records"], known["exact"]) == ("GZIP", 2000, True)
        assert [row["row"] for row in asking.rows(row=1990)] == list(range(1990, 2000))
        assert asking.json("api/record", row=1999)["offset"] is None
        assert asking.error("api/record", offset=5)[0] == 404


def test_a_damaged_block_is_a_problem_of_its_rows(path):
    with closing(BlockFile(path, DEFAULT, OpenFiles())) as file:
        second = int(file._index.offsets[1])
        end = second + int(file._index.sizes[1])
        rows = range(int(file._firsts[1]), int(file._firsts[2]))
    data = Path(path).read_bytes()
    Path(path).write_bytes(flip_byte(data, (second + end) // 2))
    with closing(BlockFile(path, DEFAULT, OpenFiles())) as file:
        fetched = file.fetch(rows.start, rows.stop, 1 << 20)
        assert list(fetched.problems) == list(rows)
        assert list(file.fetch(0, 3, 1 << 20).records) == PAYLOADS[:3]


def test_a_damaged_header_of_a_block_is_read_forward_instead(path):
    with closing(BlockFile(path, DEFAULT, OpenFiles())) as file:
        second = int(file._index.offsets[1])
    data = Path(path).read_bytes()
    Path(path).write_bytes(flip_byte(data, second))
    with viewing(path) as asking:
        (known,) = asking.json("api/files")["files"]
        assert 1000 < known["records"] < 2000
        assert known["damages"] == 1


def test_a_block_that_says_it_is_huge_is_not_inflated(path):
    with closing(BlockFile(path, replace(DEFAULT, record_bytes=100), OpenFiles())) as file:
        fetched = file.fetch(0, 10, 1 << 20)
        assert "GZIP block 0 is too large to be inflated" in fetched.problems[0]


def test_other_data_after_the_blocks_is_none_of_its_business(path):
    with open(path, "ab") as more:
        more.write(b"\x1f\x8b\x08\x00" + bytes(30))
    with pytest.raises((CorruptionError, ValueError)):
        BlockFile(path, DEFAULT, OpenFiles())


def test_a_broken_block_is_found_in_the_background_and_told_as_damage(path):
    data = Path(path).read_bytes()
    Path(path).write_bytes(flip_byte(data, len(data) // 2))
    with viewing(path) as asking:
        (file,) = asking.json("api/files")["files"]
        assert (file["status"], file["damages"], file["verified"]) == ("done", 1, len(data))
        found = asking.json("api/damage")
        (damage,) = found["damages"]
        assert damage["kind"] == "broken compression"
        assert damage["begin"] <= len(data) // 2 < damage["end"]
        assert asking.rows(row=damage["row"], limit=1)[0]["damaged"]
        assert not asking.rows(row=damage["row"] - 1, limit=1)[0]["damaged"]
