"""The sides of the race, a module each, loaded in a process of its own by ``benchmarks.worker``.

A side offers ``VERSION`` and ``ACTIONS``. An action takes the ``Task``, gets ready (untimed) and gives
back its variants: functions that do the work and yield what they produce. The worker drains them under
the clock. ``plain`` turns products into what ``benchmarks.digest`` compares, outside the clock.
Where a side has several variants the worker times each once and keeps the fastest for the race.
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
    """What to do: the workload, in which form, and how much of it."""

    store: Store
    workload: str
    form: str = "file"  # "file" | "gzip" | "blocked_gzip"
    batch: int = 0
    take: int = 0  # stop after so many records; 0: never

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
        """The workload's shards, or its one file where it is compressed."""
        return [str(path) for path in self.store.shards(self.work)] if self.form == "file" else [self.path]

    @property
    def columns(self) -> Columns:
        """The workload's values."""
        return self.store.columns(self.work)

    @property
    def output(self) -> Path:
        """Where a writer may write; the worker removes it."""
        return self.store.folder / f"output-{os.getpid()}.tfrecord"

    def limited(self, records: Iterator[Any]) -> Iterator[Any]:
        """``records``, cut where the task says so."""
        return islice(records, self.take) if self.take else records
