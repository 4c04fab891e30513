"""Cursors that work ahead: ``prefetch`` in a thread, ``map`` in threads or processes, always in order.

A look-ahead cursor pulls elements before they are asked for and keeps them as *runs*. An ``ElementRun`` knows
the state of the parent before its first element, and how many foreign elements follow it. A *foreign* element
belongs to another worker or rank: it is skipped, never computed. So a state holds no element. It is the state
before the current run, and how much of that run has been used.

``Share`` skips the same foreign elements one level up; docs/internals/datasets.md draws how the two agree.
This module must not know what an element is.
"""

from __future__ import annotations

import os
import queue
import threading
import weakref
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...processes.start import Beginning, begin_worker, mark_begun, refuse_in_worker, start_context
from .node import Context, Cursor, Elements, FailedElement, Pattern, State, data_changed
from .origins import Locator
from .states import count_of, values_of


@dataclass
class ElementRun:
    """Consecutive elements, pulled together; or the end, or an error that nothing gets past.

    A run without elements is the end, or if it has an ``error``, that error.
    """

    begin: State  # of the parent, before the first element
    elements: Elements
    foreign: int = 0  # elements of other workers and ranks that follow, skipped already
    used: int = 0  # how many of both have been handed out or skipped
    error: BaseException | None = None

    @property
    def left(self) -> int:
        """How many elements, foreign ones included, have not been used."""
        return len(self.elements) + self.foreign - self.used


class _Puller:
    """Pulls runs of elements from the parent, and skips the foreign elements after them."""

    def __init__(self, parent: Cursor, pattern: Pattern) -> None:
        self.parent = parent
        self._pattern = pattern
        self._phase = 0  # how many of the ``own`` elements of the current period have been pulled
        self._error: ElementRun | None = None  # an error after the latest run

    def pull(self, count: int) -> ElementRun:
        """The next run, of at most ``count`` elements."""
        if self._error is not None:
            return self._error
        begin = self.parent.state()
        own = self._pattern.own
        try:
            elements = self.parent.take(count if self._pattern.takes_all else min(count, own - self._phase))
        except Exception as error:
            return ElementRun(begin, (), error=error)
        return self._run(begin, elements)

    def _run(self, begin: State, elements: Elements) -> ElementRun:
        """A run of these elements; skips the foreign elements after them."""
        if self._pattern.takes_all:
            return ElementRun(begin, elements)
        own, period = self._pattern
        self._phase += len(elements)
        foreign = 0
        if self._phase == own:
            self._phase = 0
            try:
                foreign = self.parent.skip(period - own)
            except Exception as error:  # somewhere in the foreign elements, so after this run
                foreign = period - own
                self._error = ElementRun(begin, (), used=len(elements) + foreign, error=error)
        return ElementRun(begin, elements, foreign)


class LookaheadCursor(Cursor):
    """Hands out the elements of runs; subclasses decide in ``_fill`` how the runs are made."""

    def __init__(self, parent: Cursor, context: Context) -> None:
        self._parent = parent
        self._puller = _Puller(parent, context.pattern)
        self._runs: deque[ElementRun] = deque()
        self._started = False  # whether the parent is ahead of this cursor

    @abstractmethod
    def _fill(self, count: int) -> None:
        """Have at least one run, with ``count`` elements ahead where that is possible."""

    def _result(self, value: Any) -> Any:
        """The element that ``value`` of a run stands for."""
        return value

    def _first_run(self, count: int = 1) -> ElementRun:
        """The run of the next element; or the end, or an error that comes next."""
        self._started = True
        while self._runs and not self._runs[0].left and len(self._runs[0].elements):
            self._runs.popleft()
        self._fill(count)
        return self._runs[0]

    def _current_run(self, count: int = 1) -> ElementRun | None:
        """The run of the next element; None at the end. An error that comes next is raised."""
        run = self._first_run(count)
        if run.error is not None:
            self._runs.clear()
            self._after_error()
            raise run.error
        return run if run.left else None

    def _after_error(self) -> None:
        """Be ready for the next call, which goes on or meets the same error again."""

    def take(self, count: int) -> Elements:
        run = self._current_run(count)
        if run is None:
            return ()
        values = run.elements[run.used : run.used + count]
        assert len(values), "this element was said to be for another worker or rank"
        taken = list(map(self._result, values))
        run.used += len(taken)
        return taken

    def skip(self, count: int) -> int:
        if not self._started:
            return self._parent.skip(count)  # nothing is ahead yet, so nothing needs to be computed
        left = count
        while left and (run := self._current_run()) is not None:
            skipped = min(left, run.left)
            run.used += skipped
            left -= skipped
        return count - left

    def state(self) -> State:
        if not self._started:
            return {"up": self._parent.state(), "ahead": 0}
        run = self._first_run()
        if run.error is not None and not isinstance(run.error, Exception):
            raise run.error  # an interrupt in a thread, which may have come anywhere
        return {"up": run.begin, "ahead": run.used}

    def restore(self, state: State) -> None:
        up, ahead = values_of(state, "up", "ahead")
        self._parent.restore(up)
        if self._parent.skip(count_of(ahead)) != ahead:
            raise data_changed("there are fewer elements")

    def close(self) -> None:
        self._parent.close()


