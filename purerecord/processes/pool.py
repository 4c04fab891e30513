"""Workers: one job for many files, done by several processes.

The processes count what they do in shared memory, from where progress is told. When the caller is
interrupted they are ended, whatever they wait for. This module does not know what the job is.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

_T = TypeVar("_T")

# Called now and then with the bytes of the file and the records that were gone through since.
Progress = Callable[[int, int], None]

# How often progress is told, in seconds.
_TICK = 0.1
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_DIED = object()

_held: list[int] = []  # signals that came while they were held
_shared: Any = None  # in a worker: bytes and records, of all workers together


def no_progress(_bytes: int, _records: int) -> None:
    """Progress that nobody wants to hear of."""


def run_all(
    job: Callable[[Any, Progress], _T], files: Sequence[Any], workers: int, progress: Progress | None
) -> list[_T | None]:
    """What ``job`` makes of each of the files, in their order; None of one that kills its process.

    Such a death breaks the whole pool, and does not say who it was. So what was not finished by then is
    done once more, each file by a process of its own.
    """
    count = _Count(progress)
    results = _run_pool(job, files, workers, count)
    for number, found in enumerate(results):
        if found is _DIED:
            (results[number],) = _run_pool(job, [files[number]], 1, count)
    return [None if found is _DIED else found for found in results]


class _Count:
    """Bytes and records of all workers together, and how many of them have been told."""

    def __init__(self, progress: Progress | None) -> None:
        self.shared: Any = multiprocessing.Array("q", 2)
        self._progress = progress
        self._told = (0, 0)

    def tell(self) -> None:
        """Tell of what has been done since."""
        if self._progress is not None:
            before, self._told = self._told, (self.shared[0], self.shared[1])
            self._progress(self._told[0] - before[0], self._told[1] - before[1])


def _run_pool(
    job: Callable[[Any, Progress], _T], files: Sequence[Any], workers: int, count: _Count
) -> list[Any]:
    """The results of one pool; ``_DIED`` for all that was not finished when a process of it died."""
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, initializer=_begin, initargs=(count.shared,)) as pool:
        try:
            futures: list[Future[_T]] = []
            with _signals_held(), suppress(BrokenProcessPool):  # the first may have died already
                futures += (pool.submit(_work, job, file) for file in files)
            _wait(futures, count)
            found = [_DIED if _died(future) else future.result() for future in futures]
            return found + [_DIED] * (len(files) - len(futures))
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise


@contextmanager
def _signals_held() -> Iterator[None]:
    """A signal waits meanwhile: it would find processes that nobody knows of yet.

    It is not enough to mask it in this thread, for it may be another that takes it, of numpy's, say.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _hold) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    _let_go()


def _hold(number: int, _frame: object) -> None:
    _held.append(number)


def _let_go() -> None:
    if _held:
        number = _held[0]
        _held.clear()
        signal.raise_signal(number)


def _died(future: Future[_T]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def _wait(futures: list[Future[_T]], count: _Count) -> None:
    unfinished = set(futures)
    while unfinished:
        finished, unfinished = wait(unfinished, timeout=_TICK)
        for future in finished:
            if not _died(future):
                future.result()  # what went wrong is raised at once
        count.tell()


def _begin(shared: Any) -> None:
    global _shared  # noqa: PLW0603 - what a worker process is told once, when it starts
    _shared = shared
    # Signals end a worker without a word; the process that started it has something to say.
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    _let_go()
    threading.Thread(target=die_with_parent, daemon=True).start()


def die_with_parent() -> None:
    """A worker does not outlive the process that started it, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(job: Callable[[Any, Progress], _T], file: Any) -> _T:
    return job(file, _count)


def _count(size: int, records: int) -> None:
    with _shared.get_lock():
        _shared[0] += size
        _shared[1] += records
