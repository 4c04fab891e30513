"""The command line: what is printed where, exit codes, stdin, broken pipes, Ctrl-C; and never a traceback."""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import signal
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np
import pytest

import purerecord
from purerecord import (
    TFRecordWriter,
    encode_example,
    encode_sequence_example,
    load_index,
    read_records,
    validate,
)
from purerecord.cli import main
from purerecord.cli.arguments import build_parser
from purerecord.cli.progress import ProgressLine
from tests.support.damage import cut, flip_byte, frames, insert, starts

HOME = str(Path(purerecord.__file__).parents[1])
COMMANDS = ("validate", "salvage", "info", "cat", "index", "demo")
PAYLOADS = [encode_example({"label": i, "name": f"{i}.jpg", "score": i / 10}) for i in range(100)]
EDGES = starts(PAYLOADS)
CLEAN = frames(PAYLOADS)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sound").write_bytes(CLEAN)
    Path("damaged").write_bytes(flip_byte(insert(CLEAN, EDGES[50], b"?" * 30), EDGES[7] + 15))
    Path("cut").write_bytes(cut(CLEAN, len(CLEAN) - 9))
    Path("page.html").write_bytes(b"<html><body>Not here</body></html>")
    return tmp_path


def run(capfd, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command run in this process."""
    try:
        code = main(arguments)
    except SystemExit as done:
        code = int(done.code or 0)
    out, err = capfd.readouterr()
    assert "Traceback" not in err
    return code, out, err


def process(*arguments: str, **options) -> subprocess.Popen:
    """A command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "purerecord", *arguments],
        env={**os.environ, "PYTHONPATH": HOME},
        stdin=options.pop("stdin", subprocess.DEVNULL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


# Usage


def test_version(capfd):
    assert run(capfd, "--version") == (0, f"purerecord {purerecord.__version__}\n", "")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_every_command_has_help(capfd, command):
    code, out, _ = run(capfd, *command, "--help")
    assert code == 0
    assert out.startswith("usage: purerecord")


def test_every_option_says_what_it_does():
    parser = build_parser()
    (commands,) = (action for action in parser._actions if hasattr(action, "choices") and action.choices)
    assert set(commands.choices) == set(COMMANDS)
    for command in commands.choices.values():
        assert all(action.help for action in command._actions)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("validate",),
        ("validate", "sound", "--workers", "0"),
        ("validate", "sound", "--workers", "many"),
        ("cat", "sound", "--limit", "-1"),
        ("cat", "sound", "--format", "xml"),
        ("salvage", "sound"),
    ],
)
def test_wrong_usage_is_code_2(capfd, arguments):
    code, out, err = run(capfd, *arguments)
    assert code == 2
    assert out == ""
    assert "usage:" in err


def test_raw_records_have_no_features_to_choose_from(capfd):
    code, out, err = run(capfd, "cat", "sound", "--format", "raw", "--features", "label")
    assert (code, out) == (2, "")
    assert "--features is for" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("validate", "none"), "none: No such file"),
        (("validate", "none-*"), "none-*: no file matches"),
        (("validate", "x@3"), "No such file"),
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
        (("validate", "s3://bucket/x"), "purerecord"),
    ],
)
def test_what_cannot_be_done_is_code_1_and_one_line(capfd, arguments, said):
    before = sorted(os.listdir())
    code, out, err = run(capfd, *arguments)
    if arguments[1].startswith("s3:") and code == 1 and "fsspec" not in err:
        return  # fsspec is installed, and says something of its own
    assert code == 1
    assert out == ""
    assert err.startswith("purerecord: ")
    assert said in err
    assert err.count("\n") == 1
    assert sorted(os.listdir()) == before


# validate


def test_validate_says_what_is_damaged(capfd):
    code, out, err = run(capfd, "validate", "sound", "damaged", "cut")
    assert code == 3
    assert err == ""
    assert out == f"{validate(['sound', 'damaged', 'cut'])}\n"
    assert "to be salvaged or made again: damaged cut" in out


def test_validate_of_sound_files_is_code_0(capfd):
    code, out, err = run(capfd, "validate", "sound")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split() == ["sound", "100", "7.3", "kB", "none"]


def test_validate_quietly_lists_only_what_is_damaged(capfd):
    _, out, _ = run(capfd, "validate", "-q", "sound", "damaged", "--workers", "2")
    assert not any(line.startswith("sound") for line in out.splitlines())


