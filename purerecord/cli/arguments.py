"""The arguments of every command, as ``--help`` shows them. This module must not know what a command does."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .. import __version__
from ..printable import printable
from .exit_status import OutputError

_WRITTEN = ("none", "gzip", "zlib")
_READ = ("auto", *_WRITTEN, "bz2", "xz", "zstd")
_ON_DISK = "file, URL, glob or shard pattern (name@10, name-?????-of-?????)"
_FILES = "file, URL, glob, shard pattern (name@10, name-?????-of-?????) or - for stdin"
_EXAMPLES = """\
examples:
  purerecord info 'train-*.tfrecord'                    what the files hold
  purerecord cat -n 3 --format text train.tfrecord      the first three records
  purerecord validate -q 'train-*.tfrecord'             print nothing if all is well
  purerecord salvage --only-damaged 'train-*.tfrecord' repaired/

exit codes:
  0 fine, 1 could not do it, 2 wrong usage, 3 done but data is damaged or was lost"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments in ``argv``; argparse raises SystemExit after --help and at wrong usage."""
    try:
        return build_parser().parse_args(argv or ["--help"])
    except OSError as error:  # --help could not be printed
        raise OutputError(error) from None


def build_parser() -> argparse.ArgumentParser:
    """The parser for all commands and their options."""
    parser = _Parser(
        prog="purerecord",
        description="Look into, check and repair TFRecord files.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"purerecord {__version__}")
    add = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for define in (_validate, _salvage, _info, _cat, _index, _demo):
        define(add)
    return parser


def _validate(add: Any) -> None:
    command = _command(
        add,
        "validate",
        "check every byte of the files and report all damage",
        "purerecord validate -q 'train-*.tfrecord' && python train.py",
        "purerecord validate --json 'train@20.tfrecord' | jq -r '.damaged_files[]'",
    )
    _reads(command)
    _prints(command, "print nothing if all is well, else only files that are not")
    command.add_argument(
        "--workers", type=_at_least(1), metavar="N", help="number of processes (default: all cores)"
    )
    command.add_argument(
        "--decode", action="store_true", help="also check that each record is a valid Example"
    )
    command.add_argument("--schema", metavar="FILE", help="also check that each record fits this JSON schema")
    command.add_argument(
        "--expect", type=_at_least(0), metavar="N", help="all files together must hold exactly N records"
    )
    command.add_argument(
        "--min-records", type=_at_least(1), metavar="N", help="each file must hold at least N records"
    )


def _salvage(add: Any) -> None:
    command = _command(
        add,
        "salvage",
        "save every sound record to a clean file",
        "purerecord salvage damaged.tfrecord repaired.tfrecord --quarantine bad",
        "purerecord salvage --only-damaged 'train-*.tfrecord' repaired/",
    )
    command.add_argument("sources", nargs="+", metavar="SRC", help=_FILES)
    command.add_argument("target", metavar="DST", help="file to be written, or folder for several files")
    _stores(command)
    command.add_argument("--only-damaged", action="store_true", help="skip files that are sound")
    command.add_argument("--quarantine", metavar="DIR", help="folder that takes the damaged ranges")
    _prints(command, "print nothing if all is well, else only files that are not")
    _compression(command, "compression of SRC (default: detect)")
    command.add_argument(
        "--output-compression",
        type=str.lower,
        choices=_WRITTEN,
        help="compression of DST (default: as SRC; gzip for bz2, xz and zstd)",
    )


def _info(add: Any) -> None:
    command = _command(
        add,
        "info",
        "say what the files hold",
        "purerecord info 'train-*.tfrecord'",
        "purerecord info --schema good.tfrecord > schema.json",
    )
    _reads(command)
    command.add_argument("--json", action="store_true", help="print JSON, an object for each file")
    command.add_argument("--each", action="store_true", help="print the features of each file, not of all")
    command.add_argument(
        "--sample",
        type=_at_least(1),
        default=1000,
        metavar="N",
        help="records to decode per file (default: 1000)",
    )
    command.add_argument(
        "--schema", action="store_true", help="print a schema that fits these records, as JSON"
    )
    _proto(command)


def _cat(add: Any) -> None:
    command = _command(
        add,
        "cat",
        "print records",
        "purerecord cat train.tfrecord | jq .label",
        "purerecord cat --skip 1000 -n 1 --format text train.tfrecord",
    )
    _reads(command)
    command.add_argument(
        "--format", choices=("json", "text", "raw"), default="json", help="(default: json, a line each)"
    )
    command.add_argument("-n", "--limit", type=_at_least(1), metavar="N", help="print at most N records")
    command.add_argument(
        "--skip", type=_at_least(0), default=0, metavar="N", help="do not print the first N records"
    )
    command.add_argument(
        "--features", type=lambda text: text.split(","), metavar="A,B", help="print only these features"
    )
    _proto(command)


def _index(add: Any) -> None:
    command = _command(
        add, "index", "write an index beside each file: PATH.index", "purerecord index 'train-*.tfrecord'"
    )
    command.add_argument("paths", nargs="+", metavar="PATH", help=_ON_DISK)
    _stores(command)
    command.add_argument(
        "--format",
        choices=("purerecord", "text"),
        default="purerecord",
        help="text is that of DALI (default: purerecord)",
    )
    command.add_argument("-o", "--output", metavar="FILE", help="write the index of one file there")


def _demo(add: Any) -> None:
    command = _command(
        add, "demo", "write, read, damage and repair a small dataset", "purerecord demo /tmp/demo"
    )
    command.add_argument("folder", nargs="?", help="where to write it (default: a temporary folder)")


def _command(add: Any, name: str, text: str, *examples: str) -> Any:
    return add.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog="\n  ".join(["examples:" if len(examples) > 1 else "example:", *examples]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _reads(command: Any) -> None:
    """Add the arguments of a command that reads files."""
    command.add_argument("paths", nargs="+", metavar="PATH", help=_FILES)
    _stores(command)
    _compression(command, "compression of the input (default: detect)")


def _stores(command: Any) -> None:
    """Add the argument that opens URLs."""
    command.add_argument(
        "--storage-option",
        action="append",
        default=[],
        type=_option,
        metavar="NAME=VALUE",
        help="option of the store, as fsspec names it: --storage-option anon=true (may be given again)",
    )


def _option(text: str) -> tuple[str, Any]:
    """A name and a value, which is JSON where it can be."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"it must be like NAME=VALUE, not {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _proto(command: Any) -> None:
    """Add the arguments that say which message the records are, if no Examples."""
    command.add_argument(
        "--proto", metavar="FILE", help=".proto file or FileDescriptorSet of the records, if no Examples"
    )
    command.add_argument(
        "--message", metavar="NAME", help="package.Type of the records, if FILE has several messages"
    )


def _compression(command: Any, text: str) -> None:
    # The names that JSON prints are in capitals.
    command.add_argument("--compression", type=str.lower, choices=_READ, default="auto", help=text)


def _prints(command: Any, quiet: str) -> None:
    """Add the arguments of a command that prints a report."""
    command.add_argument("--json", action="store_true", help="print the report as JSON")
    command.add_argument("-q", "--quiet", action="store_true", help=quiet)


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.strip().isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"a whole number from {least} on is needed, not {text!r}")
        return int(text)

    return number
