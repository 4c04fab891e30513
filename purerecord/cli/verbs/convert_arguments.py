"""The arguments of ``purerecord convert``; the options of the formats come from their table.

This module must not know what the command does.
"""

from __future__ import annotations

import argparse
from typing import Any

from ...tools.converters.formats import FORMATS, TFRECORD, Option, options, styles
from ..options import FILES, WRITTEN, Commands, at_least, compression, size, stores


def convert(add: Commands) -> None:
    """Define ``convert``."""
    parser = add.command(
        "convert",
        "convert",
        "convert files of other formats to TFRecords, and back",
        "purerecord convert table.parquet train.tfrecord",
        "purerecord convert --dry-run 'part-*.csv' train@10.tfrecord",
        "purerecord convert train@10.tfrecord table.parquet",
        "purerecord convert photos/ train@10.tfrecord --style imagenet",
        "purerecord convert VOC2012 voc/train.tfrecord --split train",
    )
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help=f"folder, or {FILES}")
    parser.add_argument("target", metavar="OUT", help="file or shard pattern to write, or - for stdout")
    names = [TFRECORD, *(known.name for known in FORMATS)]
    parser.add_argument(
        "--from",
        dest="from_format",
        choices=names,
        metavar="FORMAT",
        help="format of SOURCE, if its name does not tell",
    )
    parser.add_argument(
        "--to",
        dest="to_format",
        choices=names,
        metavar="FORMAT",
        help="format of OUT, if its name does not tell",
    )
    if known := styles():
        parser.add_argument("--style", choices=known, help="convention for the names of features")
    parser.add_argument(
        "--schema",
        metavar="FILE",
        help="types of the features: JSON or schema.pbtxt, as purerecord schema prints",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print types and what would be written, write nothing"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only what was left out")
    stores(parser)
    _of_tfrecords(parser)
    _of_formats(parser)


COMMANDS = (convert,)


def _of_tfrecords(parser: argparse.ArgumentParser) -> None:
    written = parser.add_argument_group("TFRecords that are written")
    written.add_argument("--shards", type=at_least(1), metavar="N", help="write N shards, as OUT@N does")
    written.add_argument(
        "--max-bytes", type=size, metavar="SIZE", help="begin a new shard at this size, like 150MB"
    )
    written.add_argument("--max-records", type=at_least(1), metavar="N", help="records in a shard at most")
    written.add_argument(
        "--output-compression",
        type=str.lower,
        choices=WRITTEN,
        help="their compression (default: gzip if OUT ends in .gz, else none)",
    )
    written.add_argument(
        "--floats",
        choices=("round", "exact"),
        default="round",
        help="exact refuses doubles that float32 would change (default: round)",
    )
    read = parser.add_argument_group("TFRecords that are read")
    compression(read, "their compression (default: detect)")
    read.add_argument(
        "--on-error",
        choices=("raise", "skip"),
        default="raise",
        help="skip leaves out damaged ranges and counts them (default: raise)",
    )


def _of_formats(parser: argparse.ArgumentParser) -> None:
    """The options of formats, each under the formats that take it."""
    listing = "\n".join(f"  {known.name:<14}{known.text}{_direction(known)}" for known in FORMATS)
    parser.epilog = f"formats:\n{listing}\n\n{parser.epilog}"
    groups: dict[str, Any] = {}
    for option, names in options().items():
        title = f"{', '.join(names)}" if len(names) < len(FORMATS) else "all formats"
        if title not in groups:
            groups[title] = parser.add_argument_group(title)
        _add(groups[title], option)


def _direction(known: Any) -> str:
    if known.reads is None:
        return " (only written)"
    return " (only read)" if known.writes is None else ""


def _add(group: Any, option: Option) -> None:
    flag = f"--{option.name.replace('_', '-')}"
    if option.kind == "flag":
        group.add_argument(flag, dest=option.name, action="store_true", default=None, help=option.help)
        return
    types: dict[str, Any] = {"names": _names, "pairs": _pairs, "number": at_least(1), "text": str}
    group.add_argument(
        flag,
        dest=option.name,
        type=types[option.kind],
        choices=option.choices or None,
        metavar=None if option.choices else option.metavar or option.kind.upper(),
        help=option.help,
    )


def _names(text: str) -> list[str]:
    return text.split(",")


def _pairs(text: str) -> dict[str, str]:
    pairs = [part.rpartition("=") for part in text.split(",")]
    if not all(name and value for name, _, value in pairs):
        raise argparse.ArgumentTypeError(f"it must be like A=B,C=D, not {text!r}")
    return {name: value for name, _, value in pairs}