def test_validate_prints_json(capfd):
    code, out, err = run(capfd, "validate", "--json", "sound", "damaged")
    assert (code, err) == (3, "")
    assert json.loads(out) == validate(["sound", "damaged"]).to_dict()


def test_validate_reports_files_that_cannot_be_read_as_code_1(capfd):
    Path("d").mkdir()
    code, out, _ = run(capfd, "validate", "sound", "d")
    assert code == 1
    assert "directory" in out


def test_validate_looks_into_payloads(capfd):
    Path("text").write_bytes(frames([b"no Example"]))
    assert run(capfd, "validate", "text")[0] == 0
    code, out, _ = run(capfd, "validate", "--decode", "text")
    assert code == 3
    assert "not an Example" in out


def test_schema_from_info_is_the_schema_for_validate(capfd):
    code, out, _ = run(capfd, "info", "--schema", "sound")
    assert code == 0
    Path("schema.json").write_text(out)
    assert run(capfd, "validate", "--schema", "schema.json", "sound")[0] == 0
    Path("other").write_bytes(frames([encode_example({"label": "a"})]))
    code, out, _ = run(capfd, "validate", "--schema", "schema.json", "other")
    assert code == 3
    assert "not of the schema" in out


def test_schema_of_sequence_examples_is_for_validate_too(capfd):
    payloads = [encode_sequence_example({"id": i}, {"words": [["a"], ["b", "c"]]}) for i in range(5)]
    Path("clips").write_bytes(frames(payloads))
    code, out, _ = run(capfd, "info", "--schema", "clips")
    assert (code, set(json.loads(out))) == (0, {"format", "version", "context", "sequence"})
    Path("schema.json").write_text(out)
    assert run(capfd, "validate", "--schema", "schema.json", "clips")[0] == 0
    code, out, _ = run(capfd, "validate", "--schema", "schema.json", "sound")
    assert code == 3
    assert "not of the schema" in out


def test_compression_can_be_declared(capfd):
    assert run(capfd, "validate", "--compression", "none", "sound")[0] == 0
    code, out, _ = run(capfd, "validate", "--compression", "gzip", "sound")
    assert code == 3
    assert "broken compression" in out


# salvage


def test_salvage_saves_and_reports(capfd):
    code, out, err = run(capfd, "salvage", "damaged", "clean", "--quarantine", "bad")
    assert (code, err) == (3, "")
    assert out.splitlines()[-2:] == ["99 records saved and verified: clean", "2 damaged ranges kept: bad"]
    assert list(read_records("clean")) == PAYLOADS[:7] + PAYLOADS[8:]
    assert len(os.listdir("bad")) == 3


def test_salvage_prints_json(capfd):
    code, out, _ = run(capfd, "salvage", "damaged", "clean", "--json", "--output-compression", "gzip")
    assert code == 3
    assert json.loads(out)["output_compression"] == "GZIP"


def test_salvage_of_many_files_goes_to_a_folder(capfd):
    code, out, _ = run(capfd, "salvage", "[sd]*d", "out", "--quarantine", "bad")
    assert code == 3
    assert sorted(os.listdir("out")) == ["damaged", "sound"]
    assert os.listdir("bad") == ["damaged"]
    assert out.count("saved and verified") == 2
    code, out, _ = run(capfd, "salvage", "[sd]*d", "out2/", "--json")
    assert [report["records"] for report in json.loads(out)] == [99, 100]


# info


def test_info_says_what_is_in_a_file(capfd):
    code, out, err = run(capfd, "info", "sound")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "sound",
        "  size         7.3 kB",
        "  compression  none",
        "  records      100",
        "  record size  56 bytes to 57 bytes, 57 bytes on average",
        "  features     in the first 100 records",
        "    label  int64, 1 value",
        "    name   bytes, 1 value",
        "    score  float32, 1 value",
    ]


def test_info_of_a_damaged_file_is_code_3(capfd):
    code, out, _ = run(capfd, "info", "damaged")
    assert code == 3
    assert "purerecord validate says more" in out


