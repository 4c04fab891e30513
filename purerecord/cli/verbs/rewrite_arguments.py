"""The arguments of the commands that rewrite files. This module must not know what the commands do."""

from __future__ import annotations

import argparse
from typing import Any

from ..options import FILES, ON_DISK, Commands, at_least, compression, engine, prints, size, stores

_TO = ("gzip-blocks", "gzip", "zlib", "none")


def _reshard(add: Commands) -> None:
    parser = add.command(
        "reshard",
        "rewrite",
        "write the same records to another number of shards",
        "purerecord reshard 'train-*.tfrecord' new/train@100.tfrecord --workers 8",
        "purerecord reshard big.tfrecord new/train@*.tfrecord --max-bytes 150MB",
    )
    _writes(parser)


def _merge(add: Commands) -> None:
    parser = add.command(
        "merge",
        "rewrite",
        "write the records of several files to one",
        "purerecord merge 'train-*.tfrecord' train.tfrecord",
    )
    _writes(parser)


def _compress(add: Commands) -> None:
    parser = add.command(
        "compress",
        "rewrite",
        "compress files, or undo that; records keep their bytes",
        "purerecord compress 'train-*.tfrecord' compressed/ --to gzip-blocks",
        "purerecord compress 'compressed/*' plain/ --to none",
    )
    parser.add_argument(
        "--to",
        choices=_TO,
        default="gzip-blocks",
        help="gzip-blocks is GZIP in which RecordFile can seek (default: gzip-blocks)",
    )
    _writes(parser, compresses=False)


def _select(add: Commands) -> None:
    parser = add.command(
        "select",
        "rewrite",
        "write some of the records, with some of their features",
        "purerecord select 'train-*.tfrecord' cats@*.tfrecord --where 'label == 7 and score > 0.5'",
        "purerecord select train.tfrecord small.tfrecord --drop image/encoded --rename label=class",
    )
    parser.add_argument(
        "--where", metavar="EXPRESSION", help="only records for which it holds, like 'label in (3, 7)'"
    )
    parser.add_argument("--features", type=_names, metavar="A,B", help="keep only these features")
    parser.add_argument("--drop", type=_names, metavar="A,B", help="leave these features out")
    parser.add_argument(
        "--rename", type=_renamed, action="append", metavar="OLD=NEW", help="(may be given again)"
    )
    _writes(parser)


def _sample(add: Commands) -> None:
    parser = add.command(
        "sample",
        "rewrite",
        "write a random part of the records, in their order",
        "purerecord sample 'train-*.tfrecord' small.tfrecord -n 1000",
        "purerecord sample 'train-*.tfrecord' small/ --fraction 0.01",
    )
    how_many = parser.add_mutually_exclusive_group(required=True)
    how_many.add_argument("-n", "--count", type=at_least(1), metavar="N", help="exactly N records")
    how_many.add_argument("--fraction", type=float, metavar="F", help="about this part, like 0.01")
    _seed(parser)
    _writes(parser)


def _split(add: Commands) -> None:
    parser = add.command(
        "split",
        "rewrite",
        "divide the records at random among train, val ...",
        "purerecord split 'all-*.tfrecord' 'new/{split}@10.tfrecord' --split train=0.8,val=0.2",
        "purerecord split all.tfrecord '{split}.tfrecord' --split train=0.9,test=0.1 --stratify label",
    )
    parser.add_argument(
        "--split", type=_shares, required=True, metavar="A=SHARE,B=SHARE", help="names, and shares of 1"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--by", metavar="FEATURE", help="keep records with the same value together (default: equal records)"
    )
    how.add_argument("--stratify", metavar="FEATURE", help="exact shares for each value of this feature")
    _seed(parser)
    _writes(parser)


def _shuffle(add: Commands) -> None:
    parser = add.command(
        "shuffle",
        "rewrite",
        "write all records in a random order, however many there are",
        "purerecord shuffle 'train-*.tfrecord' mixed/train@100.tfrecord --memory 4GB --workers 8",
    )
    _seed(parser)
    _memory(parser)
    _writes(parser)


