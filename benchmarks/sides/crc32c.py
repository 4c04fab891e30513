"""The floors: the ``crc32c`` package over the bytes of the cached file, with only the necessary work.

No reader that checks CRCs can validate faster than ``checksum``, or make ``bytes`` objects of large records
faster than ``records``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from crc32c import crc32c

from benchmarks.digest import Plain
from benchmarks.handmade import payloads
from benchmarks.sides import Task, Variant

VERSION = version("crc32c")
_RECORDS_PER_ROUND = 128  # shared by the threads


def checksum(task: Task) -> list[Variant]:
    """One CRC of the whole file, read in chunks into one buffer."""
    path = Path(task.path)

    def run(size: int) -> Iterator[Path]:
        buffer = bytearray(size)
        view = memoryview(buffer)
        crc = 0
        with path.open("rb", buffering=0) as file:
            while got := file.readinto(buffer):
                crc = crc32c(view[:got], crc)
        yield path

    return [lambda: run(1 << 20), lambda: run(8 << 20)]


def records(task: Task) -> list[Variant]:
    """Read every record straight into its ``bytes`` and compute its CRC, with one thread or two.

    The offsets are known beforehand, and the CRCs are not compared with the stored ones.
    """
    sizes = [len(payload) for payload in payloads(Path(task.path))]
    offsets = np.cumsum([12, *(size + 16 for size in sizes[:-1])]).tolist()
    spans = list(zip(sizes, offsets, strict=True))

    def run(threads: int) -> Iterator[bytes]:
        file = os.open(task.path, os.O_RDONLY)
        with ThreadPoolExecutor(threads) as pool:
            for low in range(0, len(spans), _RECORDS_PER_ROUND):
                chosen = spans[low : low + _RECORDS_PER_ROUND]
                step = -(-len(chosen) // threads)
                parts = [chosen[begin : begin + step] for begin in range(0, len(chosen), step)]
                yield from chain.from_iterable(pool.map(partial(_read, file), parts))
        os.close(file)

    return [partial(run, 1), partial(run, 2)]


def _read(file: int, spans: list[tuple[int, int]]) -> list[bytes]:
    records = []
    for size, offset in spans:
        payload = os.pread(file, size, offset)
        crc32c(payload)
        records.append(payload)
    return records


def plain(made: Any) -> Plain:
    """A record as it is; for a file, its number of records."""
    return made if isinstance(made, bytes) else sum(1 for _ in payloads(made))


ACTIONS = {"checksum": checksum, "records": records}
