"""Ctrl-C and SIGTERM: a command ends once, cleanly, however often it is told to."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_AGAIN = 0.01  # seconds


class Interrupted(KeyboardInterrupt):
    """A signal asks this process to end."""

    code = 128 + signal.SIGINT


_interrupts: list[int] = []


def interrupt(number: int, _frame: object) -> None:
    """End, tidying up. While that goes on, a second signal is not heard; a third is, should it hang."""
    _interrupts.append(number)
    if len(_interrupts) != 2:
        error = Interrupted()
        error.code = 128 + number
        raise error


def interrupt_again(lost: Any) -> None:
    """A signal that came while Python was tidying up an object of its own is lost there: it comes again."""
    if not isinstance(lost.exc_value, Interrupted):
        sys.__unraisablehook__(lost)
        return
    _interrupts.clear()
    threading.Timer(_AGAIN, _thread.interrupt_main, [lost.exc_value.code - 128]).start()


def open_closed_streams() -> None:
    """A closed stdout or stderr is as good as one that leads nowhere.

    Left closed, its number would be given to the next file that is opened, and what is printed go there.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - as long as the process lives
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
