"""The floors: the ``crc32c`` package over the bytes of the cached file, and nothing that can be left out.

Who checks cannot validate faster than ``checksum``, nor make ``bytes`` of large records faster than
``records`` does.
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
_BATCH = 128  # records


def checksum(task: Task) -> list[Variant]:
    """One CRC of the whole file, read into one buffer again and again."""
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
    """Every record straight from the file into its ``bytes``, and its CRC, with one thread or with two; where
    they are is known beforehand, and what the CRCs should be is not asked."""
    sizes = [len(payload) for payload in payloads(Path(task.path))]
    places = np.cumsum([12, *(size + 16 for size in sizes[:-1])]).tolist()
    spans = list(zip(sizes, places, strict=True))

    def run(threads: int) -> Iterator[bytes]:
        file = os.open(task.path, os.O_RDONLY)
        with ThreadPoolExecutor(threads) as pool:
            for low in range(0, len(spans), _BATCH):
                some = spans[low : low + _BATCH]
                step = -(-len(some) // threads)
                parts = [some[begin : begin + step] for begin in range(0, len(some), step)]
                yield from chain.from_iterable(pool.map(partial(_read, file), parts))
        os.close(file)

    return [partial(run, 1), partial(run, 2)]


def _read(file: int, spans: list[tuple[int, int]]) -> list[bytes]:
    found = []
    for size, place in spans:
        payload = os.pread(file, size, place)
        crc32c(payload)
        found.append(payload)
    return found


def plain(made: Any) -> Plain:
    """A record as it is; of a file, how many records are in it."""
    return made if isinstance(made, bytes) else sum(1 for _ in payloads(made))


ACTIONS = {"checksum": checksum, "records": records}
