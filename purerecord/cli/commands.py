"""The commands of the shell: one function each, which returns the exit code.

The library does the work; a command prints its reports. Damage is never skipped silently: ``cat`` continues
after it, but prints it on stderr, and the exit code is 3. A file that cannot be read does not stop the
others; then the exit code is 1. This module must not know how the command line is parsed.
"""

from __future__ import annotations

import errno
import os
from argparse import ArgumentError, Namespace
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from ..container.damage import Damage
from ..container.frame_stream import FrameStream
from ..container.index import build_index, index_path
from ..container.looks_like import open_source
from ..container.manifest import load_manifest
from ..payload.parse.schema import infer_schema, schema_from_text, schema_to_json
from ..printable import printable, printable_json
from ..recovery.report import FileReport, SalvageReport, aligned, counted, human_size, salvaged_together
from ..recovery.salvage import check_places, salvage_all
from ..recovery.scan import records_and_damage
from ..recovery.validate import validate as validate_files
from ..storage.opened import Opened, read_whole
from ..storage.paths import Named, is_stream
from ..storage.url import is_url
from .exit_status import Outcome, show, show_json, write
from .inputs import files_of, name_of, opened_by, size_of, workers_of
from .options import COMPRESSIONS
from .progress import ProgressLine
from .record_printer import RecordPrinter, message_type
from .render import Summary, merged

# Bytes to validate above which worker processes are worth their start.
_MIN_BYTES_FOR_WORKERS = 1 << 26
_SEPARATORS = (os.sep, os.altsep or os.sep)


def validate(arguments: Namespace) -> int:
    """Check files and print a report."""
    outcome = Outcome()
    files = files_of(arguments.paths, arguments, outcome)
    total = sum(map(size_of, files))
    workers = workers_of(arguments, (os.cpu_count() or 1) if total > _MIN_BYTES_FOR_WORKERS else 1)
    schema = None
    if arguments.schema is not None:
        with outcome.handling(arguments.schema, hide=False):
            schema = schema_from_text(read_whole(opened_by(arguments.schema, arguments)))
    manifest = None
    if arguments.manifest is not None:
        with outcome.handling(arguments.manifest, hide=False):
            manifest = load_manifest(
                arguments.manifest,
                storage_options=dict(arguments.storage_option) if is_url(arguments.manifest) else None,
            )
    if not files or (arguments.manifest is not None and manifest is None):
        return outcome.code
    with ProgressLine(total) as progress:
        report = validate_files(
            files,
            workers=workers,
            decode=arguments.decode,
            schema=schema,
            compression=COMPRESSIONS[arguments.compression],
            expect=arguments.expect,
            min_records=arguments.min_records,
            manifest=manifest,
            progress=progress,
        )
    if not (arguments.quiet and report.ok and not report.warnings):
        if arguments.json:
            show_json(report.to_dict(only_damaged=arguments.quiet))
        else:
            show(report.text(only_damaged=arguments.quiet))
    outcome.failed |= bool(report.unreadable)
    outcome.damaged |= not report.ok
    return outcome.code


def salvage(arguments: Namespace) -> int:
    """Save the sound records of files and print reports."""
    if arguments.target == "-":
        raise ArgumentError(None, "what is salvaged is not written to stdout; name a file")
    outcome = Outcome()
    files = files_of(arguments.sources, arguments, outcome)
    many = len(files) > 1 or len(arguments.sources) > 1
    folder = many or os.path.isdir(arguments.target) or arguments.target.endswith(_SEPARATORS)
    if folder and files and os.path.isfile(arguments.target):
        reason = f"{len(files)} files are to be salvaged, so it must be a folder"
        raise NotADirectoryError(errno.ENOTDIR, reason, arguments.target)
    check_places([_job(arguments, file, folder=folder) for file in files])  # before anything is written
    found = len(files)
    if arguments.only_damaged:
        files = _not_sound(files, arguments)
    if folder and files and not is_url(arguments.target):
        os.makedirs(arguments.target, exist_ok=True)
    reports = _salvaged(arguments, files, outcome, folder=folder)
    outcome.damaged |= not all(report.ok for report in reports)
    if not arguments.quiet or not all(report.ok for report in reports):
        _print_salvaged(arguments, reports, folder=folder)
    if arguments.only_damaged and not (arguments.json or arguments.quiet):
        show(f"{found - len(files):,} of {counted(found, 'file')} sound and skipped")
    return outcome.code


