"""Pages of the table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import purerecord as pr
from purerecord.view.limits import DEFAULT
from tests.support.damage import flip_byte, frames
from tests.support.viewing import viewing


def test_rows_have_the_columns_that_are_named_or_the_first_ones(tmp_path):
    (tmp_path / "file").write_bytes(frames([pr.encode_example({f"f{n:03d}": n for n in range(120)})]))
    with viewing(str(tmp_path / "file")) as asking:
        (row,) = asking.rows()
        assert (len(row["features"]), row["more"]) == (50, 70)
        (row,) = asking.rows(column=["f100", "f003", "none"])
        assert [one["name"] for one in row["features"]] == ["f003", "f100"]


def test_a_page_holds_fewer_rows_if_they_are_large_and_goes_on(tmp_path):
    payloads = [pr.encode_example({"x": bytes([n]) * 1000}) for n in range(30)]
    (tmp_path / "file").write_bytes(frames(payloads))
    with viewing(str(tmp_path / "file"), limits=replace(DEFAULT, page_bytes=5000)) as asking:
        got = asking.json("api/rows", limit=30)
        assert 4 <= len(got["rows"]) <= 6
        assert got["next"] == f"0:{len(got['rows'])}"
        assert [row["row"] for row in asking.all_rows(limit=30)] == list(range(30))


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"cursor": "x"}, "the cursor is none of this viewer"),
        ({"cursor": "5:0"}, "the cursor is none of this viewer"),
        ({"cursor": "0:-1"}, "the cursor is none of this viewer"),
        ({"row": "-1"}, "row must be a whole number"),
        ({"limit": "many"}, "limit must be a whole number"),
        ({"scope": "7"}, "there is no such file"),
        ({"scope": "../x"}, "there is no such file"),
        ({"column": ["x"] * 201}, "column is given more than 200 times"),
    ],
)
def test_wrong_parameters_get_one_sentence(tmp_path, parameters, reason):
    (tmp_path / "file").write_bytes(frames([b"x"]))
    with viewing(str(tmp_path / "file")) as asking:
        status, text = asking.error("api/rows", **parameters)
        assert status in (400, 404)
        assert text == reason


def test_rows_that_are_damaged_or_no_examples_say_so_among_the_others(tmp_path):
    payloads = [pr.encode_example({"x": n}) for n in range(3)] + [b"no example"]
    data = frames(payloads)
    (tmp_path / "file").write_bytes(flip_byte(data, len(payloads[0]) + 16 + 13))
    with viewing(str(tmp_path / "file")) as asking:
        rows = asking.rows()
        assert [row["kind"] for row in rows] == ["Example", None, "Example", "other"]
        assert rows[1]["problem"] == "the data does not match its checksum"
        assert rows[3]["problem"].startswith("no Example")
        (damage,) = asking.json("api/damage")["damages"]
        assert (damage["kind"], damage["row"]) == ("bad data checksum", 1)


def test_a_hostile_record_costs_no_more_than_its_size(tmp_path):
    many = {f"{n}": n for n in range(5000)}
    (tmp_path / "file").write_bytes(frames([pr.encode_example({**many, "x": np.arange(100_000)})]))
    with viewing(str(tmp_path / "file")) as asking:
        assert len(asking.get("api/rows").body) < 20_000
        got = asking.get("api/record", row=0)
        assert len(got.body) < 1_000_000
        assert (len(got.json["features"]), got.json["more"]) == (2000, 3001)


def test_names_that_are_markup_stay_names(tmp_path):
    names = ["<script>alert(1)</script>", "__proto__", "a\"b'c&d", "\u202e\x00"]
    (tmp_path / "file").write_bytes(frames([pr.encode_example(dict.fromkeys(names, 1))]))
    with viewing(str(tmp_path / "file")) as asking:
        got = asking.get("api/rows")
        assert sorted(one["name"] for one in got.json["rows"][0]["features"]) == sorted(names)
        assert got.headers["Content-Type"] == "application/json"
        assert got.headers["X-Content-Type-Options"] == "nosniff"


def test_only_damaged_rows_are_called_so(tmp_path):
    payloads = [pr.encode_example({"x": 1}), b"some text", pr.encode_example({"x": bytes(2000)})]
    (tmp_path / "file").write_bytes(flip_byte(frames(payloads), 14))
    with viewing(str(tmp_path / "file"), limits=replace(DEFAULT, record_bytes=1000)) as asking:
        rows = asking.rows()
        assert [row["damaged"] for row in rows] == [True, False, False]
        assert all(row["problem"] for row in rows)
        assert [(row["whole"] or {}).get("text") for row in rows] == [None, "some text", None]
        assert asking.json("api/record", row=2)["damaged"] is False


def test_it_is_told_where_a_record_has_more_pictures_than_a_row_shows(tmp_path):
    picture = b"\xff\xd8\xff\xe0"
    payloads = [pr.encode_example({"x": [picture] * count}) for count in (2, 3)]
    (tmp_path / "file").write_bytes(frames(payloads))
    with viewing(str(tmp_path / "file"), limits=replace(DEFAULT, row_pictures=2)) as asking:
        rows = asking.rows(draw=1)
        assert [(len(row["pictures"]), row["more_pictures"]) for row in rows] == [(2, False), (2, True)]
