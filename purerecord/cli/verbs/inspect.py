"""The commands that inspect files: one function each, which returns the exit code.

``purerecord.tools`` does the work. This module must not know how the command line is parsed.
"""

from __future__ import annotations

import shutil
from argparse import ArgumentError, Namespace
from collections.abc import Callable
from contextlib import closing
from typing import Any

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
from ...storage.url import local_path
from ...storage.whole_file import write_whole
from ...tools.inspect.count import Counts, count_file
from ...tools.inspect.ends import tail_of
from ...tools.inspect.schema import occurrences, schema_of, schema_of_records, schema_to_python
from ...tools.inspect.stats import Stats
from ...tools.inspect.stats import stats as stats_of
from ...tools.inspect.usage import du as du_of
from ..commands import cat
from ..exit_status import Outcome, show, show_json, write
from ..inputs import files_of, name_of, opened_by, size_of
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
        found = _read(stats_of, files, arguments, on_error="skip")
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


def stats(arguments: Namespace) -> int:
    """Print statistics, or write them to a page."""
    if arguments.html == "-" and arguments.json:
        raise ArgumentError(None, "--html - and --json are both for stdout; name a file for the page")
    outcome = Outcome()
    files = files_of(arguments.paths, arguments, outcome)
    if not files:
        return outcome.code
    most = {} if arguments.most_distinct is None else {"most_distinct": arguments.most_distinct}
    found = _read(
        stats_of, files, arguments, on_error=arguments.on_error, features=arguments.features, **most
    )
    _say_damage(found, outcome)
    for name in set(arguments.features or ()) - {feature.name for feature in found.features}:
        outcome.fail(f"no record has a feature {name!r}")
    if arguments.html is not None:
        _write_page(found.as_html(), arguments)
    if arguments.json:
        write(printable_json(found.as_json()).encode())
    elif arguments.html is None:
        show(found.text(shutil.get_terminal_size().columns))
    return outcome.code


def du(arguments: Namespace) -> int:
    """Print the bytes that each feature takes."""
    outcome = Outcome()
    files = files_of(arguments.paths, arguments, outcome)
    if not files:
        return outcome.code
    usage = _read(du_of, files, arguments, on_error=arguments.on_error)
    _say_damage(usage.found, outcome)
    if arguments.json:
        show_json(usage.to_dict())
    else:
        show(usage.text(shutil.get_terminal_size().columns))
    return outcome.code


def _read(function: Callable[..., Any], files: list[Named], arguments: Namespace, **keywords: Any) -> Any:
    """What ``function`` finds out about the files, with progress."""
    with ProgressLine(sum(map(size_of, files))) as progress:
        return function(
            files,
            workers=arguments.workers,
            compression=COMPRESSIONS[arguments.compression],
            progress=progress,
            **keywords,
        )


def _write_page(text: str, arguments: Namespace) -> None:
    if arguments.html == "-":
        write(text.encode())
    else:
        write_whole(local_path(opened_by(arguments.html, arguments)), text.encode())


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
