"""Reading from a store that is far away: ``python -m benchmarks.remote``.

A server on loopback, in a process of its own, answers after 30 ms and gives each connection a limited rate.
The table says which part of what the server allows is reached, with the read-ahead and with one range at a
time.
Needs ``pip install 'purerecord[remote]' aiohttp``.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import purerecord as pr
from purerecord.storage import remote_file

from .store_server import serving

_LATENCY = 0.03
_RATE = 4 << 20
_RECORD = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description="Read from a store with latency and a rate per connection.")
    parser.add_argument("--size", type=int, default=1600, help="megabytes (default: 1600)")
    size = parser.parse_args().size << 20
    with tempfile.TemporaryDirectory() as folder:
        with pr.TFRecordWriter(Path(folder, "data.tfrecord")) as writer:
            writer.write_many([os.urandom(_RECORD)] * (size // _RECORD))
        with serving(Path(folder), latency=_LATENCY, rate=_RATE) as address:
            _measure(f"{address}/data.tfrecord", size)


def _measure(url: str, size: int) -> None:
    limit = remote_file.AHEAD * _RATE
    print(f"{size >> 20} MB, {_LATENCY * 1000:.0f} ms, {_RATE >> 20} MB/s a connection")
    ahead = _rate(url, size)
    print(
        f"read ahead, {remote_file.AHEAD} ranges: {ahead / 1e6:6.1f} MB/s, {ahead / limit:.0%} of the limit"
    )
    remote_file.AHEAD = 1
    single = _rate(url, size // 10)
    print(
        f"one range at a time:   {single / 1e6:6.1f} MB/s; the read-ahead is {ahead / single:.1f} x as fast"
    )


def _rate(url: str, size: int) -> float:
    """Bytes per second of reading the first ``size`` bytes of the file."""
    begin, read = time.monotonic(), 0
    reader = pr.read_records(url)
    for record in reader:
        read += len(record) + 16
        if read >= size - _RECORD:
            break
    reader.close()
    return read / (time.monotonic() - begin)


if __name__ == "__main__":
    main()
