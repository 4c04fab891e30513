"""The endpoints: parameters and plain facts."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import purerecord
import purerecord as pr
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


@pytest.fixture(scope="module")
def long_lists(tmp_path_factory):
    path = tmp_path_factory.mktemp("api") / "file"
    payloads = [
        pr.encode_example(
            {"x": np.arange(30_000), "f": [1, np.nan, 3], "s": ["a"] * 2000, "text": "äö" * 60_000}
        ),
        pr.encode_sequence_example({}, {"f": [[1], [2, 3]]}),
    ]
    path.write_bytes(frames(payloads))
    with viewing(str(path)) as asking:
        yield asking


def test_more_values_of_a_list_come_in_parts(long_lists):
    got = long_lists.json("api/values", row=0, feature="x", begin=25_000)
    assert (got["begin"], got["end"], got["count"], got["values"]) == (
        25_000,
        30_000,
        30_000,
        list(range(25_000, 30_000)),
    )
    assert len(long_lists.json("api/values", row=0, feature="x")["values"]) == 10_000
    assert long_lists.json("api/values", row=0, feature="x", begin=3, end=5)["values"] == [3, 4]
    assert long_lists.json("api/values", row=0, feature="x", begin=5, end=3)["values"] == []
    assert len(long_lists.json("api/values", row=0, feature="s")["values"]) == 1000
    assert long_lists.json("api/values", row=1, feature="f", list=1)["values"] == [1, 2, 3]
    assert long_lists.json("api/values", row=1, feature="f", list=1, step=1)["values"] == [2, 3]


def test_a_long_list_has_a_curve_of_few_points(long_lists):
    got = long_lists.json("api/values", row=0, feature="x", points=3)
    assert got == {
        "count": 30_000,
        "points": [[0, 0, 9999], [10_000, 10_000, 19_999], [20_000, 20_000, 29_999]],
    }
    got = long_lists.json("api/values", row=0, feature="f", points=100)
    assert got["points"] == [[0, 1, 1], [2, 3, 3]]
    assert long_lists.error("api/values", row=0, feature="s", points=5) == (400, "only numbers have a curve")


def test_a_long_text_comes_in_parts_that_end_between_characters(long_lists):
    found, begin = "", 0
    while True:
        got = long_lists.json("api/text", row=0, feature="text", begin=begin)
        found += got["text"]
        begin = got["end"]
        if not got["cut"]:
            break
    assert found == "äö" * 60_000
    assert long_lists.json("api/text", row=0, feature="text", begin=10**9)["text"] == ""
