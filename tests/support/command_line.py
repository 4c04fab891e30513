"""The command ``purerecord`` in tests: files to work on, and three ways to run it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import termios
from pathlib import Path

import purerecord
from purerecord import encode_example
from purerecord.cli import main
from purerecord.cli.arguments import build_parser
from tests.support.damage import frames, starts

HOME = str(Path(purerecord.__file__).parents[1])
COMMANDS = tuple(next(action.choices for action in build_parser()._actions if action.dest == "command"))
PAYLOADS = [encode_example({"label": i, "name": f"{i}.jpg", "score": i / 10}) for i in range(100)]
EDGES = starts(PAYLOADS)
CLEAN = frames(PAYLOADS)


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


def wait_until_read(done: subprocess.Popen) -> None:
    """Wait until the process has read everything that was written to its stdin."""
    while done.poll() is None and fcntl.ioctl(done.stdin, termios.FIONREAD, bytes(4)) != bytes(4):
        pass


def shell(command: str) -> tuple[int, bytes, bytes]:
    """Exit code, stdout and stderr of a shell command, in which ``purerecord`` is the one under test."""
    ours = f"'{sys.executable}' -m purerecord"
    done = subprocess.run(
        ["bash", "-c", "set -o pipefail\n" + command.replace("purerecord", ours)],
        env={**os.environ, "PYTHONPATH": HOME},
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
