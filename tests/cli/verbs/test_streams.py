"""- for stdin and stdout where records are rewritten."""

from __future__ import annotations

import io
import json
import os
import tempfile
from pathlib import Path

import pytest

from purerecord import decode_example, read_records
from tests.support.command_line import PAYLOADS, run, shell
from tests.support.damage import flip_byte


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    yield
    assert not list((tmp_path / "temporary").iterdir())


def test_records_pass_through_a_pipe():
    code, out, err = shell(
        "purerecord select - - --where 'label < 3' < sound | purerecord shuffle - -"
        " | purerecord sort - - --by label"
    )
    assert code == 0
    found = [decode_example(record)["label"].item() for record in read_records(io.BytesIO(out))]
    assert found == [0, 1, 2]
    assert err.count(b"records read") == 3


def test_stdin_is_one_of_several_files():
    _, out, _ = shell("cp sound two; purerecord merge two - both --json < sound")
    assert json.loads(out)["inputs"] == ["two", "-"]
    assert list(read_records("both")) == PAYLOADS * 2


def test_the_report_of_stdout_goes_to_stderr_and_names_no_temporary_file():
    code, out, err = shell("purerecord merge sound -")
    assert (code, out) == (0, Path("sound").read_bytes())
    assert err.endswith(b": -\n")
    code, out, err = shell("purerecord merge sound - --dry-run")
    assert (code, out) == (0, b"")
    assert err.endswith(b"would write 1 file: -\n")
    assert shell("purerecord merge sound - -q") == (0, Path("sound").read_bytes(), b"")


def test_damage_of_stdin_is_named():
    Path("bad").write_bytes(flip_byte(Path("sound").read_bytes(), 15))
    code, out, err = shell("purerecord merge - out < bad")
    assert (code, out) == (1, b"")
    assert err.startswith(b"purerecord: stdin: record 0 at byte 0: data checksum")
    assert not os.path.exists("out")
    code, out, err = shell("purerecord merge - - --on-error skip < bad")
    assert code == 3
    assert err.startswith(b"purerecord: skipped: stdin: record 0 at byte 0")
    assert list(read_records(io.BytesIO(out))) == PAYLOADS[1:]


def test_a_reader_that_has_seen_enough_is_code_141():
    Path("large").write_bytes(Path("sound").read_bytes() * 100)
    code, out, err = shell("purerecord merge large - -q | head -c 1")
    assert (code, len(out), err) == (141, 1, b"")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("merge", "-", "-", "out"), "stdin can be read only once"),
        (("merge", "sound", "-", "--resume"), "--resume needs files"),
        (("merge", "sound", "-", "--manifest"), "stdout is one file; leave out --manifest"),
        (("reshard", "sound", "-", "--max-bytes", "1MB"), "stdout is one file; leave out --max-bytes"),
        (("split", "sound", "-", "--split", "a=1"), "stdout is one file, and a split has several"),
    ],
)
def test_what_streams_cannot_do_is_wrong_usage(capfd, arguments, reason):
    code, out, err = run(capfd, *arguments)
    assert (code, out) == (2, "")
    assert reason in err


def test_an_index_that_the_shell_names_is_left_out(capfd):
    run(capfd, "index", "sound")
    code, _, err = run(capfd, "merge", "sound", "sound.index", "one")
    assert (code, err) == (0, "")
    assert list(read_records("one")) == PAYLOADS
