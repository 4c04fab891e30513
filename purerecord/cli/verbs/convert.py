"""``purerecord convert``: the report on stdout, or on stderr if the result goes to stdout.

This module must not know the formats.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentError, Namespace
from contextlib import suppress
from typing import Any

from ...printable import printable_json
from ...storage.paths import resolve
from ...storage.url import is_url, stored
from ...tools.converters import formats
from ...tools.converters.convert import convert as convert_files
from ...tools.converters.outputs import size_of
from ...tools.converters.report import ConvertReport, type_lines
from ..exit_status import DAMAGED, say, write
from ..options import COMPRESSIONS
from ..progress import ProgressLine


def convert(arguments: Namespace) -> int:
    """Convert files and print a report."""
    to_stdout = arguments.target == "-"
    if to_stdout and arguments.to_format in (None, formats.TFRECORD):
        raise ArgumentError(None, "OUT is -, so --to must say csv or jsonl")
    _check_streams(arguments)
    options = {
        option.name: value
        for option in formats.options()
        if (value := getattr(arguments, option.name)) is not None
    }
    sources = [_opened_by(path, arguments) for path in arguments.sources]
    with ProgressLine(_total(sources)) as progress:
        report = convert_files(
            sources,
            sys.stdout.buffer if to_stdout else _opened_by(arguments.target, arguments),
            from_format=arguments.from_format,
            to_format=arguments.to_format,
            style=getattr(arguments, "style", None),
            schema=arguments.schema,
            floats=arguments.floats,
            options=COMPRESSIONS.get(arguments.output_compression),
            shards=arguments.shards,
            max_bytes=arguments.max_bytes,
            max_records=arguments.max_records,
            compression=COMPRESSIONS[arguments.compression],
            on_error=arguments.on_error,
            dry_run=arguments.dry_run,
            progress=progress,
            types_known=lambda report: _show_types(report, arguments),
            **options,
        )
    _print(report, arguments, to_stdout=to_stdout)
    return DAMAGED if report.lost else 0


def _check_streams(arguments: Namespace) -> None:
    """Refuse - where no format can be streamed, or nothing tells the format."""
    if "-" in arguments.sources:
        if arguments.from_format is None:
            raise ArgumentError(None, "SOURCE is -, so --from must say which format it is")
        if sys.stdin is None:
            raise ValueError("stdin is closed")
    for name in (
        "-" in arguments.sources and arguments.from_format,
        arguments.target == "-" and arguments.to_format,
    ):
        if name and name != formats.TFRECORD and not formats.by_name(name).streams:
            raise ArgumentError(None, f"{name} is not for a stream; name a file")


def _opened_by(path: str, arguments: Namespace) -> Any:
    """``path`` with the options of stores, if it is a URL; - is stdin."""
    if path == "-":
        return sys.stdin.buffer
    return stored(path, dict(arguments.storage_option)) if is_url(path) else path


def _total(sources: list[Any]) -> int:
    """The bytes of all sources, as far as they are known; they are read twice."""
    with suppress(OSError, ValueError, ImportError):  # it is reported when they are read
        return sum(map(size_of, resolve(sources)))
    return 0


def _show_types(report: ConvertReport, arguments: Namespace) -> None:
    """The types, on stderr, before the work begins."""
    if arguments.quiet or arguments.json or arguments.dry_run:
        return
    for line in ["the features:", *type_lines(report.types)] if report.types else []:
        say(line)


def _print(report: ConvertReport, arguments: Namespace, *, to_stdout: bool) -> None:
    if arguments.quiet and not report.lost:
        return
    if arguments.json:
        text = printable_json(json.dumps(report.as_json(), indent=2, ensure_ascii=False))
    else:
        text = report.text(types=arguments.dry_run)
    if to_stdout:
        for line in text.split("\n"):
            say(line)
    else:
        write(text.encode() + b"\n")
