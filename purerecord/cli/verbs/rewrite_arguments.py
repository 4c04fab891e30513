"""The arguments of the commands that rewrite files. This module must not know what the commands do."""

from __future__ import annotations

from typing import Any

from ..options import FILES, Commands, at_least, compression, size, stores

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


def _writes(parser: Any, *, compresses: bool = True) -> None:
    """Add the arguments of a command that reads files and writes shards."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help=FILES.replace(" or - for stdin", ""))
    parser.add_argument(
        "out",
        metavar="OUT",
        help="file, name@10.tfrecord for 10 shards, name@*.tfrecord for as many as there are, or folder/",
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
    parser.add_argument("--resume", action="store_true", help="go on where the same command was stopped")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be read and written")
    parser.add_argument("--temporary", metavar="DIR", help="folder for temporary files (default: beside OUT)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing if all is well")


COMMANDS = (_reshard, _merge, _compress)
