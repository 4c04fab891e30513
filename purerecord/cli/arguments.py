"""The arguments of every command, as ``--help`` shows them. This module must not know what a command does."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from .. import __version__
from .exit_status import OutputError

_WRITTEN = ("none", "gzip", "zlib")
_READ = ("auto", *_WRITTEN, "bz2", "xz", "zstd")
_FILES = "file, glob, shard pattern (name@10, name-?????-of-?????) or - for stdin"


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments in ``argv``; argparse raises SystemExit after --help and at wrong usage."""
    try:
        return build_parser().parse_args(argv)
    except OSError as error:  # --help could not be printed
        raise OutputError(error) from None


def build_parser() -> argparse.ArgumentParser:
    """The parser for all commands and their options."""
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
        "--compression", choices=_READ, default="auto", help="of SRC; found out unless given"
    )
    command.add_argument(
        "--output-compression",
        choices=_WRITTEN,
        help="of DST; that of SRC unless given; gzip for bz2, xz and zstd",
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
    """Add the arguments of a command that reads files."""
    command.add_argument("paths", nargs="+", metavar="PATH", help=_FILES)
    command.add_argument(
        "--compression", choices=_READ, default="auto", help="of the files; found out unless given"
    )


def _positive(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on is needed, not {text!r}")
    return int(text)
