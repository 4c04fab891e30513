"""Reading from a store that is far away: ``python -m benchmarks.remote``.

A server on loopback, in a process of its own, answers after 30 ms and gives each connection a limited rate.
The table says which part of what the server allows is reached, with the read-ahead and with one range at a
time.
Needs ``pip install 'purerecord[remote]' aiohttp``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from multiprocessing.connection import Connection

import purerecord as pr
from purerecord.storage import remote_file
from tests.support.remote_servers import Proxy, files_server, running

_DELAY = 0.03
_RATE = 4 << 20
_RECORD = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description="Read from a store with latency and a rate per connection.")
    parser.add_argument("--size", type=int, default=400, help="megabytes (default: 400)")
    size = _SIZE[0] = parser.parse_args().size << 20
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs, size), daemon=True)
    server.start()
    url = f"http://{ours.recv()}/data.tfrecord"
    limit = remote_file.AHEAD * _RATE
    print(f"{size >> 20} MB, {_DELAY * 1000:.0f} ms, {_RATE >> 20} MB/s a connection")
    ahead = _rate(url)
    print(
        f"read ahead, {remote_file.AHEAD} ranges: {ahead / 1e6:6.1f} MB/s, {ahead / limit:.0%} of the limit"
    )
    remote_file.AHEAD = 1
    single = _rate(url, part=0.1)
    print(
        f"one range at a time:   {single / 1e6:6.1f} MB/s; the read-ahead is {ahead / single:.1f} x as fast"
    )
    server.terminate()


def _rate(url: str, part: float = 1) -> float:
    """Bytes per second of reading the first ``part`` of the file."""
    begin, read = time.monotonic(), 0
    reader = pr.read_records(url)
    for record in reader:
        read += len(record) + 16
        if read >= part * _SIZE[0]:
            break
    reader.close()
    return read / (time.monotonic() - begin)


_SIZE = [0]


def _serve(connection: Connection, size: int) -> None:
    """Serve a file of ``size`` bytes until the process ends."""
    with pr.TFRecordWriter(path := f"/tmp/purerecord-remote-{os.getpid()}") as writer:
        writer.write_many([os.urandom(_RECORD)] * (size // _RECORD))
    with open(path, "rb") as file:
        data = file.read()
    os.unlink(path)
    with files_server({"/data.tfrecord": data}) as files:
        attributes = {
            "upstream": files.address,
            "faults": iter(()),
            "delay": _DELAY,
            "rate": _RATE,
            "stall": 0,
        }
        with running(Proxy, **attributes) as proxy:
            connection.send(proxy.address)
            while True:
                time.sleep(1)


if __name__ == "__main__":
    main()