class MapAheadCursor(LookaheadCursor):
    """``function`` of every element, computed ahead in threads or processes."""

    def __init__(
        self,
        parent: Cursor,
        context: Context,
        function: Callable[[Any], Any],
        workers: int,
        processes: bool,
        *,
        locator: Locator,
    ) -> None:
        super().__init__(parent, context)
        self._locator = locator
        self._function = function
        self._workers = workers if workers > 0 else os.cpu_count() or 1
        self._processes = processes
        self._executor: Executor | None = None
        self._explained: Callable[[], AbstractContextManager[None]] = nullcontext

    def _fill(self, count: int) -> None:
        if self._executor is None:
            if self._processes:
                refuse_in_worker()
                context = start_context()
                beginning = Beginning(context)
                self._explained = partial(_explained, beginning)
                self._executor = ProcessPoolExecutor(self._workers, context, _begin, (beginning.began,))
            else:
                self._executor = ThreadPoolExecutor(self._workers)
            weakref.finalize(self, _shut_down, self._executor, os.getpid())
        wanted = max(count, 2 * self._workers)
        ahead = sum(len(run.elements) - min(run.used, len(run.elements)) for run in self._runs)
        while ahead < wanted and (not self._runs or len(self._runs[-1].elements)):
            run = self._puller.pull(min(wanted - ahead, self._parent.cheap_lookahead))
            run.elements = list(map(self._submit, run.elements))
            self._runs.append(run)
            ahead += len(run.elements)

    def _submit(self, element: Any) -> Any:
        assert self._executor is not None
        if isinstance(element, FailedElement):
            return element
        with self._explained():
            return self._executor.submit(self._function, element)

    def _result(self, value: Any) -> Any:
        if not isinstance(value, Future):
            return value
        error = value.exception()
        if error is None:
            return value.result()
        if isinstance(error, Exception) and not isinstance(error, BrokenProcessPool):
            run = self._runs[0]
            self._locator.note_at(error, run.begin, run.elements.index(value))
            return FailedElement(error)
        with self._explained():
            raise error  # it says nothing about the element

    def close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
        super().close()


def _begin(began: Any) -> None:
    """Initializes a process of ``map``."""
    mark_begun(began)
    begin_worker()


@contextmanager
def _explained(beginning: Beginning) -> Iterator[None]:
    """A context that starts the processes of ``map`` or waits for them."""
    try:
        with beginning.explained():
            yield
    except BrokenProcessPool:
        raise BrokenProcessPool(
            "a process that map had started has ended, perhaps for lack of memory or because of what the "
            "function does; nothing is lost: the next call continues at the same element"
        ) from None


def _shut_down(executor: Executor, process: int) -> None:
    """Shut down an executor without waiting, unless it belongs to the process that this was forked from."""
    if os.getpid() == process:
        executor.shutdown(wait=False, cancel_futures=True)


class PrefetchCursor(LookaheadCursor):
    """The elements of the parent, fetched by one thread while earlier ones are in use."""

    def __init__(self, parent: Cursor, context: Context, buffer_size: int) -> None:
        super().__init__(parent, context)
        # Between foreign elements a run is short, so they are fetched one by one.
        self.cheap_lookahead = parent.cheap_lookahead if context.pattern.takes_all else 1
        self._queue: queue.Queue[ElementRun] = queue.Queue(buffer_size if buffer_size > 0 else 2)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def _fill(self, count: int) -> None:
        if self._thread is None and not self._runs:
            # The thread must not refer to this cursor: then the cursor can be garbage collected, which ends
            # it.
            arguments = (self._puller, self.cheap_lookahead, self._queue, self._stop)
            self._thread = threading.Thread(target=_fetch, args=arguments, daemon=True)
            self._thread.start()
            weakref.finalize(self, self._stop.set)
        if not self._runs:
            self._runs.append(self._queue.get())

    def _after_error(self) -> None:
        self._thread = None

    def close(self) -> None:
        self._stop.set()
        while self._thread is not None and self._thread.is_alive():
            with suppress(queue.Empty):
                self._queue.get_nowait()  # the thread may wait for a free place in the queue
            self._thread.join(0.001)
        super().close()


def _fetch(puller: _Puller, count: int, runs: queue.Queue[ElementRun], stop: threading.Event) -> None:
    """The thread of ``PrefetchCursor``: pulls until the end, an error, or ``stop``."""
    going = True
    while going:
        try:
            run = puller.pull(count)
        except BaseException as error:  # the consumer's thread raises it
            run = ElementRun(None, (), error=error)
        going = len(run.elements) > 0
        while True:
            if stop.is_set():
                return
            try:
                runs.put(run, timeout=0.05)
                break
            except queue.Full:
                continue
