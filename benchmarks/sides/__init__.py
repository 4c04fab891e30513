"""The sides of the race, one module each; ``benchmarks.worker`` loads each in its own process.

A side has ``VERSION``, ``ACTIONS`` and ``plain``. An action takes the ``Task``, prepares it (untimed) and
returns its variants: functions that do the work and yield their products. The worker measures the time to
exhaust them. ``plain`` converts products to the types that ``benchmarks.digest`` compares (untimed). If an
action has several variants, the worker times each twice and keeps the fastest for the race.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.workloads import WORKLOADS, Columns, Store, Workload

Variant = Callable[[], Iterator[Any]]


@dataclass(frozen=True)
class Task:
    """What to do: the workload, its form, and how much of it."""

    store: Store
    workload: str
    form: str = "file"  # "file" | "gzip" | "blocked_gzip"
    batch: int = 0
    take: int = 0  # stop after so many records; 0: read all

    @property
    def work(self) -> Workload:
        """The workload itself."""
        return WORKLOADS[self.workload]

    @property
    def path(self) -> str:
        """The one file that holds the workload."""
        return str(getattr(self.store, self.form)(self.work))

    @property
    def shards(self) -> list[str]:
        """The shards of the workload, or its one file if it is compressed."""
        return [str(path) for path in self.store.shards(self.work)] if self.form == "file" else [self.path]

    @property
    def columns(self) -> Columns:
        """The values of the workload."""
        return self.store.columns(self.work)

    @property
    def output(self) -> Path:
        """The path for a writer; the worker deletes the file."""
        return self.store.folder / f"output-{os.getpid()}.tfrecord"

    def limited(self, records: Iterator[Any]) -> Iterator[Any]:
        """``records`` up to the limit of the task."""
        return islice(records, self.take) if self.take else records
