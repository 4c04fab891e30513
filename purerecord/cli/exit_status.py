"""How a command ends: the failures of single files, what is printed about them, and the exit code.

A failure of one file is printed on stderr, and the next file follows. Output that cannot be written ends the
whole command, so it has an error class of its own. This module must not know the commands.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from ..errors import CorruptionError, PureRecordError
from ..printable import printable, printable_json

DAMAGED = 3
# Errors about a file or its name. Any other error is a bug of purerecord.
EXPECTED = (PureRecordError, OSError, ValueError, ImportError, MemoryError)


class OutputError(Exception):
    """stdout could not be written; ``reader_gone`` if its reader has closed the pipe."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"stdout: {error.strerror or error}")
        self.reader_gone = isinstance(error, BrokenPipeError)


def write(data: bytes) -> None:
    """Write a part of the result to stdout."""
    try:
        sys.stdout.buffer.write(data)
    except OSError as error:
        raise OutputError(error) from None


def show(text: str) -> None:
    """Print text in which all names and values have passed through ``printable``."""
    write(text.encode() + b"\n")


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    # JSON is always UTF-8. The bytes of a file name that is no valid text become JSON escapes.
    show(printable_json(json.dumps(value, indent=2, ensure_ascii=False)))


def flush() -> None:
    """Flush stdout."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise OutputError(error) from None


@dataclass
class Failure:
    """The reason of a failure; "" for success."""

    reason: str = ""


@dataclass
class Outcome:
    """The failures and damage that a command has met so far."""

    failed: bool = False
    damaged: bool = False

    @property
    def code(self) -> int:
        """The exit code. A failure counts more than damage."""
        return 1 if self.failed else DAMAGED if self.damaged else 0

    @contextmanager
    def handling(self, name: str, *, hide: bool = True) -> Iterator[Failure]:
        """A context for the work on one file: an expected error is printed, and other files can follow.

        With ``hide=False`` the error is raised again, with the name in it.
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
        """Print a failure, and remember it for the exit code."""
        self.failed = True
        self.say(reason)

    def say(self, text: str) -> None:
        """Print one line for the user."""
        say(text)


def say(text: str) -> None:
    """Print one line on stderr; if stderr cannot be written, print nothing."""
    with suppress(OSError):
        print(f"purerecord: {printable(text)}", file=sys.stderr)


def explain(error: BaseException, name: str = "") -> str:
    """One line about an error that the file ``name`` has caused."""
    if isinstance(error, CorruptionError) and error.path is not None:
        return str(error)
    if isinstance(error, MemoryError):
        text = "not enough memory"
    elif isinstance(error, OSError):
        text = error.strerror or str(error)
        if isinstance(error.filename, (str, bytes)):
            name = os.fsdecode(error.filename)
        if error.strerror:  # it never holds the name
            return f"{name}: {text}" if name else text
    else:
        text = str(error) or type(error).__name__
    named = printable(name)
    return f"{name}: {text}" if name and not text.startswith((f"{named}:", f"{named} ")) else text