def _sort(add: Commands) -> None:
    parser = add.command(
        "sort",
        "rewrite",
        "write all records in the order of a feature, however many there are",
        "purerecord sort 'events-*.tfrecord' sorted/events@10.tfrecord --by timestamp",
        "purerecord sort users.tfrecord best.tfrecord --by score:desc",
    )
    parser.add_argument(
        "--by",
        required=True,
        metavar="FEATURE[:desc]",
        help="numbers or strings; records without it come last",
    )
    _memory(parser)
    _writes(parser)


def _dedup(add: Commands) -> None:
    parser = add.command(
        "dedup",
        "rewrite",
        "write the records without those that are there already",
        "purerecord dedup 'crawl-*.tfrecord' unique/crawl@100.tfrecord",
        "purerecord dedup users.tfrecord unique.tfrecord --by name,country",
    )
    parser.add_argument(
        "--by",
        type=_names,
        metavar="A,B",
        help="compare only these features (default: all bytes of a record)",
    )
    _memory(parser)
    _writes(parser)


def _diff(add: Commands) -> None:
    parser = add.command(
        "diff",
        "rewrite",
        "say in which records two datasets differ; the exit code is 3 if they do",
        "purerecord diff 'old/train-*' 'new/train-*'",
    )
    parser.add_argument("left", metavar="LEFT", help=ON_DISK)
    parser.add_argument("right", metavar="RIGHT", help=ON_DISK)
    stores(parser)
    compression(parser, "compression of both (default: detect)")
    prints(parser, "print nothing if there is no difference")


def _memory(parser: Any) -> None:
    parser.add_argument(
        "--memory",
        type=size,
        default=10**9,
        metavar="SIZE",
        help="what all processes may take together (default: 1GB)",
    )


def _seed(parser: Any) -> None:
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random choice (default: 0)")


def _names(text: str) -> list[str]:
    return text.split(",")


def _renamed(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"it must be like OLD=NEW, not {text!r}")
    return old, new


def _shares(text: str) -> dict[str, float]:
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = part.partition("=")
        if name in shares:
            raise argparse.ArgumentTypeError(f"it names {name!r} twice")
        try:
            shares[name] = float(share)
        except ValueError:
            raise argparse.ArgumentTypeError(f"it must be like train=0.8,val=0.2, not {text!r}") from None
    return shares


def _writes(parser: Any, *, compresses: bool = True) -> None:
    """Add the arguments of a command that reads files and writes shards."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help=FILES)
    parser.add_argument(
        "out",
        metavar="OUT",
        help="file, name@10.tfrecord for 10 shards, name@*.tfrecord for as many as there are, folder/, "
        "or - for stdout",
    )
    stores(parser)
    compression(parser, "compression of PATH (default: detect)")
    parser.add_argument("--shards", type=at_least(1), metavar="N", help="number of shards")
    parser.add_argument("--max-bytes", type=size, metavar="SIZE", help="size of a shard at most, like 150MB")
    parser.add_argument("--max-records", type=at_least(1), metavar="N", help="records of a shard at most")
    if compresses:
        parser.add_argument(
            "--output-compression", choices=_TO, help="compression of OUT (default: as PATH; gzip for others)"
        )
    parser.add_argument("--manifest", action="store_true", help="write a manifest beside the shards")
    parser.add_argument(
        "--on-error",
        choices=("raise", "skip"),
        default="raise",
        help="skip goes on after damage, and the exit code is 3 (default: raise)",
    )
    parser.add_argument("--workers", type=at_least(1), metavar="N", help="number of processes (default: 1)")
    engine(parser)
    parser.add_argument("--resume", action="store_true", help="go on where the same command was stopped")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be read and written")
    parser.add_argument("--temporary", metavar="DIR", help="folder for temporary files (default: beside OUT)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing if all is well")


COMMANDS = (_reshard, _merge, _compress, _select, _sample, _split, _shuffle, _sort, _dedup, _diff)
