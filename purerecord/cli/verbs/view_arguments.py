"""The arguments of ``purerecord view``. This module must not know what the command does."""

from __future__ import annotations

import argparse

from ..options import FILES, Commands, at_least, compression, stores


def _view(add: Commands) -> None:
    parser = add.command(
        "view",
        "look",
        "show files in the browser: records, pictures, sounds, statistics, damage",
        "purerecord view 'train-*.tfrecord'",
        "purerecord view --html report.html train.tfrecord",
        "purerecord view --no-browser --port 8000 train.tfrecord   # over ssh -L 8000:127.0.0.1:8000",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help=FILES)
    stores(parser)
    compression(parser, "compression of PATH (default: detect)")
    parser.add_argument(
        "--label-map", metavar="FILE", help="names of classes: a label_map.pbtxt, or a name in each line"
    )
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="port (default: a free one)")
    parser.add_argument(
        "--html", metavar="OUT", help="save a report as this HTML file, or - for stdout, and serve nothing"
    )
    parser.add_argument(
        "--records", type=at_least(0), default=100, metavar="N", help="records in the report (default: 100)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the URL, and open no browser")


def _port(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"a port from 0 to 65535 is needed, not {text!r}")
    return int(text)


COMMANDS = (_view,)
