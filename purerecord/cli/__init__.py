"""The command ``purerecord``: what the library does, for the shell.

Results go to stdout, everything else to stderr. The exit code is 0 if all is well, 1 if it could not be done,
2 if the command was wrong, 3 if it was done but data is damaged or was lost; 130 after Ctrl-C, 143 after
SIGTERM, 141 if whoever read the results went away. No traceback is ever shown for what a user or a file
did wrong. The work is done in ``commands``.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

from .arguments import parse
from .exit_status import EXPECTED, OutputError, explain, flush, say
from .signals import SIGNALS, Interrupted, interrupt, interrupt_again, open_closed_streams


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. Without arguments, the process is ours: its own are meant."""
    if argv is not None:
        return _run(argv)
    try:
        for number in SIGNALS:
            signal.signal(number, interrupt)
        sys.unraisablehook = interrupt_again
        open_closed_streams()
        return _run(sys.argv[1:])
    except KeyboardInterrupt as error:
        return int(getattr(error, "code", Interrupted.code))
    finally:
        for number in SIGNALS:  # too late to be of any use
            signal.signal(number, signal.SIG_IGN)


def _run(argv: Sequence[str]) -> int:
    try:
        try:
            arguments = parse(argv)
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


if __name__ == "__main__":
    sys.exit(main())
