"""``run_all``: one job for each of many files, in several processes, or wherever a ``Cluster`` runs it.

The processes count bytes and records in shared memory, and the parent reports them as progress. If the
caller is interrupted, the processes are terminated, whatever they wait for. This module must not know what
the job is.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar, Union

from .start import Beginning, die_with_parent, mark_begun, start_context

_T = TypeVar("_T")

# Called now and then with the bytes and the records that were processed since the last call.
Progress = Callable[[int, int], None]


class Cluster(Protocol):
    """Processes elsewhere, which share work as those of this machine do."""

    @property
    def size(self) -> int:
        """How many of them work at the same time."""

    def run_all(
        self, job: Callable[[Any, Progress], _T], files: Sequence[Any], progress: Progress | None
    ) -> list[_T | None]:
        """What ``run_all`` gives. The job and the files are pickled."""


# Who shares the work: so many processes of this machine, or a cluster.
Workers = Union[int, Cluster]

_REPORT_INTERVAL = 0.1  # seconds between two calls of progress
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_DIED = object()  # the result of a job whose process died

# Process-wide state: both are empty unless ``run_all`` is running.
_held: list[int] = []  # signals that arrived while ``_signals_held``
_counted: Any = None  # in a worker process: bytes and records of all workers together


def no_progress(_bytes: int, _records: int) -> None:
    """A ``Progress`` that ignores what it is told."""


def check_workers(workers: Workers) -> None:
    """Raise unless ``workers`` can share work."""
    if isinstance(workers, int):
        if workers < 1:
            raise ValueError(f"workers must be positive, not {workers}")
    elif not hasattr(workers, "run_all"):
        raise TypeError(f"workers must be a number of processes, or a cluster, not {workers!r}")


def run_all(
    job: Callable[[Any, Progress], _T], files: Sequence[Any], workers: Workers, progress: Progress | None
) -> list[_T | None]:
    """The results of ``job`` for each of the files, in order; None for a file that kills its process.

    A process that dies breaks the whole pool, and the pool cannot say which file it was. So each file that
    was not finished by then is tried once more, in a process of its own. If no process could even begin, a
    RuntimeError is raised.
    """
    if not isinstance(workers, int):
        return workers.run_all(job, files, progress)
    workers = min(workers, len(files))
    count = _Count(progress, start_context())
    with count.beginning.explained():
        results = _run_pool(job, files, workers, count)
        if all(result is _DIED for result in results):
            count.beginning.check()
    for number, result in enumerate(results):
        if result is _DIED:
            (results[number],) = _run_pool(job, [files[number]], 1, count)
    return [None if result is _DIED else result for result in results]


class _Count:
    """Bytes and records of all workers together, and how many of these have been reported.

    Its lock can only be sent to processes of the same ``context``.
    """

    def __init__(self, progress: Progress | None, context: Any) -> None:
        self.context = context
        self.beginning = Beginning(context)
        self.shared: Any = context.Array("q", 2)
        self._progress = progress
        self._reported = (0, 0)

    def report(self) -> None:
        """Report what has been done since the last report."""
        if self._progress is not None:
            before, self._reported = self._reported, (self.shared[0], self.shared[1])
            self._progress(self._reported[0] - before[0], self._reported[1] - before[1])


def _run_pool(
    job: Callable[[Any, Progress], _T], files: Sequence[Any], workers: int, count: _Count
) -> list[Any]:
    """The results of one pool; ``_DIED`` for every job that was unfinished when a process died."""
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, count.context, _begin, (count.shared, count.beginning.began)) as pool:
        try:
            futures: list[Future[_T]] = []
            with _signals_held(), suppress(BrokenProcessPool):  # the first may have died already
                futures += (pool.submit(_work, job, file) for file in files)
            _wait(futures, count)
            results = [_DIED if _died(future) else future.result() for future in futures]
            return results + [_DIED] * (len(files) - len(futures))
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise


@contextmanager
def _signals_held() -> Iterator[None]:
    """Delays signals while processes are started, so that a handler never misses a half-started one.

    A signal mask of this thread would not be enough: another thread, such as one of numpy's, could receive
    the signal.
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
    _raise_held()


def _hold(number: int, _frame: object) -> None:
    _held.append(number)


def _raise_held() -> None:
    if _held:
        number = _held[0]
        _held.clear()
        signal.raise_signal(number)


def _died(future: Future[_T]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def _wait(futures: list[Future[_T]], count: _Count) -> None:
    unfinished = set(futures)
    while unfinished:
        finished, unfinished = wait(unfinished, timeout=_REPORT_INTERVAL)
        for future in finished:
            if not _died(future):
                future.result()  # raises the error of a failed job at once
        count.report()


def _begin(counted: Any, began: Any) -> None:
    """Initializes a worker process."""
    mark_begun(began)
    global _counted  # noqa: PLW0603 - a process pool's initializer has no other place to leave something
    _counted = counted
    # A signal ends a worker silently; the parent process reports it.
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    _raise_held()
    threading.Thread(target=die_with_parent, daemon=True).start()


def _work(job: Callable[[Any, Progress], _T], file: Any) -> _T:
    return job(file, _count)


def _count(size: int, records: int) -> None:
    with _counted.get_lock():
        _counted[0] += size
        _counted[1] += records
