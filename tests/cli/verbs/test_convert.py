"""``purerecord convert`` in the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import run, shell

LINES = '{"id": 1, "name": "cat"}\n{"id": 2, "name": "dog"}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(LINES)


def test_types_are_shown_before_and_the_report_after(capfd):
    code, out, err = run(capfd, "convert", "a.jsonl", "a.tfrecord")
    assert (code, out) == (0, "a.tfrecord: 2 records, 96 bytes\n")
    assert err.splitlines() == [
        "purerecord: the features:",
        "purerecord:   id    int64",
        "purerecord:   name  bytes",
    ]
    assert run(capfd, "convert", "-q", "a.tfrecord", "b.jsonl") == (0, "", "")
    assert Path("b.jsonl").read_text() == LINES


def test_dry_run_and_json(capfd):
    code, out, err = run(capfd, "convert", "--dry-run", "a.jsonl", "a.tfrecord")
    assert (code, err) == (0, "")
    assert out == "  id    int64\n  name  bytes\nwould write 2 records of a.jsonl to a.tfrecord\n"
    code, out, err = run(capfd, "convert", "--json", "a.jsonl", "a.tfrecord")
    assert json.loads(out)["types"] == {"id": "int64", "name": "bytes"}
    assert (code, err) == (0, "")


def test_streams():
    code, out, err = shell(
        "cat a.jsonl | purerecord convert -q --from jsonl - a.tfrecord"
        " && purerecord convert a.tfrecord --to jsonl -"
    )
    assert (code, out.decode()) == (0, LINES)
    assert b"2 records" in err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("-", "a.tfrecord"), 2, "--from must say"),
        (("a.tfrecord", "-"), 2, "--to must say"),
        (("a.jsonl", "a.tfrecord", "--lists"), 1, "no option of reading jsonl"),
        (("a.jsonl", "a.tfrecord", "--from", "xml"), 2, "invalid choice"),
        (("none.jsonl", "a.tfrecord"), 1, "none.jsonl: No such file"),
        (("a.jsonl", "none/a.tfrecord"), 1, "none/a.tfrecord: No such file"),
        (("a.jsonl", "a.tfrecord", "--schema", "none.json"), 1, "none.json: No such file"),
        (("bad\x1b.jsonl", "a.tfrecord"), 1, r"bad\x1b.jsonl: line 1: "),
    ],
)
def test_mistakes_are_one_line(capfd, arguments, code, words):
    Path("bad\x1b.jsonl").write_text("?")
    found, out, err = run(capfd, "convert", *arguments)
    assert (found, out) == (code, "")
    assert words in err
    assert "\x1b" not in err


def test_what_was_lost_is_code_3(capfd):
    run(capfd, "convert", "a.jsonl", "a.tfrecord")
    data = bytearray(Path("a.tfrecord").read_bytes())
    data[20] ^= 1
    Path("a.tfrecord").write_bytes(data)
    assert run(capfd, "convert", "a.tfrecord", "b.jsonl")[0] == 1
    code, out, _ = run(capfd, "convert", "-q", "--lists", "--on-error", "skip", "a.tfrecord", "b.jsonl")
    assert code == 3
    assert "left out: 1 (damaged ranges, first a.tfrecord: record 0" in out
