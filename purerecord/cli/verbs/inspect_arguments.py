"""The arguments of the commands that inspect files. This module must not know what the commands do."""

from __future__ import annotations

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


COMMANDS = (_head, _tail, _count)
