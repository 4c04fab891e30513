"""The arguments of the commands that inspect files. This module must not know what the commands do."""

from __future__ import annotations

from typing import Any

from ..options import Commands, at_least, printed, reads


def _head(add: Commands) -> None:
    parser = add.command(
        "head",
        "look",
        "print the first records",
        "purerecord head train.tfrecord",
        "purerecord head -n 3 --format table 'train-*.tfrecord'",
    )
    reads(parser)
    parser.add_argument("-n", "--limit", type=at_least(1), default=10, metavar="N", help="(default: 10)")
    printed(parser)


def _tail(add: Commands) -> None:
    parser = add.command(
        "tail",
        "look",
        "print the last records",
        "purerecord tail train.tfrecord",
        "purerecord tail -n 1 --format text train.tfrecord",
    )
    reads(parser)
    parser.add_argument("-n", "--limit", type=at_least(1), default=10, metavar="N", help="(default: 10)")
    printed(parser)


def _count(add: Commands) -> None:
    parser = add.command(
        "count",
        "look",
        "count records, from indexes and headers where that can be",
        "purerecord count 'train-*.tfrecord'",
        "records=$(purerecord count --total 'train-*.tfrecord')",
    )
    reads(parser)
    parser.add_argument("--total", action="store_true", help="print only the number of all records")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _schema(add: Commands) -> None:
    parser = add.command(
        "schema",
        "look",
        "print a schema that fits the records",
        "purerecord schema 'train-*.tfrecord' > schema.json",
        "purerecord schema --format python train.tfrecord",
        "purerecord schema --all --workers 8 --format pbtxt 'train-*.tfrecord' > schema.pbtxt",
    )
    reads(parser)
    parser.add_argument(
        "--format",
        choices=("json", "python", "pbtxt"),
        default="json",
        help="python is a dict to paste, pbtxt is for TFX (default: json)",
    )
    parser.add_argument(
        "--sample",
        type=at_least(1),
        default=1000,
        metavar="N",
        help="records to look at in each file (default: 1000)",
    )
    parser.add_argument("--all", action="store_true", help="look at all records")
    parser.add_argument(
        "--workers", type=at_least(1), metavar="N", help="number of processes with --all (default: 1)"
    )


def _stats(add: Commands) -> None:
    parser = add.command(
        "stats",
        "look",
        "print exact statistics of all features",
        "purerecord stats 'train-*.tfrecord' --workers 8",
        "purerecord stats train.tfrecord --features label,score",
        "purerecord stats train.tfrecord --html stats.html",
    )
    reads(parser)
    parser.add_argument(
        "--features", type=lambda text: text.split(","), metavar="A,B", help="only of these features"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--html", metavar="OUT", help="write a page to this file, or - for stdout")
    parser.add_argument(
        "--most-distinct",
        type=at_least(1),
        metavar="N",
        help="distinct values of a feature that are counted exactly (default: 10000)",
    )
    _counts_bytes(parser)


def _du(add: Commands) -> None:
    parser = add.command(
        "du",
        "look",
        "print the bytes that each feature takes",
        "purerecord du 'train-*.tfrecord'",
    )
    reads(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    _counts_bytes(parser)


def _counts_bytes(parser: Any) -> None:
    """Add the arguments of a command that reads all records of all files."""
    parser.add_argument(
        "--workers",
        type=at_least(1),
        metavar="N",
        help="number of processes that share the files (default: 1)",
    )
    parser.add_argument(
        "--on-error",
        choices=("skip", "raise"),
        default="skip",
        help="raise stops at damage; skip goes on, and the exit code is 3 (default: skip)",
    )


COMMANDS = (_head, _tail, _count, _schema, _stats, _du)
