"""The way of the data through the package, as figures: ``python -m tests.support.walk``.

Four tasks run under a profiler, each on 1,000 small records. The table shows, for each of them, how many
modules of the package it visits, how often a call leads from one module into another, how many functions it
calls, and how deep the calls nest. Imports are not counted.

A change that makes these figures grow adds something that a reader must follow. To compare two trees, set
PYTHONPATH to the root of the other one: it comes before the current folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

if __name__ == "__main__":  # Python itself puts the current folder before PYTHONPATH
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
import purerecord as pr

PACKAGE = str(Path(pr.__file__).parent)
RECORDS = 1_000
COLUMNS = {
    "id": np.arange(RECORDS),
    "price": np.linspace(0, 1, RECORDS, dtype=np.float32),
    "name": np.array([b"item %d" % (number % 50) for number in range(RECORDS)], object),
    "tags": pr.Ragged.from_rows([range(number % 6) for number in range(RECORDS)]),
}
SPEC = {
    "id": pr.FixedLenFeature([], np.int64),
    "price": pr.FixedLenFeature([], np.float32),
    "name": pr.FixedLenFeature([], bytes),
    "tags": pr.RaggedFeature(np.int64),
}


class Walk(NamedTuple):
    """How much of the package one task visits."""

    modules: int
    crossings: int
    functions: int
    depth: int


class _Tracer:
    """Counts calls inside the package. A crossing is a call from one of its modules into another."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.functions: set[CodeType] = set()
        self.crossings = self.depth = 0
        self._stack: list[str] = []  # the files of the package's functions that run now
        self._importing = 0  # modules whose import has begun and not ended

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(PACKAGE):
            return
        if code.co_name == "<module>":
            self._importing += 1 if event == "call" else -1
        if self._importing or code.co_name == "<module>":
            return
        if event == "return":
            self._stack.pop()
            return
        if self._stack and self._stack[-1] != code.co_filename:
            self.crossings += 1
        self._stack.append(code.co_filename)
        self.modules.add(code.co_filename)
        self.functions.add(code)
        self.depth = max(self.depth, len(self._stack))


def trace(task: Callable[[], Any]) -> Walk:
    """Run ``task`` and count the calls inside the package."""
    tracer = _Tracer()
    sys.setprofile(tracer)
    try:
        task()
    finally:
        sys.setprofile(None)
    return Walk(len(tracer.modules), tracer.crossings, len(tracer.functions), tracer.depth)


def _tasks(folder: Path) -> dict[str, Callable[[], Any]]:
    sound, damaged = folder / "sound.tfrecord", folder / "damaged.tfrecord"
    with pr.TFRecordWriter(sound) as writer:
        writer.write_many(pr.encode_examples(COLUMNS))
    data = bytearray(sound.read_bytes())
    data[len(data) // 2] ^= 0x10
    damaged.write_bytes(data)

    def write() -> None:
        with pr.TFRecordWriter(folder / "written.tfrecord") as writer:
            writer.write_many(pr.encode_examples(COLUMNS))

    dataset, salvage = (
        pr.TFRecordDataset,
        pr.salvage,
    )  # looked up now: the first use of a name imports its module
    return {
        "read_records": lambda: list(pr.read_records(sound)),
        "batch, parse": lambda: list(dataset(sound).batch(4096).parse(SPEC)),
        "encode, write": write,
        "salvage": lambda: salvage(damaged, folder / "clean.tfrecord"),
    }


def walks() -> dict[str, Walk]:
    """The walk of each task, in order."""
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, task in _tasks(Path(folder)).items():
            found[name] = trace(task)
        return found


def main() -> None:
    """Print the table."""
    print(f"{'walk':<14}" + "".join(f"{title:>11}" for title in Walk._fields))
    for name, walk in walks().items():
        print(f"{name:<14}" + "".join(f"{number:>11,}" for number in walk))


if __name__ == "__main__":
    main()
