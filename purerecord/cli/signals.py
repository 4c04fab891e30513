"""Ctrl-C, SIGTERM and closed streams: a command cleans up once, however many signals come.

This module must not know the commands.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from io import RawIOBase
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_RESEND_AFTER = 0.01  # seconds


class Interrupted(KeyboardInterrupt):
    """A signal asks this process to end."""

    code = 128 + signal.SIGINT


_interrupts: list[int] = []


def interrupt(number: int, _frame: object) -> None:
    """Raise ``Interrupted``, so that the command cleans up.

    A second signal is ignored meanwhile. A third one is not, in case the cleanup hangs.
    """
    _interrupts.append(number)
    if len(_interrupts) != 2:
        error = Interrupted()
        error.code = 128 + number
        raise error


def interrupt_again(lost: Any) -> None:
    """Send a signal again that arrived while Python ran a destructor, where its exception is lost."""
    if not isinstance(lost.exc_value, Interrupted):
        sys.__unraisablehook__(lost)
        return
    _interrupts.clear()
    threading.Timer(_RESEND_AFTER, _thread.interrupt_main, [lost.exc_value.code - 128]).start()


def open_closed_streams() -> None:
    """Open a closed stdin, stdout or stderr on the null device.

    If one stayed closed, the next file to be opened would get its number, and printed text would go there.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - stays open as long as the process lives
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


def give_up_lost_stderr() -> None:
    """If nobody reads stderr any more, let what it still holds go nowhere.

    Python flushes it at its end, and an error there would replace the exit code.
    """
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def give_up_stdout() -> None:
    """Let what stdout still holds go nowhere: Python flushes it at its end, and has failed to already."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def buffer_stdout() -> None:
    """Give stdout the buffer that PYTHONUNBUFFERED has taken from it.

    Without one it is a raw file: of what it is to write it may write a part, without an error.
    """
    out = sys.stdout
    if isinstance(out.buffer, RawIOBase):
        sys.stdout = open(1, "w", closefd=False, encoding=out.encoding, errors=out.errors)  # noqa: SIM115
