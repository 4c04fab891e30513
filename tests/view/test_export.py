"""Exports of what matches."""

from __future__ import annotations

import csv
import http.client
import io
import json

import numpy as np
import pytest

import purerecord as pr
from purerecord.view import export
from purerecord.view.export import as_json
from tests.support.damage import flip_byte, frames, starts
from tests.support.viewing import TOKEN, viewing

PAYLOADS = [pr.encode_example({"x": n, "name": f"n,{n}", "y": [n / 2, 0.1]}) for n in range(3000)]


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    for number in range(2):
        (folder / f"part-{number}").write_bytes(frames(PAYLOADS[1500 * number : 1500 * number + 1500]))
    with viewing(str(folder / "part-*")) as asking:
        yield asking


def test_tfrecords_keep_their_bytes(asking):
    got = asking.get("export", format="tfrecord", scope="all")
    assert got.headers["Content-Disposition"] == 'attachment; filename="purerecord-export.tfrecord"'
    assert got.headers["Content-Type"] == "application/octet-stream"
    assert got.body == frames(PAYLOADS)
    assert asking.get("export", format="tfrecord", scope=1).body == frames(PAYLOADS[1500:])


def test_only_what_matches_is_exported(asking):
    got = asking.get("export", scope="all", where="x % 1000 == 5")
    assert got.body == frames([PAYLOADS[n] for n in (5, 1005, 2005)])
    assert asking.get("export", scope="all", text="n,2999").body == frames(PAYLOADS[2999:])
    assert asking.get("export", scope="all", where="x < 0").body == b""


def test_json_lines_are_as_cat_prints_them(asking):
    lines = asking.get("export", format="jsonl", scope="all").body.decode().splitlines()
    assert len(lines) == 3000
    assert json.loads(lines[7]) == {"name": ["n,7"], "x": [7], "y": [3.5, 0.1]}


def test_csv_has_the_features_as_columns(asking):
    body = asking.get("export", format="csv", scope="all").body.decode()
    rows = list(csv.reader(io.StringIO(body, newline="")))
    assert rows[0] == ["file", "row", "name", "x", "y", "other features"]
    assert rows[2001] == ["1", "500", "n,2000", "2000", "[1000.0, 0.1]", ""]
    assert len(rows) == 3001
    body = asking.get("export", format="csv", column=["x", "none"], where="x == 3").body.decode()
    assert body == "file,row,x,none\r\n0,3,3,\r\n"
    assert asking.get("export", format="csv", where="x < 0").body == b"file,row,other features\r\n"


def test_nothing_is_lost_in_csv(tmp_path):
    payloads = [
        pr.encode_example({"x": 1}),
        *[pr.encode_example({"x": 2})] * 1000,
        pr.encode_example({"late": [1, 2], "x": []}),
        pr.encode_sequence_example({}, {"f": [[1], [2]]}),
        pr.encode_example({"x": b"\xff"}),
        b"\xff",
    ]
    (tmp_path / "file").write_bytes(frames(payloads))
    with viewing(str(tmp_path / "file")) as asking:
        rows = list(csv.reader(io.StringIO(asking.get("export", format="csv").body.decode(), newline="")))
        assert rows[0] == ["file", "row", "x", "other features"]
        assert [row[2:] for row in rows[-4:]] == [
            ["[]", '{"late": [1, 2]}'],
            ["", '{"f": [[1], [2]]}'],
            ["/w==", ""],
            ["", '{"base64": "/w=="}'],
        ]


@pytest.mark.parametrize(
    ("payload", "value"),
    [
        (pr.encode_example({"x": [np.inf, 0.1]}), {"x": [{"float": "inf"}, 0.1]}),
        (pr.encode_example({"x": 2**62}), {"x": [2**62]}),
        (
            pr.encode_sequence_example({"c": "a"}, {"f": [[1], []]}),
            {"context": {"c": ["a"]}, "sequence": {"f": [[1], []]}},
        ),
        (b"text", "text"),
        (b"\xff", {"base64": "/w=="}),
    ],
)
def test_records_as_json(payload, value):
    assert as_json(payload) == value


def test_damaged_records_are_left_out(tmp_path):
    (tmp_path / "file").write_bytes(flip_byte(frames(PAYLOADS[:10]), starts(PAYLOADS)[4] + 14))
    with viewing(str(tmp_path / "file")) as asking:
        assert asking.get("export").body == frames(PAYLOADS[:4] + PAYLOADS[5:10])


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"format": "xml"}, "format must be one of tfrecord, jsonl, csv"),
        ({"where": "y == 1"}, "it has 2 values, and one is needed"),
        ({"where": "("}, "the expression is wrong"),
        ({"scope": 9}, "there is no such file"),
    ],
)
def test_what_cannot_be_exported_gets_one_sentence(asking, parameters, reason):
    status, text = asking.error("export", **parameters)
    assert status in (400, 404)
    assert reason in text
    assert asking.get("export", where="x == 1").status == 200  # its turn was given back


def test_a_failure_in_the_middle_breaks_the_download(tmp_path):
    payloads = [
        *PAYLOADS,
        *[pr.encode_example({"pad": b"x" * 100_000})] * 200,
        pr.encode_example({"x": [1, 2]}),
    ]
    (tmp_path / "file").write_bytes(frames(payloads))
    with viewing(str(tmp_path / "file")) as asking, pytest.raises(http.client.IncompleteRead):
        asking.get("export", where="x >= 0")


def test_few_exports_run_at_a_time(asking, monkeypatch):
    exports = asking.viewer._api._exports
    for _ in range(export._AT_ONCE):
        assert exports._turns.acquire(blocking=False)
    assert asking.error("export") == (503, "2 exports are under way; try again when one has ended")
    for _ in range(export._AT_ONCE):
        exports._turns.release()
    assert asking.request(f"/{TOKEN}/export?format=jsonl").status == 200
