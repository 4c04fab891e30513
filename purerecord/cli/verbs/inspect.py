"""The commands that inspect files: one function each, which returns the exit code.

``purerecord.tools`` does the work. This module must not know how the command line is parsed.
"""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing

from ...container.damage import Damage
from ...container.frame_stream import FrameStream
from ...container.looks_like import open_source
from ...payload.parse.schema import schema_to_json
from ...payload.parse.schema_pbtxt import schema_to_pbtxt
from ...printable import printable_json
from ...records import Records
from ...recovery.report import counted
from ...recovery.scan import records_and_damage
from ...storage.paths import Named
from ...tools.inspect.count import Counts, count_file
from ...tools.inspect.ends import tail_of
from ...tools.inspect.schema import occurrences, schema_of, schema_of_records, schema_to_python
from ...tools.inspect.stats import Stats, stats
from ..commands import cat
from ..exit_status import Outcome, show, show_json, write
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


def schema(arguments: Namespace) -> int:
    """Print a schema that fits the records."""
    outcome = Outcome()
    files = files_of(arguments.paths, arguments, outcome)
    known = None
    if arguments.all:
        with ProgressLine(sum(map(size_of, files))) as progress:
            found = stats(
                files,
                workers=arguments.workers,
                on_error="skip",
                compression=COMPRESSIONS[arguments.compression],
                progress=progress,
            )
        _say_damage(found, outcome)
        if not found.records:
            raise ValueError("no record to infer a schema from")
        specs, known = schema_of(found), occurrences(found)
    else:
        samples: list[Records] = []
        for file in files:
            with outcome.handling(name_of(file)):
                samples += _sample(file, arguments, outcome)
        if outcome.failed and not samples:
            return outcome.code
        specs = schema_of_records(samples)
    if arguments.format == "pbtxt":
        write(schema_to_pbtxt(specs, known).encode())
    elif arguments.format == "python":
        write(schema_to_python(specs).encode())
    else:
        write(printable_json(schema_to_json(specs)).encode())
    return outcome.code


def _sample(file: Named, arguments: Namespace, outcome: Outcome) -> list[Records]:
    """The first records of a file; damage before them is said."""
    with closing(open_source(file, COMPRESSIONS[arguments.compression])) as opened:
        found: list[Records] = []
        left = arguments.sample
        for part in records_and_damage(opened, FrameStream(opened)):
            if isinstance(part, Damage):
                outcome.damaged = True
                outcome.say(f"{opened.name}: {part}")
                continue
            found.append(part[:left])
            left -= len(found[-1])
            if not left:
                break
        return found


def _say_damage(found: Stats, outcome: Outcome) -> None:
    """Say what was left out of statistics, if anything was."""
    outcome.damaged |= not found.ok
    for file in found.files:
        for damage in file.damages:
            outcome.say(f"{file.path}: {damage}")
        if file.undecodable:
            outcome.say(f"{file.path}: {counted(file.undecodable, 'record')} no Examples; {file.reason}")
