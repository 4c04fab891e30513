"""How a command ends: exit codes, a line for each failure, the other files that follow; never a traceback."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from purerecord.cli.exit_status import explain
from tests.support.command_line import CLEAN, process, run, shell
from tests.support.damage import insert


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("validate", "none"), "none: No such file"),
        (("validate", "none-*"), "none-*: no file matches"),
        (("validate", "x@3"), "x@3: none of the 3 shards exists"),
        (("validate", "sound", "--schema", "page.html"), "purerecord: "),
        (("cat", "none"), "none: No such file"),
        (("cat", "."), "directory"),
        (("info", "none"), "none: No such file"),
        (("index", "none"), "none: No such file"),
        (("index", "damaged"), "damaged"),
        (("index", "-"), "stdin"),
        (("index", "sound", "cut", "--output", "x"), "one file"),
        (("salvage", "page.html", "x"), "no sound record"),
        (("salvage", "sound", "sound"), "never changed"),
        (("salvage", "none", "x"), "none: No such file"),
        (("salvage", "sound", "no/such/folder/x"), "No such file"),
        (("cat", "memory://bucket/x"), "memory://bucket/x: "),
    ],
)
def test_what_cannot_be_done_is_code_1_and_one_line(capfd, arguments, said):
    before = sorted(os.listdir())
    code, out, err = run(capfd, *arguments)
    assert code == 1
    assert out == ""
    assert err.startswith("purerecord: ")
    assert said in err
    assert err.count("\n") == 1
    assert sorted(os.listdir()) == before


# One file of many


@pytest.mark.parametrize("order", [("none", "sound"), ("sound", "none"), ("sound", "none-*")])
@pytest.mark.parametrize("command", ["validate", "info", "cat", "index"])
def test_missing_file_does_not_hide_the_others(capfd, command, order):
    code, out, err = run(capfd, command, *order)
    assert code == 1
    assert "none" in err + out
    assert out.count('"label"') == 100 if command == "cat" else "100" in out


def test_missing_shard_does_not_hide_the_others(capfd):
    for number in (0, 2):
        Path(f"x-0000{number}-of-00003").write_bytes(CLEAN)
    for pattern in ("x@3", "x@*", "x-?????-of-00003"):
        code, out, err = run(capfd, "validate", pattern, "--json")
        assert (code, err) == (1, "")
        report = json.loads(out)
        assert [file["records"] for file in report["files"]] == [100, 0, 100]
        assert report["unreadable_files"] == ["x-00001-of-00003"]
        assert "No such file" in report["files"][1]["error"]


def test_first_and_last_shard_missing_do_not_hide_the_others(capfd):
    Path("x-00001-of-00003").write_bytes(CLEAN)
    code, out, _ = run(capfd, "validate", "x@3", "--json")
    assert code == 1
    assert [file["records"] for file in json.loads(out)["files"]] == [0, 100, 0]


@pytest.mark.parametrize("name", ["dir", "i", "a directory"])
@pytest.mark.parametrize("command", [["info"], ["cat"], ["index"], ["salvage", "out"]])
def test_folder_is_named_whatever_it_is_called(capfd, name, command):
    Path(name).mkdir()
    code, out, err = run(capfd, command[0], name, *command[1:])
    assert (code, out, err) == (1, "", f"purerecord: {name}: Is a directory\n")


def test_salvage_goes_on_after_a_hopeless_file(capfd):
    Path("many").mkdir()
    Path("many/a").write_bytes(b"<html>no</html>")
    Path("many/b").write_bytes(CLEAN)
    code, out, err = run(capfd, "salvage", "many/*", "out")
    assert code == 1
    assert out.splitlines()[-2:] == ["1 of 2 files saved, 100 records", "not saved: many/a"]
    assert err.startswith("purerecord: many/a: it holds no sound record")
    assert os.listdir("out") == ["b"]
    code, out, _ = run(capfd, "salvage", "many/*", "out", "--json")
    hopeless, fine = json.loads(out)
    assert (code, hopeless["output"], fine["output"]) == (1, None, "out/b")
    assert "no sound record" in hopeless["files"][0]["error"]


def test_wrong_schema_is_named(capfd):
    code, _, err = run(capfd, "validate", "sound", "--schema", "page.html")
    assert code == 1
    assert err.startswith("purerecord: page.html: ")


@pytest.mark.parametrize("command", ["salvage sound page.html/x", "index sound -o page.html/x"])
def test_temporary_names_are_not_told(capfd, command):
    code, _, err = run(capfd, *command.split())
    assert (code, err) == (1, "purerecord: page.html/x: Not a directory\n")


@pytest.mark.light(2)
@pytest.mark.parametrize(
    ("command", "target"),
    [
        ("salvage damaged out", "out"),
        ("salvage damaged out --quarantine q", "q"),
        ("salvage - out --quarantine q < damaged", "q"),
        ("index long -o i", "i"),
    ],
)
def test_place_that_takes_no_more_is_what_is_named(command, target):
    Path("long").write_bytes(CLEAN * 10)
    Path("damaged").write_bytes(insert(CLEAN, 0, bytes(3000)))
    before = sorted(os.listdir())
    code, _, err = shell(f"ulimit -f 1; PYTHONDONTWRITEBYTECODE=1 purerecord {command}")
    assert (code, err.decode()) == (1, f"purerecord: {target}: File too large\n")
    assert sorted(os.listdir()) == before


def test_messages_name_the_file_that_was_asked_for(capfd):
    _, _, err = run(capfd, "salvage", "sound", "no/such/x")
    assert err == "purerecord: no/such/x: No such file or directory\n"


def test_memory_that_runs_out_is_said(capfd, monkeypatch):
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("purerecord.recovery.validate._examine", exhausted)
    code, out, _ = run(capfd, "validate", "sound", "cut")
    assert code == 1
    assert out.count("not enough memory") == 2
    monkeypatch.setattr("purerecord.cli.commands.records_and_damage", exhausted)
    assert run(capfd, "cat", "sound") == (1, "", "purerecord: sound: not enough memory\n")


# Output that is not read, or cannot be written


def test_reader_that_goes_away_is_no_matter():
    Path("long").write_bytes(CLEAN * 200)
    done = process("cat", "long")
    done.stdout.readline()
    done.stdout.close()
    assert done.stderr.read() == b""
    done.stderr.close()
    assert done.wait() == 141


def test_reader_that_has_seen_enough_is_code_141():
    Path("long").write_bytes(CLEAN * 200)
    code, out, err = shell("purerecord cat long | head -1")
    assert (code, out.count(b"\n"), err) == (141, 1, b"")
    assert shell("purerecord --help | true")[2] == b""
    code, out, _ = shell("purerecord cat damaged 2> >(true) | wc -l")  # who reads stderr is no matter
    assert (code, out.strip()) == (3, b"99")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["stats --json long", "convert long - --to csv -q"])
def test_output_that_is_cut_off_is_an_error(command, unbuffered):
    Path("long").write_bytes(CLEAN)
    limited = (
        f"ulimit -f 1; PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED={unbuffered} purerecord {command} > out"
    )
    code, _, err = shell(limited)
    assert (code, os.path.getsize("out")) == (1, 1024)
    assert err.count(b"\n") == 1
    assert b"File too large" in err


@pytest.mark.light(1)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["validate sound damaged", "cat sound sound", "info sound"])
def test_output_that_cannot_be_written_is_one_error(command):
    code, _, err = shell(f"purerecord {command} > /dev/full")
    assert (code, err) == (1, b"purerecord: stdout: No space left on device\n")


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("the checksum of the data is wrong", "data", "data: the checksum of the data is wrong"),
        ("record 3 is cut", "3", "3: record 3 is cut"),
        ("database: no index", "data", "data: database: no index"),
        ("data: no index", "data", "data: no index"),
        ("data is one compressed stream", "data", "data is one compressed stream"),
        ("a\\nb is one compressed stream", "a\nb", "a\\nb is one compressed stream"),
        ("no index", "", "no index"),
    ],
)
def test_file_is_named_unless_the_message_begins_with_its_name(text, name, line):
    assert explain(ValueError(text), name) == line