def test_info_prints_json(capfd):
    with TFRecordWriter("steps", "GZIP") as writer:
        writer.write(encode_sequence_example({"id": 1}, {"frames": [[1, 2], [3]]}))
        writer.write(b"\xff")
    code, out, _ = run(capfd, "info", "--json", "steps", "sound", "--sample", "10")
    assert code == 0
    steps, sound = json.loads(out)
    assert (steps["compression"], steps["records"], steps["undecodable"]) == ("GZIP", 2, 1)
    assert steps["features"]["frames"] == {
        "kind": "int64",
        "present": 1,
        "fewest": 2,
        "most": 2,
        "sequence": True,
    }
    assert sound["decoded"] == 10


def test_info_of_ragged_and_missing_features(capfd):
    Path("a").write_bytes(frames([encode_example({"x": [1, 2]}), encode_example({"x": [], "y": 2.5})]))
    _, out, _ = run(capfd, "info", "a")
    assert "x  empty/int64, 0 to 2 values" in out
    assert "y  float32, 1 value, missing in 1" in out


def test_info_of_an_empty_file(capfd):
    Path("empty").write_bytes(b"")
    code, out, _ = run(capfd, "info", "empty")
    assert code == 0
    assert "records      0" in out


# cat


def test_cat_prints_json_lines(capfd):
    code, out, err = run(capfd, "cat", "sound")
    assert (code, err) == (0, "")
    rows = [json.loads(line) for line in out.splitlines()]
    assert rows == [{"label": [i], "name": [f"{i}.jpg"], "score": [i / 10]} for i in range(100)]


def test_cat_prints_so_many_records_of_some_features(capfd):
    _, out, _ = run(capfd, "cat", "sound", "damaged", "--limit", "101", "--features", "label,none")
    assert [json.loads(line)["label"] for line in out.splitlines()] == [[i] for i in range(100)] + [[0]]


def test_cat_goes_on_behind_damage_and_says_so(capfd):
    code, out, err = run(capfd, "cat", "damaged")
    assert code == 3
    assert len(out.splitlines()) == 99
    assert re.fullmatch(
        r"purerecord: damaged: \[\d+, \d+\): bad data checksum\n"
        r"purerecord: damaged: \[\d+, \d+\): garbage\n",
        err,
    )


ODD = [
    ("Zoë".encode(), '"Zoë"'),
    (b"\xff\x00", '{"base64": "/wA="}'),
    (encode_example({"b": [b"\xfe", "é"]}), '{"b": [{"base64": "/g=="}, "é"]}'),
    (encode_example({"f": [np.nan, np.inf, 0.1]}), '{"f": [{"float": "nan"}, {"float": "inf"}, 0.1]}'),
    (encode_example({"e": []}), '{"e": []}'),
    (encode_example({}), "{}"),
    (
        encode_sequence_example({"id": 1}, {"s": [[1, 2], [3]]}),
        '{"context": {"id": [1]}, "sequence": {"s": [[1, 2], [3]]}}',
    ),
]


@pytest.mark.parametrize(("payload", "line"), ODD)
def test_cat_prints_what_json_lacks(capfd, payload, line):
    Path("odd").write_bytes(frames([payload]))
    assert run(capfd, "cat", "odd") == (0, line + "\n", "")


def test_cat_prints_text(capfd):
    payloads = [
        encode_example({"image": b"\xff\xd8\xff\xe0" + bytes(90), "ids": list(range(20)), "word": "x" * 100}),
        encode_sequence_example({}, {"steps": [[1], []]}),
        b"\xff\xff",
    ]
    Path("a").write_bytes(frames(payloads))
    _, out, _ = run(capfd, "cat", "--format", "text", "a")
    assert out.splitlines() == [
        f"record 0: {len(payloads[0])} bytes",
        "  ids: [0, 1, 2, 3, 4, 5, 6, 7, ... (20 values)]",
        "  image: <94 bytes, a JPEG image>",
        f'  word: "{"x" * 60}..."',
        f"record 1: {len(payloads[1])} bytes",
        "  steps: 2 steps",
        "    1",
        "    []",
        "record 2: 2 bytes",
        "  no Example; <2 bytes>",
    ]


def test_cat_prints_raw_payloads():
    done = process("cat", "--format", "raw", "--limit", "3", "sound")
    assert done.communicate() == (b"".join(PAYLOADS[:3]), b"")


# index


def test_index_is_written_beside_each_file(capfd):
    code, out, _ = run(capfd, "index", "sound")
    assert (code, out) == (0, "sound.index: 100 records\n")
    assert len(load_index("sound.index")) == 100


