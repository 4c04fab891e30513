"""What the options of several commands have in common. This module must not know the commands."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from ..storage.sizes import size_in_bytes

WRITTEN = ("none", "gzip", "zlib")
READ = ("auto", *WRITTEN, "bz2", "xz", "zstd")
# What the library calls them.
COMPRESSIONS = {"auto": "auto", "none": "", **{name: name.upper() for name in READ[2:]}}
ON_DISK = "file, URL, glob or shard pattern (name@10, name-?????-of-?????)"
FILES = "file, URL, glob, shard pattern (name@10, name-?????-of-?????) or - for stdin"
# The groups of commands, in the order of ``--help``.
GROUPS = ("look", "check and repair", "rewrite", "convert", "other")


class Commands:
    """The commands of a parser, in the groups under which its help lists them.

    ``module`` is the one in this folder that runs the commands that are added next.
    """

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.module = "commands"
        self._groups: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
        self._add = parser.add_subparsers(
            prog=parser.prog, metavar="COMMAND", dest="command", required=True, help=argparse.SUPPRESS
        )

    def command(self, name: str, group: str, text: str, *examples: str) -> argparse.ArgumentParser:
        """Add the command ``name``, which does what ``text`` says; its parser."""
        self._groups[group].append((name, text))
        parser: argparse.ArgumentParser = self._add.add_parser(
            name,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog="\n  ".join(["examples:" if len(examples) > 1 else "example:", *examples]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.set_defaults(module=self.module, group=group)
        return parser

    def listing(self) -> str:
        """The commands in their groups, a line each, for the help."""
        listed = {group: found for group, found in self._groups.items() if found}
        width = max(len(name) for found in listed.values() for name, _ in found) + 2
        return "\n\n".join(
            "\n".join([f"{group}:", *(f"  {name:{width}}{text}" for name, text in found)])
            for group, found in listed.items()
        )


def reads(parser: Any) -> None:
    """Add the arguments of a command that reads files."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help=FILES)
    stores(parser)
    compression(parser, "compression of the input (default: detect)")


def stores(parser: Any) -> None:
    """Add the argument that opens URLs."""
    parser.add_argument(
        "--storage-option",
        action="append",
        default=[],
        type=option,
        metavar="NAME=VALUE",
        help="option of the store, as fsspec names it: --storage-option anon=true (may be given again)",
    )


def engine(parser: Any) -> None:
    """Add the argument that says where the work is done."""
    parser.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="ray: tasks on the cluster in RAY_ADDRESS, --workers at the same time (default: local)",
    )


def option(text: str) -> tuple[str, Any]:
    """A name and a value, which is JSON where it can be."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"it must be like NAME=VALUE, not {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def printed(parser: Any) -> None:
    """Add the arguments of a command that prints records."""
    parser.add_argument(
        "--format",
        choices=("json", "csv", "table", "text", "raw"),
        default="json",
        help="json prints a line for each record, raw its bytes (default: json)",
    )
    parser.add_argument(
        "--features", type=lambda text: text.split(","), metavar="A,B", help="print only these features"
    )
    proto(parser)


def proto(parser: Any) -> None:
    """Add the arguments that say which message the records are, if no Examples."""
    parser.add_argument(
        "--proto", metavar="FILE", help=".proto file or FileDescriptorSet of the records, if no Examples"
    )
    parser.add_argument(
        "--message", metavar="NAME", help="package.Type of the records, if FILE has several messages"
    )


def compression(parser: Any, text: str) -> None:
    """Add the argument that names the compression of the input."""
    # The names that JSON prints are in capitals.
    parser.add_argument("--compression", type=str.lower, choices=READ, default="auto", help=text)


def prints(parser: Any, quiet: str) -> None:
    """Add the arguments of a command that prints a report."""
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help=quiet)


def at_least(least: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number from ``least`` on."""

    def number(text: str) -> int:
        if not text.strip().isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"a whole number from {least} on is needed, not {text!r}")
        return int(text)

    return number


def size(text: str) -> int:
    """The number of bytes that ``text`` names: 1000, 150MB (in thousands), 64MiB (in steps of 1024)."""
    try:
        return size_in_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
