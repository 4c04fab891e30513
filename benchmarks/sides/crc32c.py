"""The floor below validating: the ``crc32c`` package over the bytes of the cached file, nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from crc32c import crc32c

from benchmarks.digest import Plain
from benchmarks.handmade import payloads
from benchmarks.sides import Task, Variant

VERSION = version("crc32c")


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


def plain(made: Any) -> Plain:
    """How many records were in the file."""
    return sum(1 for _ in payloads(made))


ACTIONS = {"checksum": checksum}