def test_index_as_text(capfd):
    assert run(capfd, "index", "sound", "--format", "text", "-o", "sound.idx")[0] == 0
    assert Path("sound.idx").read_text().splitlines()[1] == f"{EDGES[1]} {EDGES[2] - EDGES[1]}"


# Pipes, signals and terminals


@pytest.mark.parametrize("command", ["validate", "info", "cat"])
def test_dash_is_stdin(command):
    with open("sound", "rb") as file:
        done = process(command, "-", stdin=file)
        out, err = done.communicate()
    assert (done.returncode, err) == (0, b"")
    assert out


def test_salvage_from_stdin():
    with open("damaged", "rb") as file:
        done = process("salvage", "-", "clean", "--quarantine", "bad", stdin=file)
        done.communicate()
    assert done.returncode == 3
    assert len(list(read_records("clean"))) == 99
    assert len(os.listdir("bad")) == 3


def test_reader_that_goes_away_is_no_matter():
    Path("long").write_bytes(CLEAN * 200)
    done = process("cat", "long")
    done.stdout.readline()
    done.stdout.close()
    assert done.stderr.read() == b""
    done.stderr.close()
    assert done.wait() == 141


@pytest.mark.parametrize("command", ["validate -", "cat -", "salvage - clean --quarantine bad"])
def test_ctrl_c_is_quiet_and_leaves_no_half_file(command):
    done = process(*command.split(), stdin=subprocess.PIPE)
    done.stdin.write(flip_byte(CLEAN, 20) + CLEAN * 2)
    done.stdin.flush()
    wait_until_read(done)
    done.send_signal(signal.SIGINT)
    out, err = done.communicate()
    assert done.returncode == 130
    assert err in (b"", b"purerecord: <stdin>: [0, 72): bad data checksum\n")
    assert command.startswith("cat") or out == b""
    assert sorted(os.listdir()) == ["cut", "damaged", "page.html", "sound"]


def wait_until_read(done: subprocess.Popen) -> None:
    """Until the process has taken all that was written to its stdin, and waits for more."""
    while done.poll() is None and fcntl.ioctl(done.stdin, termios.FIONREAD, bytes(4)) != bytes(4):
        pass


@pytest.mark.parametrize("whole_group", [True, False], ids=["terminal", "kill -INT"])
def test_ctrl_c_ends_the_workers_too(whole_group):
    for name in ("a", "b"):
        os.mkfifo(name)
    done = process("validate", "a", "b", "--workers", "2", start_new_session=True)
    files = [os.open(name, os.O_WRONLY) for name in ("a", "b")]  # opens when a worker has opened it too
    if whole_group:
        os.killpg(done.pid, signal.SIGINT)
    else:
        done.send_signal(signal.SIGINT)
    assert done.communicate() == (b"", b"")
    assert done.returncode == 130
    for file in files:
        with pytest.raises(BrokenPipeError):  # nobody reads any more
            os.write(file, b"x")
        os.close(file)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_one_line_that_goes_away(monkeypatch):
    clock = iter([0.0, 0.1, 1.0, 2.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    terminal = Terminal()
    with ProgressLine(10_000_000, terminal) as progress:
        progress(1_000_000, 5_000)  # too soon to be shown
        progress(1_000_000, 5_000)
        progress(3_000_000, 10_000)
    assert terminal.getvalue() == (
        "\r\x1b[K2.0 MB of 10.0 MB (20%), 2.0 MB/s, 10,000 records/s, 0:04 left"
        "\r\x1b[K5.0 MB of 10.0 MB (50%), 2.5 MB/s, 10,000 records/s, 0:02 left"
        "\r\x1b[K"
    )


def test_progress_without_a_total_has_no_end(monkeypatch):
    clock = iter([0.0, 4000.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    terminal = Terminal()
    ProgressLine(0, terminal)(1000, 1)
    assert terminal.getvalue() == "\r\x1b[K1.0 kB, 0 bytes/s, 0 records/s"


def test_progress_is_not_shown_where_nobody_looks():
    nowhere = io.StringIO()
    with ProgressLine(100, nowhere) as progress:
        progress(100, 1)
    assert nowhere.getvalue() == ""


def test_long_times_have_hours(monkeypatch):
    clock = iter([0.0, 1.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    terminal = Terminal()
    ProgressLine(3601 + 3600, terminal)(1, 1)
    assert terminal.getvalue().endswith("2:00:00 left")
