"""What each command of the shell does. The result is its exit code; ``cli`` says what the codes mean.

Reports are printed as they are; nothing is worked out here that the library does not know. Damage is never
passed over in silence: ``cat`` goes on behind it, but says so, and the exit code is 3.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from .damage import Damage
from .index import build_index, index_path
from .progress import ProgressLine
from .recovery import salvage as salvage_file
from .recovery import walk
from .report import human_size
from .schema import infer_schema, schema_from_json, schema_to_json
from .show import Summary, as_json, as_text
from .storage import Named, Opened, resolve, resolve_paths
from .stream import FrameStream
from .validation import validate as validate_files

DAMAGED = 3
_COMPRESSIONS = {"auto": "auto", "none": "", "gzip": "GZIP", "zlib": "ZLIB"}
# Less than this is checked before other processes have even started.
_WORTH_WORKERS = 1 << 26


def validate(arguments: Namespace) -> int:
    """Check files and print a report."""
    files = _files(arguments.paths)
    total = sum(map(_size, files))
    workers = arguments.workers or (os.cpu_count() or 1 if total > _WORTH_WORKERS else 1)
    schema = None
    if arguments.schema is not None:
        with open(arguments.schema, "rb") as file:
            schema = schema_from_json(file.read())
    with ProgressLine(total) as progress:
        report = validate_files(
            files,
            workers=workers,
            decode=arguments.decode,
            schema=schema,
            compression=_COMPRESSIONS[arguments.compression],
            progress=progress,
        )
    _print(_dumps(report.to_dict()) if arguments.json else report.text(only_damaged=arguments.quiet))
    if any(file.error is not None for file in report.files):
        return 1
    return 0 if report.ok else DAMAGED


def salvage(arguments: Namespace) -> int:
    """Save what is sound and print a report."""
    files = _files([arguments.source])
    folder = len(files) > 1 or os.path.isdir(arguments.target) or arguments.target.endswith(os.sep)
    if folder:
        os.makedirs(arguments.target, exist_ok=True)
    reports = []
    for file in files:
        name = os.path.basename(str(getattr(file, "name", file)))
        with ProgressLine(_size(file)) as progress:
            report = salvage_file(
                file,
                os.path.join(arguments.target, name) if folder else arguments.target,
                quarantine=_below(arguments.quarantine, name) if folder else arguments.quarantine,
                compression=_COMPRESSIONS[arguments.compression],
                options=_COMPRESSIONS.get(arguments.output_compression),
                progress=progress,
            )
        reports.append(report)
        if not arguments.json:
            _print(reports[-1].text())
    if arguments.json:
        _print(_dumps(reports[0].to_dict() if not folder else [report.to_dict() for report in reports]))
    return 0 if all(report.ok for report in reports) else DAMAGED


def info(arguments: Namespace) -> int:
    """Print what files hold."""
    ok = True
    summaries: list[dict[str, Any]] = []
    sample: list[bytes] = []
    for file in _files(arguments.paths):
        summary, damages = Summary(arguments.sample), []
        with closing(Opened(file, _COMPRESSIONS[arguments.compression])) as opened:
            for found in walk(FrameStream(opened)):
                if isinstance(found, Damage):
                    damages.append(found)
                else:
                    sample += found[: max(0, arguments.sample - summary.records)] if arguments.schema else []
                    summary.add(found)
            facts = _facts(opened, damages)
        ok = ok and not damages
        summaries.append({**facts, **summary.to_dict()})
        if not (arguments.json or arguments.schema):
            _print("\n".join([opened.name, *_lines(facts), *summary.lines()]))
    if arguments.schema:
        _print(schema_to_json(infer_schema(sample)).rstrip())
    elif arguments.json:
        _print(_dumps(summaries))
    return 0 if ok else DAMAGED


def _facts(opened: Opened, damages: list[Damage]) -> dict[str, Any]:
    return {
        "path": opened.name,
        "size": opened.position,
        "compression": opened.compression or "",
        "blocked": opened.blocked,
        "damages": len(damages),
        "damaged_bytes": sum(damage.size for damage in damages),
    }


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    yield f"  size         {human_size(facts['size'])}"
    yield f"  compression  {facts['compression'] or 'none'}{', in blocks' if facts['blocked'] else ''}"
    if facts["damages"]:
        yield f"  damage       {human_size(facts['damaged_bytes'])}; purerecord validate says more"


def cat(arguments: Namespace) -> int:
    """Print records."""
    left = arguments.limit
    ok = True
    for file in _files(arguments.paths):
        with closing(Opened(file, _COMPRESSIONS[arguments.compression])) as opened:
            for found in walk(FrameStream(opened)):
                if isinstance(found, Damage):
                    ok = False
                    print(f"purerecord: {opened.name}: {found}", file=sys.stderr)
                    continue
                for number, payload in enumerate(found[:left], found.first):
                    _show(arguments, number, payload)
                left = None if left is None else left - len(found)
                if left is not None and left <= 0:
                    return 0 if ok else DAMAGED
    return 0 if ok else DAMAGED


def _show(arguments: Namespace, number: int, payload: bytes) -> None:
    if arguments.format == "raw":
        sys.stdout.buffer.write(payload)
    elif arguments.format == "text":
        _print(as_text(number, payload, arguments.features))
    else:
        _print(as_json(payload, arguments.features))


def index(arguments: Namespace) -> int:
    """Write an index beside each file."""
    if "-" in arguments.paths:
        raise ValueError("an index is made of a file on disk, not of stdin")
    paths = resolve_paths(arguments.paths)
    if arguments.output is not None and len(paths) != 1:
        raise ValueError(f"--output is for one file, not for {len(paths)}")
    for path in paths:
        made = build_index(path)
        target = arguments.output or index_path(path)
        made.save(target, format=arguments.format)
        _print(f"{target}: {len(made):,} records")
    return 0


def demo(arguments: Namespace) -> int:
    """Show what the library does."""
    from .demo import run  # noqa: PLC0415 - needed by nothing else

    run(arguments.folder)
    return 0


def explain(error: Exception) -> str:
    """What to tell a user of an error."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error) or type(error).__name__


def _files(paths: list[str]) -> list[Named]:
    """The files that are named, ``-`` being stdin."""
    return [file for path in paths for file in resolve(sys.stdin.buffer if path == "-" else path)]


def _size(file: Named) -> int:
    return os.path.getsize(file) if isinstance(file, str) and os.path.isfile(file) else 0


def _below(folder: str | None, name: str) -> str | None:
    return None if folder is None else os.path.join(folder, name)


def _dumps(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _print(text: str) -> None:
    # JSON is UTF-8 wherever it is; and a name that is no valid text is printed as it is.
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape") + b"\n")
