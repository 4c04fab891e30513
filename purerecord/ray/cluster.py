"""``Cluster``: the nodes of Ray's cluster, as ``workers=`` of the functions that check, repair and rewrite.

Work is tasks of Ray. A task whose process dies is run again by Ray, at most ``_RETRIES`` times. This module
must not know what the work is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from .. import public
from ..processes.pool import Progress, no_progress
from .library import ray

_T = TypeVar("_T")
_RETRIES = 2
# Tasks that Ray is given at once, for each of its CPUs: enough to keep all busy.
_TASKS_PER_CPU = 2
# Seconds that tasks get to end after an error.
_LONGEST_END = 30
# What a task has died of that has no result after all retries.
_LOST = (
    ray.exceptions.WorkerCrashedError,
    ray.exceptions.OutOfMemoryError,
    ray.exceptions.NodeDiedError,
    ray.exceptions.ObjectLostError,
)


@public
class Cluster:
    """The workers of the cluster that this process is connected to, or else of that in ``RAY_ADDRESS``.

    Without these it is one that runs on this machine, or else Ray starts one. ``limit`` is the number of
    tasks at the same time; ``options`` are those of ``ray.remote``, such as ``num_cpus`` or ``memory``. All
    nodes must see the files.

    >>> purerecord.validate("s3://bucket/train-*", workers=Cluster())
    >>> purerecord.tools.reshard("in/*", "out/train@100", workers=Cluster(), temporary="/shared/tmp")
    """

    def __init__(self, limit: int | None = None, **options: Any) -> None:
        if limit is not None and limit < 1:
            raise ValueError(f"limit must be positive, not {limit}")
        self._limit = limit
        self._options = {"num_cpus": 1, "max_retries": _RETRIES, **options}

    @property
    def size(self) -> int:
        """How many tasks run at the same time: the limit, or a task for each CPU."""
        _connect()
        return self._limit or max(1, int(ray.cluster_resources().get("CPU", 1)))

    def run_all(
        self, job: Callable[[Any, Progress], _T], files: Sequence[Any], progress: Progress | None
    ) -> list[_T | None]:
        """The results of ``job`` for each of the files, in order; None for a file that kills its process."""
        _connect()  # or Ray does, and prints what it does
        limit = self._limit or self.size * _TASKS_PER_CPU
        work = ray.remote(_work).options(**self._options)
        job_there, folder = ray.put(job), os.getcwd()
        results: list[_T | None] = [None] * len(files)
        running: dict[Any, int] = {}
        try:
            for number, file in enumerate(files):
                if len(running) >= limit:
                    self._take(running, results, progress or no_progress)
                running[work.remote(job_there, file, folder)] = number
            while running:
                self._take(running, results, progress or no_progress)
        finally:
            _end(list(running))  # after an error: what they would give is not wanted any more
        return results

    def _take(self, running: dict[Any, int], results: list[Any], progress: Progress) -> None:
        """Wait for a task; ``running`` and ``results`` are changed."""
        (done, *_), _ = ray.wait(list(running), num_returns=1)
        number = running.pop(done)
        try:
            results[number], size, records = ray.get(done)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except _LOST:
            return
        progress(size, records)


def _end(tasks: list[Any]) -> None:
    """End tasks, and wait until they have ended: the caller may remove the files that they write."""
    for task in tasks:
        with suppress(ray.exceptions.RayError):
            ray.cancel(task, force=True)
    if tasks:
        ray.wait(tasks, num_returns=len(tasks), timeout=_LONGEST_END)
    for task in tasks:
        with suppress(Exception):  # or Ray prints an error that nobody has asked for
            ray.get(task, timeout=0)


def _connect() -> None:
    if not ray.is_initialized():
        ray.init(log_to_driver=False, logging_level="ERROR")


def _work(job: Any, file: Any, folder: str) -> tuple[Any, int, int]:
    """The result of a job, and the bytes and records that it has counted."""
    with suppress(OSError):  # a node without this folder has no files with relative names either
        os.chdir(folder)
    counted = [0, 0]

    def progress(size: int, records: int) -> None:
        counted[0] += size
        counted[1] += records

    return (job(file, progress), *counted)
