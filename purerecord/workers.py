"""Workers: one job for many files, done by several processes.

The processes count what they do in shared memory, from where progress is told. When the caller is
interrupted they are ended, whatever they wait for. This module does not know what the job is.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from typing import Any, TypeVar

from .recovery import Progress

_T = TypeVar("_T")

# How often progress is told, in seconds.
_TICK = 0.1

_shared: Any = None  # in a worker: bytes and records, of all workers together


def run_all(
    job: Callable[[Any, Progress], _T], files: Sequence[Any], workers: int, progress: Progress | None
) -> list[_T]:
    """What ``job`` makes of each of the files, in their order."""
    shared = multiprocessing.Array("q", 2)
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, initializer=_begin, initargs=(shared,)) as pool:
        futures = [pool.submit(_work, job, file) for file in files]
        try:
            _wait(futures, shared, progress)
            return [future.result() for future in futures]
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise


def _wait(futures: list[Future[_T]], shared: Any, progress: Progress | None) -> None:
    told = (0, 0)
    unfinished = set(futures)
    while unfinished:
        finished, unfinished = wait(unfinished, timeout=_TICK)
        for future in finished:
            future.result()  # what went wrong is raised at once
        if progress is not None:
            done = (shared[0], shared[1])
            progress(done[0] - told[0], done[1] - told[1])
            told = done


def _begin(shared: Any) -> None:
    global _shared  # noqa: PLW0603 - what a worker process is told once, when it starts
    _shared = shared
    # Ctrl-C ends a worker without a word; the process that started it has something to say.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _work(job: Callable[[Any, Progress], _T], file: Any) -> _T:
    return job(file, _count)


def _count(size: int, records: int) -> None:
    with _shared.get_lock():
        _shared[0] += size
        _shared[1] += records