def _print_salvaged(arguments: Namespace, reports: list[SalvageReport], *, folder: bool) -> None:
    quiet = arguments.quiet
    if arguments.json and folder:
        show_json([report.to_dict() for report in reports if not (quiet and report.ok)])
    elif len(reports) > 1:
        show(salvaged_together(reports, only_damaged=quiet))
    elif reports and reports[0].output:  # otherwise the failure has been printed
        show_json(reports[0].to_dict()) if arguments.json else show(reports[0].text())


def _not_sound(files: list[Named], arguments: Namespace) -> list[Named]:
    """The files that are damaged; those that cannot be read are left to fail when they are salvaged."""
    for file in files:
        if not isinstance(file, str) or is_stream(file):
            raise ValueError(
                f"{name_of(file)}: --only-damaged reads a file twice, which a pipe does not allow"
            )
    compression = COMPRESSIONS[arguments.compression]
    with ProgressLine(sum(map(size_of, files))) as progress:
        report = validate_files(
            files, workers=workers_of(arguments, 1), compression=compression, progress=progress
        )
    return [file for file, checked in zip(files, report.files, strict=True) if not checked.ok]


def _salvaged(
    arguments: Namespace, files: list[Named], outcome: Outcome, *, folder: bool
) -> list[SalvageReport]:
    """Salvage the files; a failure is printed, and noted in ``outcome``."""
    with ProgressLine(sum(map(size_of, files))) as progress:
        results = salvage_all(
            [_job(arguments, file, folder=folder) for file in files],
            workers=workers_of(arguments, 1),
            compression=COMPRESSIONS[arguments.compression],
            options=COMPRESSIONS.get(arguments.output_compression),
            progress=progress,
        )
    reports = []
    for file, result in zip(files, results, strict=True):
        if isinstance(result, SalvageReport):
            reports.append(result)
            continue
        name = name_of(file)
        with outcome.handling(name) as failure:
            raise result
        reason = failure.reason.removeprefix(f"{name}: ")
        reports.append(SalvageReport((FileReport(name, 0, 0, error=reason),)))
    return reports


def _job(arguments: Namespace, file: Named, *, folder: bool) -> tuple[Named, str, str | None]:
    """The job for one file: the file, its target, and its quarantine or None."""
    if not folder:
        return file, opened_by(arguments.target, arguments), arguments.quarantine
    name = os.path.basename(file) if isinstance(file, str) else "stdin"
    quarantine = None if arguments.quarantine is None else os.path.join(arguments.quarantine, name)
    target = f"{arguments.target.rstrip('/')}/{name}" if is_url(arguments.target) else None
    return file, opened_by(target or os.path.join(arguments.target, name), arguments), quarantine


def info(arguments: Namespace) -> int:
    """Print a summary of the files."""
    if arguments.schema and arguments.proto is not None:
        raise ArgumentError(None, "--schema is of Examples, not of the messages of --proto")
    outcome = Outcome()
    kind = message_type(arguments, outcome)
    files = files_of(arguments.paths, arguments, outcome)
    found: list[tuple[dict[str, Any], Summary]] = []
    samples: list[bytes] = []
    for file in files:
        summary, damages = Summary(arguments.sample, kind), []
        with (
            outcome.handling(name_of(file)),
            closing(open_source(file, COMPRESSIONS[arguments.compression])) as opened,
        ):
            for part in records_and_damage(opened, FrameStream(opened)):
                if isinstance(part, Damage):
                    damages.append(part)
                else:
                    samples += part[: max(0, arguments.sample - summary.records)] if arguments.schema else []
                    summary.add(part)
            found.append((_facts(opened, damages), summary))
        if summary.reason:
            outcome.say(f"{name_of(file)}: {summary.reason}")
        outcome.damaged |= bool(damages) or bool(summary.reason)
    if arguments.schema and found:
        with outcome.handling(" ".join(facts["path"] for facts, _ in found)):
            if not samples:
                raise ValueError("no record to infer a schema from")
            sequences = infer_schema(samples, sequence=True)
            # An Example is a SequenceExample that has no feature lists.
            schema = schema_to_json(sequences if sequences[1] else infer_schema(samples))
            show(printable_json(schema).rstrip())
    elif arguments.json and found:
        show_json([{**facts, **summary.to_dict()} for facts, summary in found])
    elif arguments.each or len(files) == 1:
        for facts, summary in found:
            show("\n".join([printable(facts["path"]), *_lines(facts), *summary.lines()]))
    elif found:
        show("\n".join([*_table(found), *merged([summary for _, summary in found]).lines()]))
    return outcome.code


