"""The commands that inspect files: one function each, which returns the exit code.

``purerecord.tools`` does the work. This module must not know how the command line is parsed.
"""

from __future__ import annotations

from argparse import Namespace

from ...container.damage import Damage
from ...tools.inspect.count import Counts, count_file
from ...tools.inspect.ends import tail_of
from ..commands import cat
from ..exit_status import Outcome, show, show_json
from ..inputs import files_of, name_of, size_of
from ..options import COMPRESSIONS
from ..progress import ProgressLine
from ..record_printer import RecordPrinter


def head(arguments: Namespace) -> int:
    """Print the first records."""
    arguments.skip = 0
    return cat(arguments)


def tail(arguments: Namespace) -> int:
    """Print the last records. They are numbered from the end: the last one is -1."""
    outcome = Outcome()
    printer = RecordPrinter(arguments, outcome)
    wanted, found = arguments.limit, []
    for file in reversed(files_of(arguments.paths, arguments, outcome)):
        damages: list[Damage] = []
        if wanted:
            with outcome.handling(name_of(file)):
                found.append(tail_of(file, wanted, COMPRESSIONS[arguments.compression], damages.append))
                wanted -= len(found[-1])
        for damage in damages:
            outcome.damaged = True
            outcome.say(f"{name_of(file)}: {damage}")
    for records in reversed(found):
        for number, payload in enumerate(records, records.first):
            printer.show(records.path or "", number, payload)
    printer.finish()
    return outcome.code


def count(arguments: Namespace) -> int:
    """Print how many records there are."""
    outcome = Outcome()
    files = files_of(arguments.paths, arguments, outcome)
    counts = []
    with ProgressLine(sum(map(size_of, files))) as progress:
        for file in files:
            with outcome.handling(name_of(file)):
                counts.append(count_file(file, COMPRESSIONS[arguments.compression], progress))
    found = Counts(tuple(counts))
    if arguments.json:
        show_json(found.to_dict())
    elif arguments.total:
        if not outcome.failed:  # a number that lacks a file would mislead a script
            show(str(found.records))
    elif counts:
        show(str(found))
    return outcome.code
