"""The command ``purerecord``: what the library does, for the shell.

Results go to stdout, everything else to stderr. The exit code is 0 if all is well, 1 if it could not be done,
2 if the command was wrong, 3 if it was done but data is damaged or was lost; 130 after Ctrl-C, 143 after
SIGTERM, 141 if whoever read the results went away. No traceback is ever shown for what a user or a file
did wrong. The work is done in ``commands``.
"""

from __future__ import annotations

import _thread
import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from . import __version__
from .outcome import EXPECTED, OutputError, explain, flush, say

_COMPRESSIONS = ("auto", "none", "gzip", "zlib")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_AGAIN = 0.01  # seconds
_FILES = "file, glob, shard pattern (name@10, name-?????-of-?????) or - for stdin"


class Interrupted(KeyboardInterrupt):
    """A signal asks this process to end."""

    code = 128 + signal.SIGINT


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. Without arguments, the process is ours: its own are meant."""
    if argv is not None:
        return _run(argv)
    try:
        for number in _SIGNALS:
            signal.signal(number, _interrupt)
        sys.unraisablehook = _interrupt_again
        _open_closed_streams()
        return _run(sys.argv[1:])
    except KeyboardInterrupt as error:
        return int(getattr(error, "code", Interrupted.code))
    finally:
        for number in _SIGNALS:  # too late to be of any use
            signal.signal(number, signal.SIG_IGN)


def _run(argv: Sequence[str]) -> int:
    try:
        try:
            arguments = _parse(argv)
            commands = import_module(".commands", __package__)  # slow: not needed to be told of wrong usage
            code: int = getattr(commands, arguments.command)(arguments)
        except SystemExit as done:  # how argparse ends after --help, or at wrong usage
            code = int(done.code or 0)
        flush()
        return code
    except KeyboardInterrupt as error:
        return int(getattr(error, "code", Interrupted.code))
    except OutputError as error:
        # What is still to be flushed at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.gone:  # who has seen enough
            return 141
        say(str(error))
        return 1
    except argparse.ArgumentError as error:
        say(str(error))
        return 2
    except EXPECTED as error:
        say(explain(error))
        return 1


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    try:
        return build_parser().parse_args(argv)
    except OSError as error:  # --help could not be printed
        raise OutputError(error) from None


_interrupts: list[int] = []


def _interrupt(number: int, _frame: object) -> None:
    """End, tidying up. While that goes on, a second signal is not heard; a third is, should it hang."""
    _interrupts.append(number)
    if len(_interrupts) != 2:
        error = Interrupted()
        error.code = 128 + number
        raise error


def _interrupt_again(lost: Any) -> None:
    """A signal that came while Python was tidying up an object of its own is lost there: it comes again."""
    if not isinstance(lost.exc_value, Interrupted):
        sys.__unraisablehook__(lost)
        return
    _interrupts.clear()
    threading.Timer(_AGAIN, _thread.interrupt_main, [lost.exc_value.code - 128]).start()


def _open_closed_streams() -> None:
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


def build_parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    parser = argparse.ArgumentParser(
        prog="purerecord",
        description="Look into, check and repair TFRecord files.",
        epilog="exit codes: 0 fine, 1 could not do it, 2 wrong usage, 3 done but data is damaged or was lost",
    )
    parser.add_argument("--version", action="version", version=f"purerecord {__version__}")
    add = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for define in (_validate, _salvage, _info, _cat, _index, _demo):
        define(add)
    return parser


def _validate(add: Any) -> None:
    command = _command(add, "validate", "check every byte of the files and report all damage")
    _reads(command)
    command.add_argument("--json", action="store_true", help="print the report as JSON")
    command.add_argument("-q", "--quiet", action="store_true", help="list only files that are damaged")
    command.add_argument("--workers", type=_positive, metavar="N", help="processes; all cores unless given")
    command.add_argument("--decode", action="store_true", help="each record must be a valid Example")
    command.add_argument("--schema", metavar="FILE", help="each record must fit this schema (JSON)")


def _salvage(add: Any) -> None:
    command = _command(add, "salvage", "save every sound record to a clean file")
    command.add_argument("source", metavar="SRC", help=_FILES)
    command.add_argument("target", metavar="DST", help="file to be written, or folder for several files")
    command.add_argument("--quarantine", metavar="DIR", help="folder that takes the damaged ranges")
    command.add_argument("--json", action="store_true", help="print the report as JSON")
    command.add_argument(
        "--compression", choices=_COMPRESSIONS, default="auto", help="of SRC; found out unless given"
    )
    command.add_argument(
        "--output-compression", choices=_COMPRESSIONS[1:], help="of DST; the same as SRC unless given"
    )


def _info(add: Any) -> None:
    command = _command(add, "info", "say what the files hold")
    _reads(command)
    command.add_argument("--json", action="store_true", help="print it as JSON")
    command.add_argument(
        "--sample", type=_positive, default=1000, metavar="N", help="decode so many records of a file (1000)"
    )
    command.add_argument(
        "--schema", action="store_true", help="print a schema that fits these records, as JSON"
    )


def _cat(add: Any) -> None:
    command = _command(add, "cat", "print records")
    _reads(command)
    command.add_argument(
        "--format", choices=("json", "text", "raw"), default="json", help="JSON lines unless given"
    )
    command.add_argument("--limit", type=_positive, metavar="N", help="print so many records at the most")
    command.add_argument(
        "--features", type=lambda text: text.split(","), metavar="A,B", help="print only these features"
    )


def _index(add: Any) -> None:
    command = _command(add, "index", "write an index beside each file: PATH.index")
    command.add_argument("paths", nargs="+", metavar="PATH", help=_FILES)
    command.add_argument(
        "--format", choices=("purerecord", "text"), default="purerecord", help="text is that of DALI"
    )
    command.add_argument("-o", "--output", metavar="FILE", help="write the index of one file there")


def _demo(add: Any) -> None:
    command = _command(add, "demo", "write, read, damage and repair a small dataset")
    command.add_argument("folder", nargs="?", help="where; in a temporary folder unless given")


def _command(add: Any, name: str, text: str) -> Any:
    return add.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")


def _reads(command: Any) -> None:
    command.add_argument("paths", nargs="+", metavar="PATH", help=_FILES)
    command.add_argument(
        "--compression", choices=_COMPRESSIONS, default="auto", help="of the files; found out unless given"
    )


def _positive(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on is needed, not {text!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
