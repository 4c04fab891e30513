"""The side of the ``tfrecord`` package, which checks no CRC and works record by record."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
import tfrecord
from tfrecord.tools.tfrecord2idx import create_index

from benchmarks.digest import Plain, Rows, Written
from benchmarks.sides import Task, Variant

VERSION = version("tfrecord")


def read(task: Task) -> list[Variant]:
    """The iterator; each view that it yields is valid until the next one."""
    return [lambda: task.limited(tfrecord.tfrecord_iterator(task.path))]


def decode(task: Task) -> list[Variant]:
    """The loader, which yields a dict of arrays for each record."""
    return [lambda: task.limited(tfrecord.tfrecord_loader(task.path, None))]


def index(task: Task) -> list[Variant]:
    """The index tool, which writes a text file."""

    def run() -> Iterator[Written]:
        create_index(task.path, str(task.output))
        yield Written(task.output, exact=False)

    return [run]


def plain(made: Any) -> Plain:
    """A product of an action in the types of ``benchmarks.digest``."""
    if isinstance(made, memoryview):
        return made
    if isinstance(made, Written):
        offsets, sizes = np.loadtxt(made.path, np.int64, ndmin=2).T
        one = np.ones(len(offsets), np.int64)
        return {"offset": Rows(offsets, one), "size": Rows(sizes, one)}
    return {name: _rows(value) for name, value in made.items()}


def _rows(value: Any) -> Rows:
    if isinstance(value, bytes):
        return Rows([value], np.ones(1, np.int64))
    return Rows(value, np.array([len(value)]))


ACTIONS = {action.__name__: action for action in (read, decode, index)}
