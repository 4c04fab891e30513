"""The command line where something goes wrong: one file of many, a dying worker, signals, closed streams.

What can be done is done, what cannot is named in one line, and never is there a traceback, or half a file.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from purerecord import encode_example, read_records, validate
from purerecord.cli.render import as_json
from purerecord.processes.pool import run_all
from tests.cli.test_commands import CLEAN, HOME, PAYLOADS, folder, process, run, wait_until_read
from tests.support.damage import flip_byte, frames, insert

__all__ = ["folder"]  # the fixture, with its files: sound, damaged, cut, page.html

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


def test_names_in_the_last_lines_can_be_given_to_the_shell_again(capfd):
    Path("a b").write_bytes(Path("damaged").read_bytes())
    _, out, _ = run(capfd, "validate", "a b", "cut", "no 'such'")
    *_, damaged, unreadable = out.splitlines()
    assert damaged == "to be salvaged or made again: 'a b' cut"
    assert shlex.split(unreadable.partition(": ")[2]) == ["no 'such'"]


def test_validate_names_folders_as_what_cannot_be_read(capfd):
    Path("d").mkdir()
    code, out, _ = run(capfd, "validate", "damaged", "d")
    assert code == 1
    assert out.splitlines()[-2:] == ["to be salvaged or made again: damaged", "could not be read: d"]


def test_salvage_goes_on_after_a_hopeless_file(capfd):
    Path("many").mkdir()
    Path("many/a").write_bytes(b"<html>no</html>")
    Path("many/b").write_bytes(CLEAN)
    code, out, err = run(capfd, "salvage", "many/*", "out")
    assert code == 1
    assert "saved and verified: out/b" in out
    assert out.splitlines()[-2:] == ["1 of 2 files saved, 100 records", "not saved: many/a"]
    assert err.startswith("purerecord: many/a: it holds no sound record")
    assert os.listdir("out") == ["b"]
    code, out, _ = run(capfd, "salvage", "many/*", "out", "--json")
    hopeless, fine = json.loads(out)
    assert (code, hopeless["output"], fine["output"]) == (1, None, "out/b")
    assert "no sound record" in hopeless["files"][0]["error"]


def test_salvage_of_many_files_ends_with_what_became_of_them(capfd):
    code, out, _ = run(capfd, "salvage", "[sdc]*", "out")
    assert code == 3
    assert out.splitlines()[-2:] == ["3 of 3 files saved, 298 records", "with damage: cut damaged"]
    code, out, _ = run(capfd, "salvage", "sound", "out")
    assert (code, out.splitlines()[-1]) == (0, "100 records saved and verified: out/sound")


def test_wrong_schema_is_named(capfd):
    code, _, err = run(capfd, "validate", "sound", "--schema", "page.html")
    assert code == 1
    assert err.startswith("purerecord: page.html: ")


def test_schema_that_cannot_be_inferred_names_the_file(capfd):
    Path("odd").write_bytes(frames([encode_example({"a": 1}), encode_example({"a": "x"})]))
    code, out, err = run(capfd, "info", "--schema", "odd")
    assert (code, out) == (1, "")
    assert err.startswith("purerecord: odd: ")
    assert "'a'" in err


def test_schema_of_nothing_is_none(capfd):
    Path("empty").write_bytes(b"")
    for name in ("empty", "page.html"):
        code, out, err = run(capfd, "info", "--schema", name)
        assert (code, out) == (1, "")
        assert err == f"purerecord: {name}: no record to infer a schema from\n"


# Where things are written


def test_several_files_are_salvaged_to_a_folder_only(capfd):
    code, out, err = run(capfd, "salvage", "[sd]*d", "cut")
    assert (code, out) == (1, "")
    assert err == "purerecord: cut: 2 files are to be salvaged, so it must be a folder\n"


def test_salvage_does_not_write_to_stdout(capfd):
    before = sorted(os.listdir())
    code, out, err = run(capfd, "salvage", "sound", "-")
    assert (code, out) == (2, "")
    assert "name a file" in err
    assert sorted(os.listdir()) == before


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
    code, _, err = shell(f"ulimit -f 1; purerecord {command}")
    assert (code, err.decode()) == (1, f"purerecord: {target}: File too large\n")
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("command", ["salvage sound page.html/x", "index sound -o page.html/x"])
def test_temporary_names_are_not_told(capfd, command):
    code, _, err = run(capfd, *command.split())
    assert (code, err) == (1, "purerecord: page.html/x: Not a directory\n")


def test_salvage_never_writes_two_files_to_one_place(capfd):
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "x").write_bytes(CLEAN)
    before = sorted(os.listdir())
    code, out, err = run(capfd, "salvage", "*/x", "out", "--quarantine", "bad")
    assert (code, out) == (1, "")
    assert err == "purerecord: one/x and two/x would both be written to out/x; salvage one by one\n"
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("target", "quarantine"), [("q", "q"), ("q", "./q"), ("q/x", "q"), ("out", "sound"), ("q/", "q")]
)
def test_salvage_writes_no_records_to_the_quarantine(capfd, target, quarantine):
    before = sorted(os.listdir())
    code, _, err = run(capfd, "salvage", "damaged", target, "--quarantine", quarantine)
    assert code == 1
    assert "quarantine" in err
    assert sorted(os.listdir()) == before


def test_salvage_checks_all_places_before_it_writes(capfd):
    Path("bad/sound").mkdir(parents=True)
    Path("bad/sound/old").write_bytes(b"")
    code, _, err = run(capfd, "salvage", "[sd]*d", "out", "--quarantine", "bad")
    assert code == 1
    assert "bad/sound" in err
    assert not Path("out").exists()


def test_messages_name_the_file_that_was_asked_for(capfd):
    _, _, err = run(capfd, "salvage", "sound", "no/such/x")
    assert err == "purerecord: no/such/x: No such file or directory\n"


def test_stdin_has_a_name_in_a_folder():
    with open("sound", "rb") as file:
        done = process("salvage", "-", "out/", stdin=file)
        done.communicate()
    assert done.returncode == 0
    assert os.listdir("out") == ["stdin"]


# What is asked for


def test_unknown_feature_is_named_with_those_that_are_like_it(capfd):
    code, out, err = run(capfd, "cat", "sound", "--features", "lable,score", "--limit", "2")
    assert code == 1
    assert [json.loads(line) for line in out.splitlines()] == [{"score": [0.0]}, {"score": [0.1]}]
    assert err == "purerecord: no record has a feature 'lable'; there is 'label'\n"
    _, _, err = run(capfd, "cat", "sound", "--features", "nope")
    assert err == "purerecord: no record has a feature 'nope'; there is 'label', 'name', 'score'\n"


def test_feature_that_only_some_records_have_is_none_to_complain_of(capfd):
    Path("a").write_bytes(frames([encode_example({"x": 1}), encode_example({"y": 2})]))
    assert run(capfd, "cat", "a", "--features", "y") == (0, '{}\n{"y": [2]}\n', "")


@pytest.mark.parametrize("number", ["0", "-1", "many", "1.5"])
def test_wrong_number_is_explained(capfd, number):
    code, _, err = run(capfd, "validate", "sound", f"--workers={number}")
    assert code == 2
    assert f"argument --workers: a whole number from 1 on is needed, not '{number}'" in err


def test_json_is_valid_whatever_files_are_called(capfdbinary):
    name = os.fsdecode(b"\xff\xe9.tfrecord")
    Path(name).write_bytes(flip_byte(CLEAN, 20))
    for command in (["validate", name], ["info", name], ["salvage", name, "x", "--quarantine", "bad"]):
        done = process(*command, "--json")
        out, err = done.communicate()
        assert (done.returncode, err) == (3, b"")
        found = json.loads(out.decode("utf-8"))
        path = found[0]["path"] if isinstance(found, list) else found["files"][0]["path"]
        assert os.fsencode(path) == b"\xff\xe9.tfrecord"
    assert json.loads(Path("bad/damages.json").read_text())["source"] == name


# A worker that dies


def fatal(file: str, count) -> str:
    """A job that kills its process on some files."""
    if file.startswith("fatal"):
        os.kill(os.getpid(), signal.SIGKILL)
    count(1, 1)
    return file.upper()


def test_file_that_kills_its_worker_does_not_take_the_others_with_it():
    files = ["a", "b", "fatal 1", "c", "fatal 2", "d"]
    assert run_all(fatal, files, 2, None) == ["A", "B", None, "C", None, "D"]


def test_worker_that_dies_before_all_is_handed_out(monkeypatch):
    submit = ProcessPoolExecutor.submit

    def late(pool, *arguments):
        future = submit(pool, *arguments)
        future.exception(timeout=20)  # by then its process has died, and the pool takes no more
        return future

    monkeypatch.setattr(ProcessPoolExecutor, "submit", late)
    assert run_all(fatal, ["a", "fatal", "b", "c"], 2, None) == ["A", None, "B", "C"]


def die(_job, _file) -> None:
    os._exit(9)


def test_file_that_kills_its_worker_is_named(monkeypatch):
    monkeypatch.setattr("purerecord.processes.pool._work", die)
    report = validate(["sound", "damaged"], workers=2)
    assert [file.error for file in report.files] == [
        "the process that checked it was killed; was memory short?"
    ] * 2


def test_memory_that_runs_out_is_said(capfd, monkeypatch):
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("purerecord.recovery.validate._examine", exhausted)
    code, out, _ = run(capfd, "validate", "sound", "cut")
    assert code == 1
    assert out.count("not enough memory") == 2
    monkeypatch.setattr("purerecord.cli.commands.walk", exhausted)
    assert run(capfd, "cat", "sound") == (1, "", "purerecord: sound: not enough memory\n")


# Streams that are closed, or lead nowhere


def shell(command: str) -> tuple[int, bytes, bytes]:
    """What the shell makes of a command in which ``purerecord`` is ours."""
    ours = f"'{sys.executable}' -m purerecord"
    done = subprocess.run(
        ["bash", "-c", "set -o pipefail\n" + command.replace("purerecord", ours)],
        env={**os.environ, "PYTHONPATH": HOME},
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("validate sound damaged --workers 2", 3),
        ("cat damaged", 3),
        ("info none", 1),
        ("salvage damaged x --quarantine q", 3),
    ],
)
def test_closed_streams_change_nothing_but_what_is_printed(command, code, closed):
    got, out, err = shell(f"purerecord {command} {closed}")
    assert got == code
    assert b"Traceback" not in err
    assert ">&-" not in closed.replace("2>&-", "") or out == b""
    if command.startswith("salvage"):
        assert list(read_records("x")) == PAYLOADS[:7] + PAYLOADS[8:]


def test_closed_stdin_is_said():
    assert shell("purerecord cat - <&-")[0] == 1


def test_reader_that_has_seen_enough_is_code_141():
    Path("long").write_bytes(CLEAN * 200)
    code, out, err = shell("purerecord cat long | head -1")
    assert (code, out.count(b"\n"), err) == (141, 1, b"")
    assert shell("purerecord --help | true")[2] == b""
    code, out, _ = shell("purerecord cat damaged 2> >(true) | wc -l")  # who reads stderr is no matter
    assert (code, out.strip()) == (3, b"99")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["validate sound damaged", "cat sound sound", "info sound"])
def test_output_that_cannot_be_written_is_one_error(command):
    code, _, err = shell(f"purerecord {command} > /dev/full")
    assert (code, err) == (1, b"purerecord: stdout: No space left on device\n")


# Signals


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("times", [1, 2])
def test_signals_are_quiet_and_leave_no_half_file(number, code, times):
    done = process("salvage", "-", "clean", "--quarantine", "bad", stdin=subprocess.PIPE)
    done.stdin.write(flip_byte(CLEAN, 20) + CLEAN * 2)
    done.stdin.flush()
    wait_until_read(done)
    for _ in range(times):
        done.send_signal(number)
    assert done.communicate() == (b"", b"")
    assert done.returncode == code
    assert sorted(os.listdir()) == ["cut", "damaged", "page.html", "sound"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_no_signal_is_lost_while_a_record_is_shown():
    came = []

    def interrupt(*_: object) -> None:
        came.append(True)
        raise KeyboardInterrupt

    def show_until_it_comes(number: int) -> None:
        signal.setitimer(signal.ITIMER_REAL, 1e-5 * number)
        while len(came) < number:
            as_json(payload)

    payload = encode_example({"score": [i / 7 for i in range(200)]})
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for number in range(1, 101):
            with pytest.raises(KeyboardInterrupt):
                show_until_it_comes(number)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_sigterm_ends_the_workers_too():
    for name in ("a", "b"):
        os.mkfifo(name)
    done = process("validate", "a", "b", "--workers", "2")
    files = [os.open(name, os.O_WRONLY) for name in ("a", "b")]  # opens when a worker has opened it too
    done.send_signal(signal.SIGTERM)
    assert done.communicate() == (b"", b"")
    assert done.returncode == 143
    for file in files:
        with pytest.raises(BrokenPipeError):  # nobody reads any more
            os.write(file, b"x")
        os.close(file)


def test_workers_do_not_outlive_who_started_them():
    for name in ("a", "b"):
        os.mkfifo(name)
    done = process("validate", "a", "b", "--workers", "2")
    files = [os.open(name, os.O_WRONLY) for name in ("a", "b")]
    done.kill()
    done.communicate()  # ends when the last process is gone that could write
    assert done.returncode == -signal.SIGKILL
    for file in files:
        with pytest.raises(BrokenPipeError):
            os.write(file, b"x")
        os.close(file)


# A child is forked for one moment after the other, at which it sends itself a signal: when a function of
# ours is called for the n-th time. What it leaves is then looked at.
INTERRUPTING = """
    import os, shutil, signal, sys
    from purerecord import cli, validate

    BEFORE = set(os.listdir())

    def live(point):
        left = point

        def moment(frame, event, _):
            nonlocal left
            ours = "purerecord" in frame.f_code.co_filename and frame.f_code.co_name != "_interrupt"
            if event == "call" and ours:
                left -= 1
                if left == 0:
                    signal.raise_signal(signal.SIGINT)

        sys.setprofile(moment)
        code = cli.main()
        sys.setprofile(None)
        os._exit(code if left <= 0 else 99)

    point, code = 2, 0  # the first call is that of main
    while code != 99:
        child = os.fork()
        if child == 0:
            try:
                live(point)
            finally:
                os._exit(1)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        left = set(os.listdir()) - BEFORE
        # After the last moment, at which something could be undone, all is there.
        assert code == 99 or code == 130 or (code == 3 and "out" in left), (point, code)
        assert left in (set(), {"out", "bad"}), (point, left)
        if left:
            assert validate("out").records == 99
            assert os.path.exists("bad/damages.json")
            os.unlink("out")
            shutil.rmtree("bad")
        point += 1 + point // 15
    print(point)
"""


def test_ctrl_c_at_any_moment_leaves_nothing_half_done():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            textwrap.dedent(INTERRUPTING),
            *["salvage", "damaged", "out", "--quarantine", "bad"],
        ],
        env={**os.environ, "PYTHONPATH": HOME},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout.split()[-1]) > 500
