"""Working ahead: ``prefetch`` in a thread, ``map`` in threads or processes, always in order.

What is ahead comes in runs; each knows where it begins below and how many foreign elements follow it, that
another worker or rank takes and nobody here computes. So a state holds no element: it is where the present
run begins, and how far it has been used. This module does not know what an element is.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import threading
import weakref
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from .node import Context, Cursor, Elements, Pattern, State, changed


def refuse_in_worker() -> None:
    """Raise where this process may not start others."""
    if multiprocessing.current_process().daemon:
        raise RuntimeError(
            "a worker process, such as a DataLoader's, may not start further ones; leave out processes=True "
            "and parallel there, the workers already run in parallel"
        )


class Failed(NamedTuple):
    """Stands for an element that could not be made; who comes behind it goes on."""

    error: Exception


@dataclass
class Run:
    """Elements that come one after the other, and where they begin below; or an error that none gets past."""

    begin: State
    elements: Elements
    foreign: int = 0  # elements behind them that are not for us
    used: int = 0
    error: BaseException | None = None

    @property
    def left(self) -> int:
        return len(self.elements) + self.foreign - self.used


class _Puller:
    """Pulls runs of elements from a cursor, and passes over those that are not for us."""

    def __init__(self, up: Cursor, pattern: Pattern) -> None:
        self.up = up
        self._pattern = pattern
        self._phase = 0

    def pull(self, count: int) -> Run:
        """The next run, of at most ``count`` elements; an empty one at the end, or one with an error."""
        begin = self.up.state()
        own, period = self._pattern.own, self._pattern.period
        try:
            elements = self.up.take(count if own == period else min(count, own - self._phase))
        except Exception as error:
            if self.up.state() == begin:
                return Run(begin, (), error=error)
            return self._run(begin, [Failed(error)])
        return self._run(begin, elements)

    def _run(self, begin: State, elements: Elements) -> Run:
        """A run of these elements, and the foreign ones behind them, which are passed over."""
        own, period = self._pattern.own, self._pattern.period
        if own == period:
            return Run(begin, elements)
        self._phase += len(elements)
        foreign = 0
        if self._phase == own:
            foreign, self._phase = self.up.skip(period - own), 0
        return Run(begin, elements, foreign)


class AheadCursor(Cursor):
    """Hands out what runs hold; how they come to be ahead is for its kinds to say."""

    def __init__(self, up: Cursor, context: Context) -> None:
        self._up = up
        self._puller = _Puller(up, context.pattern)
        self._runs: deque[Run] = deque()  # of which the first has something left
        self._started = False

    @abstractmethod
    def _more(self, count: int) -> None:
        """Have runs ahead; an empty one at the end."""

    def _result(self, value: Any) -> Any:
        if isinstance(value, Failed):
            raise value.error
        return value

    def _front(self, count: int = 1) -> Run:
        """The run that the next element is in, or the end, or an error that comes next."""
        self._started = True
        while self._runs and not self._runs[0].left and len(self._runs[0].elements):
            self._runs.popleft()
        self._more(count)
        return self._runs[0]

    def _present(self, count: int = 1) -> Run | None:
        """The run that the next element is in; None at the end."""
        run = self._front(count)
        if run.error is not None:
            self._runs.clear()
            self._restart()
            raise run.error
        return run if run.left else None

    def _restart(self) -> None:
        """After an error: be ready to go on, or to raise it again."""

    def take(self, count: int) -> Elements:
        run = self._present(count)
        if run is None:
            return ()
        values = run.elements[run.used : run.used + count]
        assert len(values), "this element was said to be for another worker or rank"
        taken: list[Any] = []
        try:
            for value in values:
                taken.append(self._result(value))
        except Exception:
            if not taken:  # else those before the error come first
                run.used += 1  # who goes on gets what is behind it
                raise
        run.used += len(taken)
        return taken

    def skip(self, count: int) -> int:
        if not self._started:
            return self._up.skip(count)  # where it is cheap
        left = count
        while left and (run := self._present()) is not None:
            passed = min(left, run.left)
            run.used += passed
            left -= passed
        return count - left

    def state(self) -> State:
        if not self._started:
            return {"up": self._up.state(), "ahead": 0}
        run = self._front()
        return {"up": run.begin, "ahead": run.used}

    def restore(self, state: State) -> None:
        self._up.restore(state["up"])
        if self._up.skip(state["ahead"]) != state["ahead"]:
            raise changed("there are fewer elements")

    def close(self) -> None:
        self._up.close()


class ParallelCursor(AheadCursor):
    """``function`` of some elements ahead, in threads or processes."""

    def __init__(
        self, up: Cursor, context: Context, function: Callable[[Any], Any], workers: int, processes: bool
    ) -> None:
        super().__init__(up, context)
        self._function = function
        self._workers = workers if workers > 0 else os.cpu_count() or 1
        self._processes = processes
        self._executor: Executor | None = None

    def _more(self, count: int) -> None:
        if self._executor is None:
            if self._processes:
                refuse_in_worker()
            self._executor = (ProcessPoolExecutor if self._processes else ThreadPoolExecutor)(self._workers)
            weakref.finalize(self, self._executor.shutdown, wait=False, cancel_futures=True)
        wanted = max(count, 2 * self._workers)
        ahead = sum(len(run.elements) - min(run.used, len(run.elements)) for run in self._runs)
        while ahead < wanted and (not self._runs or len(self._runs[-1].elements)):
            run = self._puller.pull(min(wanted - ahead, self._up.hint))
            run.elements = list(map(self._submit, run.elements))
            self._runs.append(run)
            ahead += len(run.elements)

    def _submit(self, element: Any) -> Any:
        assert self._executor is not None
        return element if isinstance(element, Failed) else self._executor.submit(self._function, element)

    def _result(self, value: Any) -> Any:
        return super()._result(value.result() if isinstance(value, Future) else value)

    def close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
        super().close()


class PrefetchCursor(AheadCursor):
    """The elements, fetched by one thread while those before are in use."""

    def __init__(self, up: Cursor, context: Context, buffer_size: int) -> None:
        super().__init__(up, context)
        # Where foreign elements lie between ours, they come one by one.
        self.hint = up.hint if context.pattern.own == context.pattern.period else 1
        self._queue: queue.Queue[Run] = queue.Queue(buffer_size if buffer_size > 0 else 2)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def _more(self, count: int) -> None:
        if self._thread is None and not self._runs:
            # The thread knows nothing of this object, so it keeps nobody from forgetting it.
            arguments = (self._puller, self.hint, self._queue, self._stop)
            self._thread = threading.Thread(target=_fetch, args=arguments, daemon=True)
            self._thread.start()
            weakref.finalize(self, self._stop.set)
        if not self._runs:
            self._runs.append(self._queue.get())

    def _restart(self) -> None:
        self._thread = None

    def close(self) -> None:
        self._stop.set()
        while self._thread is not None and self._thread.is_alive():
            with suppress(queue.Empty):
                self._queue.get_nowait()  # the thread may be waiting for room
            self._thread.join(0.001)
        super().close()


def _fetch(puller: _Puller, count: int, runs: queue.Queue[Run], stop: threading.Event) -> None:
    """What the thread does: pull until the end, an error, or ``stop``."""
    going = True
    while going:
        try:
            run = puller.pull(count)
        except BaseException as error:  # it is raised again in the other thread
            run = Run(None, (), error=error)
        going = len(run.elements) > 0
        while True:
            if stop.is_set():
                return
            try:
                runs.put(run, timeout=0.05)
                break
            except queue.Full:
                continue
