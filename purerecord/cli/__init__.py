"""The command ``purerecord``: the library for the shell.

    arguments      the parser, and the options of the first commands, as ``--help`` shows them
    options        what the options of several commands have in common
    commands       the first commands themselves
    verbs/         the other commands, in families
    inputs         the files that a command line names
    record_printer records in the format that the arguments name
    record_tables  records as CSV and as a table
    render         records and summaries as JSON and as text
    colours        colours on a terminal
    known_messages events and lists of Examples as values of JSON
    message_type   the message that --proto and --message name
    progress       the progress line on a terminal
    exit_status    failures of single files, and the exit code of a command
    signals        Ctrl-C, SIGTERM and closed streams
    completion     scripts by which shells complete command lines
    demo           ``purerecord demo``

Results go to stdout, everything else to stderr. The exit codes are 0 for success, 1 for a failure, 2 for
wrong usage, 3 for success with damaged or lost data, 130 after Ctrl-C, 143 after SIGTERM, and 141 if the
reader of stdout is gone. Mistakes of a user and faults of a file never show a traceback.

``main`` below runs one command. It must not know what the commands do.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

from .arguments import parse
from .exit_status import EXPECTED, OutputError, explain, flush, say
from .signals import (
    SIGNALS,
    Interrupted,
    buffer_stdout,
    give_up_lost_stderr,
    give_up_stdout,
    interrupt,
    interrupt_again,
    open_closed_streams,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Without ``argv``, take the arguments of the process, and handle its signals.
    """
    if argv is not None:
        return _run(argv)
    try:
        for number in SIGNALS:
            signal.signal(number, interrupt)
        sys.unraisablehook = interrupt_again
        open_closed_streams()
        buffer_stdout()
        return _run(sys.argv[1:])
    except KeyboardInterrupt as error:
        return int(getattr(error, "code", Interrupted.code))
    finally:
        give_up_lost_stderr()
        for number in SIGNALS:  # the command has ended; a signal has nothing to interrupt
            signal.signal(number, signal.SIG_IGN)


def _run(argv: Sequence[str]) -> int:
    try:
        try:
            arguments = parse(argv)
            # Slow to import, so after the usage is checked.
            commands = import_module(f".{arguments.module}", __package__)
            code: int = getattr(commands, arguments.command)(arguments)
        except SystemExit as done:  # argparse raises it after --help and at wrong usage
            code = int(done.code or 0)
        flush()
        return code
    except KeyboardInterrupt as error:
        return int(getattr(error, "code", Interrupted.code))
    except OutputError as error:
        give_up_stdout()
        if error.reader_gone:
            return 141
        say(str(error))
        return 1
    except argparse.ArgumentError as error:
        say(str(error))
        return 2
    except EXPECTED as error:
        say(explain(error))
        try:
            flush()
        except OutputError:  # perhaps what was said
            give_up_stdout()
        return 1


if __name__ == "__main__":
    sys.exit(main())
