"""``count`` counts as reading does, and reads no more than it must."""

from __future__ import annotations

import io

import pytest

import purerecord as pr
from purerecord import tools
from tests.support.damage import flip_byte, frames
from tests.tools.inspect.test_ends import OPTIONS, PAYLOADS, written

SOURCES = {"plain": "headers", "gzip": "records", "zlib": "records", "blocks": "blocks"}


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("payloads", [PAYLOADS, PAYLOADS[:1], [], [bytes(20_000)] * 9], ids=len)
def test_counts_are_the_numbers_of_records(tmp_path, kind, payloads):
    path = written(tmp_path / "file", payloads, OPTIONS[kind])
    seen = []
    found = tools.count(path, progress=lambda size, records: seen.append(records))
    assert (found.records, sum(seen)) == (len(payloads), len(payloads))
    if payloads:
        assert found.files[0].source == SOURCES[kind]


def test_files_are_counted_one_by_one_and_together(tmp_path):
    paths = [str(written(tmp_path / f"{n}", PAYLOADS[:n])) for n in (3, 5)]
    found = tools.count(paths)
    assert found.to_dict() == {
        "records": 8,
        "files": [
            {"path": paths[0], "records": 3, "source": "headers"},
            {"path": paths[1], "records": 5, "source": "headers"},
        ],
    }
    assert [line.split()[-1] for line in str(found).splitlines()] == ["records", "3", "5", "8"]


def test_an_index_is_believed_if_it_fits(tmp_path):
    path = str(written(tmp_path / "file", PAYLOADS))
    pr.build_index(path).save(path + ".index")
    assert tools.count(path).files[0].source == "index"
    written(path, PAYLOADS[:-1])
    with pytest.raises(pr.StaleIndexError):
        tools.count(path)


def test_ordinary_gzip_after_blocks_is_counted_too(tmp_path):
    path = written(tmp_path / "file", PAYLOADS, OPTIONS["blocks"])
    other = written(tmp_path / "other", PAYLOADS, "GZIP")
    path.write_bytes(path.read_bytes() + other.read_bytes())
    assert tools.count(path).files[0] == tools.FileCount(str(path), 400, "records")


def test_a_stream_is_counted():
    assert tools.count(io.BytesIO(frames(PAYLOADS))).records == 200


def test_damage_inside_a_record_is_not_seen_but_a_damaged_header_is_an_error(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(flip_byte(frames([b"one", b"two"]), 13))
    assert tools.count(path).records == 2
    path.write_bytes(flip_byte(frames([b"one", b"two"]), 20))
    with pytest.raises(pr.ChecksumError, match="file: record 1 at byte 19"):
        tools.count(path)
    path.write_bytes(frames([b"one", b"two"])[:-1])
    with pytest.raises(pr.TruncatedError):
        tools.count(path)
