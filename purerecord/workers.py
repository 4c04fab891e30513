"""Workers: one job for many files, done by several processes.

The processes count what they do in shared memory, from where progress is told; and look there whether
they are to stop, so that nothing goes on when the caller is interrupted. This module does not know what
the job is.
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

_shared: Any = None  # in a worker: bytes, records, whether to stop


class _StoppedError(Exception):
    """The caller does not want the result any more."""


def run_all(
    job: Callable[[Any, Progress], _T], files: Sequence[Any], workers: int, progress: Progress | None
) -> list[_T]:
    """What ``job`` makes of each of the files, in their order."""
    shared = multiprocessing.Array("q", 3)
    with ProcessPoolExecutor(workers, initializer=_begin, initargs=(shared,)) as pool:
        futures = [pool.submit(_work, job, file) for file in files]
        try:
            _wait(futures, shared, progress)
            return [future.result() for future in futures]
        except BaseException:
            shared[2] = 1
            pool.shutdown(wait=False, cancel_futures=True)
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
    if _shared[2]:
        raise _StoppedError
