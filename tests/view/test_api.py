"""The endpoints: parameters and plain facts."""

from __future__ import annotations

import gzip

import pytest

import purerecord
from tests.support.damage import flip_byte, frames, starts
from tests.support.viewing import viewing

PAYLOADS = [b"x" * 50] * 20
EDGES = starts(PAYLOADS)


@pytest.fixture
def asking(tmp_path):
    (tmp_path / "plain").write_bytes(flip_byte(frames(PAYLOADS), EDGES[7]))
    (tmp_path / "zipped").write_bytes(gzip.compress(frames(PAYLOADS)))
    with viewing([str(tmp_path / "plain"), str(tmp_path / "zipped")]) as asking:
        yield asking


def test_about_says_the_version_and_the_bounds(asking):
    got = asking.json("api/about")
    assert got["version"] == purerecord.__version__
    assert got["limits"]["rows"] == 200


def test_files_are_listed_in_parts(asking):
    got = asking.json("api/files", **{"from": 1, "limit": 5})
    assert (got["from"], got["of"], [one["file"] for one in got["files"]]) == (1, 2, [1])
    assert got["busy"] is False
    assert asking.json("api/files", **{"from": 99})["files"] == []


def test_damage_has_its_range_kind_and_row(asking):
    got = asking.json("api/damage", file=0)
    (one,) = got["damages"]
    assert (one["begin"], one["end"], one["size"], one["kind"]) == (
        EDGES[7],
        EDGES[7] + 12,
        12,
        "bad length checksum",
    )
    assert one["row"] == 7
    assert got["cut"] is False
    assert asking.json("api/damage", file=1)["damages"] == []


def test_bytes_at_any_place_are_for_plain_files_only(asking):
    assert asking.error("api/hex", file=1, offset=0) == (
        400,
        "bytes at any place can be shown of an uncompressed file only",
    )
    assert (
        asking.json("api/hex", file=1, row=3)["note"] == "the file is compressed; this is its frame inflated"
    )


@pytest.mark.parametrize("name", ["api/damage", "api/record", "api/hex"])
@pytest.mark.parametrize("file", ["2", "-1", "x", "1e9", "99999999999999999999"])
def test_there_is_no_other_file(asking, name, file):
    assert asking.error(name, file=file, row=0) == (404, "there is no such file")
