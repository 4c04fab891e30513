"""Ctrl-C, SIGTERM and closed streams: a command ends quietly and leaves no half file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from purerecord import encode_example, read_records
from purerecord.cli.render import as_json
from tests.support.command_line import CLEAN, HOME, PAYLOADS, process, shell, wait_until_read
from tests.support.damage import flip_byte
from tests.support.settings import LONG


@pytest.mark.light(2)
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


@pytest.mark.light(2)
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
        with pytest.raises(BrokenPipeError):  # the worker, which read it, is gone
            os.write(file, b"x")
        os.close(file)


def test_sigterm_ends_the_workers_too():
    for name in ("a", "b"):
        os.mkfifo(name)
    done = process("validate", "a", "b", "--workers", "2")
    files = [os.open(name, os.O_WRONLY) for name in ("a", "b")]  # opens when a worker has opened it too
    done.send_signal(signal.SIGTERM)
    assert done.communicate() == (b"", b"")
    assert done.returncode == 143
    for file in files:
        with pytest.raises(BrokenPipeError):  # the worker, which read it, is gone
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


# A child process is forked for many moments. At the n-th call of a function of this package, it sends
# itself a signal. After each child, the files that are left are checked.
INTERRUPTING = """
    import os, shutil, signal, sys
    from purerecord import cli, validate

    BEFORE = set(os.listdir())

    def live(point):
        left = point

        def moment(frame, event, _):
            nonlocal left
            ours = "purerecord" in frame.f_code.co_filename and frame.f_code.co_name != "interrupt"
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
        point += 1 + point // STEPS
    print(point)
"""


def test_ctrl_c_at_any_moment_leaves_nothing_half_done():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            textwrap.dedent(INTERRUPTING).replace("STEPS", "15" if LONG else "6"),
            *["salvage", "damaged", "out", "--quarantine", "bad"],
        ],
        env={**os.environ, "PYTHONPATH": HOME},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout.split()[-1]) > 500


# Streams that are closed


@pytest.mark.light(4)
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
