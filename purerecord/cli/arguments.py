"""The parser of the command line, and the arguments of the first commands, as ``--help`` shows them.

The other commands come in families: ``verbs/NAME_arguments`` defines what ``verbs/NAME`` does. This module
must not know what a command does.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from .. import __version__
from ..printable import printable
from .exit_status import OutputError
from .options import (
    FILES,
    ON_DISK,
    WRITTEN,
    Commands,
    at_least,
    compression,
    engine,
    printed,
    prints,
    proto,
    reads,
    stores,
)
from .verbs import convert_arguments, inspect_arguments, rewrite_arguments, view_arguments

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
        self.exit(2, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


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
        usage="purerecord [-h] [--version] COMMAND ...",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"purerecord {__version__}")
    add = Commands(parser)
    # A command is imported from the module that its family names, when it runs.
    families = {
        "commands": (_info, _cat, _validate, _salvage, _index, _demo, _completion),
        "verbs.inspect": inspect_arguments.COMMANDS,
        "verbs.convert": convert_arguments.COMMANDS,
        "verbs.rewrite": rewrite_arguments.COMMANDS,
        "verbs.view": view_arguments.COMMANDS,
    }
    for module, definitions in families.items():
        add.module = module
        for define in definitions:
            define(add)
    parser.description = f"Look into, check, repair, rewrite and convert TFRecord files.\n\n{add.listing()}"
    return parser


def _validate(add: Commands) -> None:
    parser = add.command(
        "validate",
        "check and repair",
        "check every byte of the files and report all damage",
        "purerecord validate -q 'train-*.tfrecord' && python train.py",
        "purerecord validate --json 'train@20.tfrecord' | jq -r '.damaged_files[]'",
        "purerecord validate 'train-*.tfrecord' --manifest train.tfrecord.manifest.json",
    )
    reads(parser)
    prints(parser, "print nothing if all is well, else only files that are not")
    parser.add_argument(
        "--workers", type=at_least(1), metavar="N", help="number of processes (default: all cores)"
    )
    engine(parser)
    parser.add_argument(
        "--decode", action="store_true", help="also check that each record is a valid Example"
    )
    parser.add_argument(
        "--schema", metavar="FILE", help="also check that each record fits this schema: JSON or schema.pbtxt"
    )
    parser.add_argument(
        "--expect", type=at_least(0), metavar="N", help="all files together must hold exactly N records"
    )
    parser.add_argument(
        "--min-records", type=at_least(1), metavar="N", help="each file must hold at least N records"
    )
    parser.add_argument(
        "--manifest",
        metavar="FILE",
        help="the files must be as this manifest says; or dataset_info.json of tensorflow-datasets",
    )


def _salvage(add: Commands) -> None:
    parser = add.command(
        "salvage",
        "check and repair",
        "save every sound record to a clean file",
        "purerecord salvage damaged.tfrecord repaired.tfrecord --quarantine bad",
        "purerecord salvage --only-damaged 'train-*.tfrecord' repaired/",
    )
    parser.add_argument("sources", nargs="+", metavar="SRC", help=FILES)
    parser.add_argument("target", metavar="DST", help="file to be written, or folder for several files")
    stores(parser)
    parser.add_argument("--only-damaged", action="store_true", help="skip files that are sound")
    parser.add_argument("--quarantine", metavar="DIR", help="folder that takes the damaged ranges")
    parser.add_argument(
        "--workers", type=at_least(1), metavar="N", help="number of processes, each for a file (default: 1)"
    )
    engine(parser)
    prints(parser, "print nothing if all is well, else only files that are not")
    compression(parser, "compression of SRC (default: detect)")
    parser.add_argument(
        "--output-compression",
        type=str.lower,
        choices=WRITTEN,
        help="compression of DST (default: as SRC; gzip for bz2, xz and zstd)",
    )


def _info(add: Commands) -> None:
    parser = add.command(
        "info",
        "look",
        "say what the files hold",
        "purerecord info 'train-*.tfrecord'",
        "purerecord info --schema good.tfrecord > schema.json",
    )
    reads(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, an object for each file")
    parser.add_argument("--each", action="store_true", help="print the features of each file, not of all")
    parser.add_argument(
        "--sample",
        type=at_least(1),
        default=1000,
        metavar="N",
        help="records to decode per file (default: 1000)",
    )
    parser.add_argument(
        "--schema", action="store_true", help="print a schema that fits these records, as JSON"
    )
    proto(parser)


def _cat(add: Commands) -> None:
    parser = add.command(
        "cat",
        "look",
        "print records",
        "purerecord cat train.tfrecord | jq .label",
        "purerecord cat --format csv --features id,label train.tfrecord > labels.csv",
        "purerecord cat --skip 1000 -n 1 --format text train.tfrecord",
    )
    reads(parser)
    parser.add_argument("-n", "--limit", type=at_least(1), metavar="N", help="print at most N records")
    parser.add_argument(
        "--skip", type=at_least(0), default=0, metavar="N", help="do not print the first N records"
    )
    printed(parser)


def _index(add: Commands) -> None:
    parser = add.command(
        "index",
        "check and repair",
        "write an index beside each file: PATH.index",
        "purerecord index 'train-*.tfrecord'",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help=ON_DISK)
    stores(parser)
    parser.add_argument(
        "--format",
        choices=("purerecord", "text"),
        default="purerecord",
        help="text is that of DALI (default: purerecord)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the index of one file there")


def _completion(add: Commands) -> None:
    parser = add.command(
        "completion",
        "other",
        "print a script that completes commands, options and files in a shell",
        "source <(purerecord completion bash)    # in ~/.bashrc",
        "source <(purerecord completion zsh)     # in ~/.zshrc, after compinit",
        "purerecord completion fish > ~/.config/fish/completions/purerecord.fish",
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell that is to run it")


def _demo(add: Commands) -> None:
    parser = add.command(
        "demo", "other", "write, read, damage and repair a small dataset", "purerecord demo /tmp/demo"
    )
    parser.add_argument("folder", nargs="?", help="where to write it (default: a temporary folder)")
