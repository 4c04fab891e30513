"""``purerecord view`` in a process of its own."""

from __future__ import annotations

import json
import signal
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.support.command_line import process, run


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_view_prints_its_url_serves_and_ends_at_ctrl_c():
    command = process("view", "sound", "--no-browser")
    try:
        assert command.stdout is not None
        url = command.stdout.readline().decode().strip()
        with urllib.request.urlopen(f"{url}api/rows?limit=3", timeout=60) as answer:
            rows = json.load(answer)["rows"]
        assert [row["features"][0]["values"][0] for row in rows] == [0, 1, 2]
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=60)
    finally:
        command.kill()
        command.wait()
    assert (command.returncode, out) == (130, b"")
    assert err.decode() == (
        "purerecord: this URL shows the files to whoever has it, until you press Ctrl-C\n"
    )


def test_view_of_nothing_is_one_line(capfd):
    code, out, err = run(capfd, "view", "nothing-*", "--no-browser")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1


def test_a_report_is_saved_and_nothing_is_served(capfd):
    assert run(capfd, "view", "sound", "--html", "report.html", "--records", "3") == (0, "", "")
    page = Path("report.html").read_text(encoding="utf-8")
    assert "the first 3 of 100" in page


def test_a_report_goes_to_stdout(capfd):
    code, page, err = run(capfd, "view", "sound", "--html", "-")
    assert (code, err) == (0, "")
    assert page.startswith("<!doctype html>")
    assert not Path("-").exists()


def test_names_of_classes_are_refused_where_they_would_be_ignored(capfd):
    code, out, err = run(capfd, "view", "sound", "--html", "report.html", "--label-map", "names.txt")
    assert (code, out) == (1, "")
    assert "--label-map is for the page in the browser" in err


def test_files_of_which_none_opens_are_refused(capfd):
    code, out, err = run(capfd, "view", "mistyped.tfrecord", "mistyped.too", "--no-browser")
    assert (code, out) == (1, "")
    assert err == (
        "purerecord: mistyped.tfrecord: No such file or directory; mistyped.too: No such file or directory\n"
    )
