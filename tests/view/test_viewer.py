"""A viewer as a whole: many records, many files, files that are none."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import numpy as np
import pytest

import purerecord as pr
from purerecord.view import Viewer, view
from tests.support.damage import frames
from tests.support.viewing import TOKEN, viewing


@pytest.fixture(scope="module")
def million(tmp_path_factory) -> str:
    path = str(tmp_path_factory.mktemp("million") / "million.tfrecord")
    records = pr.encode_examples({"x": np.arange(100_000)})
    with pr.TFRecordWriter(path) as writer:
        for _ in range(10):
            writer.write_many(records)
    return path


def test_the_first_page_of_a_million_records_does_not_wait_for_the_last(million):
    with viewing(million, counted=False) as asking:
        rows = asking.rows(limit=50)
        assert [row["row"] for row in rows] == list(range(50))
        assert asking.viewer.catalog.wait_until_counted(60)
        (file,) = asking.json("api/files")["files"]
        assert (file["records"], file["exact"], file["status"]) == (1_000_000, True, "done")
        assert file["walked"] == file["verified"] == file["size"] == os.path.getsize(million)


def test_any_page_of_a_million_records_is_there(million):
    with viewing(million) as asking:
        for row in (0, 123_456, 999_990):
            rows = asking.rows(row=row, limit=10)
            assert [one["features"][0]["values"] for one in rows] == [
                [(row + n) % 100_000] for n in range(10)
            ]
        got = asking.json("api/rows", row=999_990, limit=50)
        assert (len(got["rows"]), got["next"], got["exact"], got["pending"]) == (10, None, True, False)
        assert asking.json("api/rows", row=2_000_000)["rows"] == []


def test_pages_of_all_files_follow_each_other(tmp_path):
    for number in range(3):
        payloads = [
            pr.encode_example({"x": 10 * number + n}) for n in range(number * 2)
        ]  # the first is empty
        (tmp_path / f"part-{number}").write_bytes(frames(payloads))
    with viewing(str(tmp_path / "part-*")) as asking:
        rows = asking.all_rows(scope="all", limit=4)
        assert [(row["file"], row["row"], row["features"][0]["values"][0]) for row in rows] == [
            *((1, n, 10 + n) for n in range(2)),
            *((2, n, 20 + n) for n in range(4)),
        ]
        known = asking.json("api/files")
        assert known["title"] == "part-*"
        assert known["totals"] == {"records": 6, "exact": True, "size": known["totals"]["size"], "damages": 0}
        assert [file["status"] for file in known["files"]] == ["done"] * 3


def test_files_that_cannot_be_shown_say_why_and_the_others_are_shown(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "good").write_bytes(frames([b"x"]))
    (tmp_path / "picture").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (tmp_path / "page").write_bytes(b"<!DOCTYPE html><script>alert(1)</script>")
    (tmp_path / "short").write_bytes(b"\x01\x02")
    names = ["empty", "good", "picture", "page", "short", "missing"]
    with viewing([str(tmp_path / name) for name in names]) as asking:
        files = {file["short"]: file for file in asking.json("api/files")["files"]}
        assert [files[name]["status"] for name in names] == ["done", "done", *["failed"] * 4]
        assert files["picture"]["message"] == "not a TFRecord: it looks like a PNG image"
        assert "an HTML page" in files["page"]["message"]
        assert "No such file" in files["missing"]["message"] or "not find" in files["missing"]["message"]
        assert files["short"]["message"].startswith("no good record in the file: ")
        assert files["empty"]["message"] is None
        for number, name in enumerate(names):
            got = asking.get("api/rows", scope=number)
            assert got.status == 200, name
            assert len(got.json["rows"]) == (name == "good")
        status, reason = asking.error("api/record", file=names.index("missing"), row=0)
        assert status == 404
        assert "missing" in reason


def test_a_folder_is_the_files_in_it(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "dataset_info.json").write_bytes(b"{}")
    with viewing(str(tmp_path)) as asking:
        assert [file["short"] for file in asking.json("api/files")["files"]] == ["dataset_info.json"]
    for name in ("b.tfrecord-00000-of-00001", "a.tfrecord", "a.tfrecord.index", ".hidden.tfrecord"):
        (tmp_path / name).write_bytes(frames([b"x"]))
    with viewing(tmp_path) as asking:
        files = asking.json("api/files")["files"]
        assert [file["short"] for file in files] == ["a.tfrecord", "b.tfrecord-00000-of-00001"]
    with pytest.raises(FileNotFoundError, match="there is no file in the folder"):
        Viewer(str(tmp_path / "inner"))


def test_hostile_names_are_only_text(tmp_path):
    name = "<script>alert(1)<\N{FRACTION SLASH}script>\x1b[31m\u202e"
    path = tmp_path / name
    try:
        path.write_bytes(frames([b"x"]))
    except OSError:
        pytest.skip("this system has no such names")
    with viewing(str(path)) as asking:
        got = asking.get("api/files")
        assert got.headers["Content-Type"] == "application/json"
        assert b"\x1b" not in got.body
        assert got.json["files"][0]["short"] == "<script>alert(1)<\N{FRACTION SLASH}script>\\x1b[31m\\u202e"


def test_a_viewer_listens_on_this_machine_only_and_is_gone_when_it_is_closed(tmp_path):
    (tmp_path / "file").write_bytes(frames([b"x"]))
    with Viewer(str(tmp_path / "file"), token=TOKEN) as viewer:
        assert viewer.url == f"http://127.0.0.1:{viewer.port}/{TOKEN}/"
        assert viewer._server.server_address[0] == "127.0.0.1"
        assert TOKEN not in repr(viewer)
    viewer.close()
    with pytest.raises(OSError, match="refused"), socket.create_connection(("127.0.0.1", viewer.port), 5):
        pass


def test_view_opens_the_browser(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    (tmp_path / "file").write_bytes(b"")
    with view(str(tmp_path / "file")) as viewer:
        assert opened == [viewer.url]
    with view(str(tmp_path / "file"), open_browser=False):
        assert len(opened) == 1


def test_a_viewer_of_no_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        Viewer(str(tmp_path / "nothing-*"))


def test_no_temporary_file_stays(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    Path(tmp_path / "temporary").mkdir()
    with pr.TFRecordWriter(str(tmp_path / "file"), "GZIP") as writer:
        writer.write(b"x")
    with viewing(str(tmp_path / "file")) as asking:
        assert len(asking.rows()) == 1
    assert not list((tmp_path / "temporary").iterdir())