def _facts(opened: Opened, damages: list[Damage]) -> dict[str, Any]:
    return {
        "path": opened.name,
        "size": opened.position,
        "compression": opened.compression or "none",
        "blocked": opened.blocked,
        "damages": len(damages),
        "damaged_bytes": sum(damage.size for damage in damages),
    }


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    yield f"  size         {human_size(facts['size'])}"
    yield f"  compression  {_compression(facts)}"
    if facts["damages"]:
        yield f"  damage       {human_size(facts['damaged_bytes'])}; purerecord validate says more"


def _table(found: list[tuple[dict[str, Any], Summary]]) -> list[str]:
    """A line for each file, totals last."""
    rows = [("file", "records", "size", "compression")]
    for facts, summary in found:
        damage = f", {human_size(facts['damaged_bytes'])} damaged" if facts["damages"] else ""
        size = human_size(facts["size"])
        rows.append((printable(facts["path"]), f"{summary.records:,}", size, _compression(facts) + damage))
    records = sum(summary.records for _, summary in found)
    size = human_size(sum(facts["size"] for facts, _ in found))
    rows.append((counted(len(found), "file"), f"{records:,}", size, ""))
    return [line.rstrip() for line in aligned(rows)]


def _compression(facts: dict[str, Any]) -> str:
    return f"{facts['compression']}{', in blocks' if facts['blocked'] else ''}"


def cat(arguments: Namespace) -> int:
    """Print records."""
    outcome = Outcome()
    printer = RecordPrinter(arguments, outcome)
    skip, left = arguments.skip, arguments.limit
    for file in files_of(arguments.paths, arguments, outcome):
        with (
            outcome.handling(name_of(file)),
            closing(open_source(file, COMPRESSIONS[arguments.compression])) as opened,
        ):
            for part in records_and_damage(opened, FrameStream(opened)):
                if isinstance(part, Damage):
                    outcome.damaged = True
                    outcome.say(f"{opened.name}: {part}")
                    continue
                chosen = part[skip : None if left is None else skip + left]
                for number, payload in enumerate(chosen, part.first + min(skip, len(part))):
                    printer.show(opened.name, number, payload)
                skip -= min(skip, len(part))
                left = None if left is None else left - len(chosen)
                if left == 0:
                    break
        if left == 0:
            break
    printer.finish()
    return outcome.code


def index(arguments: Namespace) -> int:
    """Write an index beside each file."""
    if "-" in arguments.paths:
        raise ValueError("an index is made of a file on disk, not of stdin")
    outcome = Outcome()
    paths = [file for file in files_of(arguments.paths, arguments, outcome) if isinstance(file, str)]
    if arguments.output is not None and len(paths) != 1:
        raise ValueError(f"--output is for one file, not for {len(paths)}")
    for path in paths:
        with outcome.handling(path):
            made = build_index(path)
            given = arguments.output
            target = index_path(path) if given is None else opened_by(given, arguments)
            made.save(target, format=arguments.format)
            show(f"{printable(target)}: {counted(len(made), 'record')}")
    return outcome.code


def completion(arguments: Namespace) -> int:
    """Print a completion script."""
    from .arguments import build_parser  # noqa: PLC0415 - no other command needs it
    from .completion import script  # noqa: PLC0415

    write(script(build_parser(), arguments.shell).encode())
    return 0


def demo(arguments: Namespace) -> int:
    """Run the tour of the library."""
    from .demo import run  # noqa: PLC0415 - no other command needs it

    run(arguments.folder)
    return 0
