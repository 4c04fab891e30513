"""Outcome: how a command ends that goes through many files, and how it says what went wrong.

What is wrong with one file is said on stderr, and the next one follows. An output that cannot be written
ends everything, which is why it is an error of its own kind here. This module does not know the commands.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from ..errors import CorruptionError, PureRecordError

DAMAGED = 3
# What can be wrong with a file, or with how it is named; anything else is a bug.
EXPECTED = (PureRecordError, OSError, ValueError, ImportError, MemoryError)


class OutputError(Exception):
    """Results could not be written; ``gone`` if whoever read them has gone away."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"stdout: {error.strerror or error}")
        self.gone = isinstance(error, BrokenPipeError)


def write(data: bytes) -> None:
    """Write a piece of the result to stdout."""
    try:
        sys.stdout.buffer.write(data)
    except OSError as error:
        raise OutputError(error) from None


def flush() -> None:
    """See to it that all results are written."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise OutputError(error) from None


@dataclass
class Failure:
    """Why something could not be done; "" if it could."""

    reason: str = ""


@dataclass
class Outcome:
    """What has become of a command so far."""

    failed: bool = False
    damaged: bool = False

    @property
    def code(self) -> int:
        """The exit code: that something could not be done matters more than damage."""
        return 1 if self.failed else DAMAGED if self.damaged else 0

    @contextmanager
    def of(self, name: str, *, hide: bool = True) -> Iterator[Failure]:
        """What is done with one file: if it fails, that is said, and other files may follow.

        Unless it is not to ``hide``: then the error goes on, with the name in it.
        """
        failure = Failure()
        try:
            yield failure
        except EXPECTED as error:
            failure.reason = explain(error, name)
            if not hide:
                raise ValueError(failure.reason) from error
            self.fail(failure.reason)

    def fail(self, reason: str) -> None:
        """Something could not be done."""
        self.failed = True
        self.say(reason)

    def say(self, text: str) -> None:
        """Tell the user something."""
        say(text)


def say(text: str) -> None:
    """One line for people, on stderr; where nobody can be told, nothing is lost."""
    with suppress(OSError):
        print(f"purerecord: {text}", file=sys.stderr)


def explain(error: BaseException, name: str = "") -> str:
    """What to tell a user of an error that came up with the file ``name``."""
    if isinstance(error, CorruptionError) and error.path is not None:
        return str(error)
    if isinstance(error, MemoryError):
        text = "not enough memory"
    elif isinstance(error, OSError):
        text = error.strerror or str(error)
        if isinstance(error.filename, (str, bytes)):
            name = os.fsdecode(error.filename)
        return f"{name}: {text}" if name else text
    else:
        text = str(error) or type(error).__name__
    return f"{name}: {text}" if name and name not in text else text
