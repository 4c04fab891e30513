"""The commands of the shell: one function each, which returns the exit code.

The library does the work; a command prints its reports. Damage is never skipped silently: ``cat`` continues
after it, but prints it on stderr, and the exit code is 3. A file that cannot be read does not stop the
others; then the exit code is 1. This module must not know how the command line is parsed.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from argparse import ArgumentError, Namespace
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from ..container.damage import Damage
from ..container.frame_stream import FrameStream
from ..container.index import build_index, index_path
from ..container.looks_like import open_source
from ..payload.parse.schema import infer_schema, schema_from_json, schema_to_json
from ..recovery.report import FileReport, SalvageReport, human_size, salvaged_together
from ..recovery.salvage import check_places
from ..recovery.salvage import salvage as salvage_file
from ..recovery.scan import records_and_damage
from ..recovery.validate import validate as validate_files
from ..storage.compression import READ_ONLY
from ..storage.opened import Opened
from ..storage.paths import Named, resolve, without_indexes
from .exit_status import Outcome, write
from .progress import ProgressLine
from .render import Selection, Summary, as_json, as_text

_COMPRESSIONS = {"auto": "auto", "none": "", **{name.lower(): name for name in ("GZIP", "ZLIB", *READ_ONLY)}}
# Bytes to validate above which worker processes are worth their start.
_MIN_BYTES_FOR_WORKERS = 1 << 26


def validate(arguments: Namespace) -> int:
    """Check files and print a report."""
    outcome = Outcome()
    files = _files(arguments.paths, outcome)
    total = sum(map(_size, files))
    workers = arguments.workers or (os.cpu_count() or 1 if total > _MIN_BYTES_FOR_WORKERS else 1)
    schema = None
    if arguments.schema is not None:
        with outcome.handling(arguments.schema, hide=False), open(arguments.schema, "rb") as file:
            schema = schema_from_json(file.read())
    if not files:
        return outcome.code
    with ProgressLine(total) as progress:
        report = validate_files(
            files,
            workers=workers,
            decode=arguments.decode,
            schema=schema,
            compression=_COMPRESSIONS[arguments.compression],
            progress=progress,
        )
    _print_json(report.to_dict()) if arguments.json else _print(report.text(only_damaged=arguments.quiet))
    outcome.failed |= bool(report.unreadable)
    outcome.damaged |= not report.ok
    return outcome.code


def salvage(arguments: Namespace) -> int:
    """Save the sound records of files and print reports."""
    if arguments.target == "-":
        raise ArgumentError(None, "what is salvaged is not written to stdout; name a file")
    outcome = Outcome()
    files = _files([arguments.source], outcome)
    separators = (os.sep, os.altsep or os.sep)  # Windows has two
    folder = len(files) > 1 or os.path.isdir(arguments.target) or arguments.target.endswith(separators)
    if folder and files and os.path.isfile(arguments.target):
        reason = f"{len(files)} files are to be salvaged, so it must be a folder"
        raise NotADirectoryError(errno.ENOTDIR, reason, arguments.target)
    jobs = [_job(arguments, file, folder=folder) for file in files]
    check_places(jobs)  # all of them before anything is written
    if folder and files:
        os.makedirs(arguments.target, exist_ok=True)
    reports = []
    for file, target, quarantine in jobs:
        with outcome.handling(_name(file)) as failure, ProgressLine(_size(file)) as progress:
            report = salvage_file(
                file,
                target,
                quarantine=quarantine,
                compression=_COMPRESSIONS[arguments.compression],
                options=_COMPRESSIONS.get(arguments.output_compression),
                progress=progress,
            )
        if failure.reason:
            report = SalvageReport((FileReport(_name(file), 0, 0, error=failure.reason),))
        elif not arguments.json:
            _print(report.text())
        reports.append(report)
        outcome.damaged |= not report.ok
    if arguments.json and reports and (folder or reports[0].output):
        _print_json([report.to_dict() for report in reports] if folder else reports[0].to_dict())
    elif len(reports) > 1:
        _print(salvaged_together(reports))
    return outcome.code


def _job(arguments: Namespace, file: Named, *, folder: bool) -> tuple[Named, str, str | None]:
    """The job for one file: the file, its target, and its quarantine or None."""
    if not folder:
        return file, arguments.target, arguments.quarantine
    name = os.path.basename(file) if isinstance(file, str) else "stdin"
    quarantine = None if arguments.quarantine is None else os.path.join(arguments.quarantine, name)
    return file, os.path.join(arguments.target, name), quarantine


def info(arguments: Namespace) -> int:
    """Print a summary of each file."""
    outcome = Outcome()
    summaries: list[dict[str, Any]] = []
    samples: list[bytes] = []
    names: list[str] = []
    for file in _files(arguments.paths, outcome):
        summary, damages = Summary(arguments.sample), []
        facts: dict[str, Any] = {}
        with (
            outcome.handling(_name(file)),
            closing(open_source(file, _COMPRESSIONS[arguments.compression])) as opened,
        ):
            for part in records_and_damage(opened, FrameStream(opened)):
                if isinstance(part, Damage):
                    damages.append(part)
                else:
                    samples += part[: max(0, arguments.sample - summary.records)] if arguments.schema else []
                    summary.add(part)
            facts = _facts(opened, damages)
        outcome.damaged |= bool(damages)
        if not facts:
            continue
        names.append(_name(file))
        summaries.append({**facts, **summary.to_dict()})
        if not (arguments.json or arguments.schema):
            _print("\n".join([opened.name, *_lines(facts), *summary.lines()]))
    if arguments.schema and names:
        with outcome.handling(" ".join(names)):
            if not samples:
                raise ValueError("no record to infer a schema from")
            sequences = infer_schema(samples, sequence=True)
            # An Example is a SequenceExample that has no feature lists.
            _print(schema_to_json(sequences if sequences[1] else infer_schema(samples)).rstrip())
    elif arguments.json and names:
        _print_json(summaries)
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
    yield f"  compression  {facts['compression']}{', in blocks' if facts['blocked'] else ''}"
    if facts["damages"]:
        yield f"  damage       {human_size(facts['damaged_bytes'])}; purerecord validate says more"


def cat(arguments: Namespace) -> int:
    """Print records."""
    if arguments.features is not None and arguments.format == "raw":
        raise ArgumentError(None, "--features is for --format json and text; raw records are whole")
    outcome = Outcome()
    selection = Selection(arguments.features)
    left = arguments.limit
    for file in _files(arguments.paths, outcome):
        with (
            outcome.handling(_name(file)),
            closing(open_source(file, _COMPRESSIONS[arguments.compression])) as opened,
        ):
            for part in records_and_damage(opened, FrameStream(opened)):
                if isinstance(part, Damage):
                    outcome.damaged = True
                    outcome.say(f"{opened.name}: {part}")
                    continue
                for number, payload in enumerate(part[:left], part.first):
                    _show(arguments, number, payload, selection)
                left = None if left is None else left - len(part)
                if left is not None and left <= 0:
                    break
        if left is not None and left <= 0:
            break
    for reason in selection.missing():
        outcome.fail(reason)
    return outcome.code


def _show(arguments: Namespace, number: int, payload: bytes, selection: Selection) -> None:
    if arguments.format == "raw":
        write(payload)
    elif arguments.format == "text":
        _print(as_text(number, payload, selection))
    else:
        _print(as_json(payload, selection))


def index(arguments: Namespace) -> int:
    """Write an index beside each file."""
    if "-" in arguments.paths:
        raise ValueError("an index is made of a file on disk, not of stdin")
    outcome = Outcome()
    paths = [file for file in _files(arguments.paths, outcome) if isinstance(file, str)]
    if arguments.output is not None and len(paths) != 1:
        raise ValueError(f"--output is for one file, not for {len(paths)}")
    for path in paths:
        with outcome.handling(path):
            made = build_index(path)
            target = arguments.output or index_path(path)
            made.save(target, format=arguments.format)
            _print(f"{target}: {len(made):,} records")
    return outcome.code


def demo(arguments: Namespace) -> int:
    """Run the tour of the library."""
    from .demo import run  # noqa: PLC0415 - no other command needs it

    run(arguments.folder)
    return 0


def _files(paths: list[str], outcome: Outcome) -> list[Named]:
    """The files that ``paths`` name; ``-`` is stdin. A missing file fails later, when it is opened.

    An index file beside its data is left out: mostly the shell has expanded ``folder/*``.
    """
    files: list[Named] = []
    for path in paths:
        with outcome.handling(path):
            if path == "-" and sys.stdin is None:
                raise ValueError("stdin is closed")
            files += resolve(sys.stdin.buffer if path == "-" else path, missing_ok=True)
    return without_indexes(files)


def _name(file: Named) -> str:
    return file if isinstance(file, str) else str(getattr(file, "name", "stdin"))


def _size(file: Named) -> int:
    return os.path.getsize(file) if isinstance(file, str) and os.path.isfile(file) else 0


def _print(text: str) -> None:
    # The bytes of a file name that is no valid text are printed unchanged.
    write(text.encode("utf-8", "surrogateescape") + b"\n")


def _print_json(value: Any) -> None:
    # JSON is always UTF-8. The bytes of a file name that is no valid text become JSON escapes.
    text = json.dumps(value, indent=2, ensure_ascii=False)
    write(text.encode("utf-8", "backslashreplace") + b"\n")
