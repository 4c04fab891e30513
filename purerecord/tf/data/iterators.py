"""Iterators over elements: shuffle, repeat, take, batch, cache, interleave, map in threads, prefetch.

As in TensorFlow, an iterator that has raised an error can still be asked for the next element. A Python
generator cannot do that: after an error it is finished. So the generators here yield *events*, which are
elements or ``Failure`` objects, and ``Resumable`` turns each failure into a raised error.

This module does not know what an element is.
"""

from __future__ import annotations

import gc
import os
import pickle
import random
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import wraps
from itertools import count
from typing import Any, ParamSpec

from ...container.writer import TFRecordWriter
from ..errors import AlreadyExistsError, OpError, invalid
from ..io.record_files import TFRecordIterator
from .run import Run

# AutotunedMap times this many calls, and uses threads if the fastest of them takes at least so many seconds.
_TIMED_CALLS = 4
_SECONDS_WORTH_A_THREAD = 0.001

# Makes a new iterator over the elements of a dataset.
MakeIterator = Callable[[Run], Iterator[Any]]

_P = ParamSpec("_P")


class Failure:
    """An error in the place of an element."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def events(elements: Iterator[Any]) -> Iterator[Any]:
    """The elements, with a ``Failure`` for each error that ``elements`` raises."""
    while True:
        try:
            element = next(elements)
        except StopIteration:
            return
        except Exception as error:  # raised again by ``Resumable``
            yield Failure(error)
        else:
            yield element


class Resumable(Iterator[Any]):
    """An iterator over the elements of a generator of events. It raises failures and can go on after them."""

    def __init__(self, generator: Iterator[Any]) -> None:
        self._events = generator

    def __next__(self) -> Any:
        event = next(self._events)
        if isinstance(event, Failure):
            raise event.error
        return event


def resumable(generator: Callable[_P, Iterator[Any]]) -> Callable[_P, Iterator[Any]]:
    """A decorator: a generator function of events becomes a function that returns a ``Resumable``."""

    @wraps(generator)
    def make(*args: _P.args, **kwargs: _P.kwargs) -> Iterator[Any]:
        return Resumable(generator(*args, **kwargs))

    return make


class Shuffle:
    """Makes iterators that yield a random one of the next ``buffer_size`` elements, again and again.

    Every iteration has its own order, which depends on the seed and on the number of earlier iterations.
    """

    def __init__(self, make: MakeIterator, buffer_size: int | None, seed: str, reshuffle: bool) -> None:
        self._make = make
        self._buffer_size = buffer_size
        self._randomness = Randomness(seed, reshuffle)

    def __call__(self, run: Run) -> Iterator[Any]:
        generator = self._randomness(run)
        return self._shuffled(self._make(run), generator)

    @resumable
    def _shuffled(self, elements: Iterator[Any], generator: random.Random) -> Iterator[Any]:
        buffer: list[Any] = []
        for event in events(elements):
            if isinstance(event, Failure):
                yield event
            else:
                buffer.append(event)
                if len(buffer) == self._buffer_size:
                    yield _random_one(buffer, generator)
        while buffer:
            yield _random_one(buffer, generator)


def _random_one(buffer: list[Any], generator: random.Random) -> Any:
    """Remove a random element from ``buffer`` and return it."""
    chosen = generator.randrange(len(buffer))
    buffer[chosen], buffer[-1] = buffer[-1], buffer[chosen]
    return buffer.pop()


@resumable
def repeated(make: MakeIterator, times: int | None, run: Run) -> Iterator[Any]:
    """The elements ``times`` times, or without end if that is None: then an empty iteration ends it."""
    for _ in count() if times is None else range(times):
        empty = True
        for event in events(make(run)):
            empty = empty and isinstance(event, Failure)
            yield event
        if empty and times is None:
            return


@resumable
def first(elements: Iterator[Any], number: int) -> Iterator[Any]:
    """The first ``number`` elements. Failures do not count."""
    left = number
    for event in events(elements) if number else ():
        yield event
        left -= not isinstance(event, Failure)
        if not left:
            return


@resumable
def rest(elements: Iterator[Any], skipped: int) -> Iterator[Any]:
    """The elements without the first ones. As in TensorFlow, a failure among these starts the count again."""
    left = skipped
    for event in events(elements):
        if isinstance(event, Failure):
            left = skipped if left else 0
            yield event
        elif left:
            left -= 1
        else:
            yield event


@resumable
def every_nth(elements: Iterator[Any], start: int, step: int) -> Iterator[Any]:
    """Every ``step``-th element from number ``start`` on. Failures do not count."""
    number = -start
    for event in events(elements):
        if isinstance(event, Failure):
            yield event
            continue
        if number >= 0 and number % step == 0:
            yield event
        number += 1


@resumable
def flattened(elements: Iterator[Any], rows: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
    """The rows of every element."""
    for event in events(elements):
        if isinstance(event, Failure):
            yield event
        else:
            yield from events(rows(event))


@resumable
def grouped(elements: Iterator[Any], sizes: Iterable[int], drop_remainder: bool) -> Iterator[Any]:
    """Lists of ``sizes`` elements. A failure drops the list that it interrupts."""
    group: list[Any] = []
    left = iter(sizes)
    size = next(left)
    for event in events(elements):
        if isinstance(event, Failure):
            group = []
            yield event
            continue
        group.append(event)
        if len(group) == size:
            yield group
            group = []
            size = next(left)
    if group and not drop_remainder:
        yield group


class Zip(Iterator[tuple[Any, ...]]):
    """Tuples of one element of each input, up to the end of the shortest.

    Every step takes an element of every input, also if one of them fails or ends. So the inputs stay together
    after an error, and a ``cache`` is complete even if another input ends first. The first input that fails
    or ends decides what the step does.
    """

    def __init__(self, inputs: list[Iterator[Any]]) -> None:
        self._inputs = inputs

    def __next__(self) -> tuple[Any, ...]:
        row = []
        problem: Exception | None = None
        for elements in self._inputs:
            try:
                row.append(next(elements))
            except Exception as error:  # StopIteration, too
                problem = problem or error
        if isinstance(problem, StopIteration):
            self._inputs = [iter(())]
        if problem is not None:
            raise problem
        return tuple(row)


class Cache:
    """Makes iterators over the elements of the first complete iteration, kept in memory or in a file.

    An iteration is complete at its end; in memory after the last element already, if their number is known.
    The file is a TFRecord file of pickled elements and appears when it is complete. Like any pickle, it must
    come from a trusted source.
    """

    def __init__(self, make: MakeIterator, path: str, cardinality: int) -> None:
        self._make = make
        self._cardinality = cardinality
        self._path = f"{path}.tfrecord" if path else ""
        self._elements: Sequence[Any] | None = None

    def __call__(self, run: Run) -> Iterator[Any]:
        if self._path:
            if os.path.exists(self._path):
                return map(pickle.loads, TFRecordIterator(self._path))
            # A probe may look at the elements while the iteration that asked for it writes them.
            return self._make(run) if run.probe else self._write(self._make(run))
        if self._elements is not None:
            return iter(self._elements)
        return self._collect(self._make(run))

    @resumable
    def _collect(self, elements: Iterator[Any]) -> Iterator[Any]:
        cached: list[Any] | None = []
        for event in events(elements):
            if isinstance(event, Failure):
                cached = None  # an iteration with errors is not complete
            elif cached is not None:
                cached.append(event)
                if len(cached) == self._cardinality:
                    self._elements = cached
            yield event
        self._elements = cached

    @resumable
    def _write(self, elements: Iterator[Any]) -> Iterator[Any]:
        with _only_writer(self._path), TFRecordWriter(self._path, atomic=True) as writer:
            for event in events(elements):
                if isinstance(event, Failure):
                    writer.abandon()
                elif not writer.closed:
                    writer.write(pickle.dumps(event))
                yield event


_being_written: set[str] = set()


@contextmanager
def _only_writer(path: str) -> Iterator[None]:
    """A context manager: two iterators of one process do not write one cache at the same time."""
    path = os.path.abspath(path)
    if path in _being_written:
        gc.collect()  # an iteration that ended with an error may wait for it
    if path in _being_written:
        raise AlreadyExistsError(
            None, None, f"There appears to be a concurrent caching iterator running: it writes {path}"
        )
    _being_written.add(path)
    try:
        yield
    finally:
        _being_written.discard(path)


class Chain(Iterator[Any]):
    """The elements of one source after the other. After an error it goes on with the next source."""

    def __init__(self, sources: Iterable[Any], open_source: Callable[[Any], Iterator[Any]]) -> None:
        self._sources = iter(sources)
        self._open = open_source
        self._current: Iterator[Any] | None = None

    def __next__(self) -> Any:
        while True:
            if self._current is None:
                self._current = self._open(next(self._sources))
            try:
                return next(self._current)
            except StopIteration:
                self._current = None
            except BaseException:
                self._current = None
                raise


class Interleave(Iterator[Any]):
    """Up to ``block_length`` elements from each of ``cycle_length`` sources in turn.

    A source that turns out to be at its end leaves an empty slot. As in TensorFlow, the next source takes the
    slot when its turn comes again. If the interleaving is ``parallel``, errors count as elements: one in the
    place of a source is a source of its own.
    """

    def __init__(
        self,
        sources: Iterator[Any],
        open_source: Callable[[Any], Iterator[Any]],
        cycle_length: int,
        block_length: int,
        parallel: bool = False,
    ) -> None:
        self._sources: Iterator[Any] | None = sources
        self._open = open_source
        self._block_length = block_length
        self._parallel = parallel
        self._slots: list[Iterator[Any] | None] = [None] * cycle_length
        self._open_slots = 0
        self._position = 0
        self._in_block = 0  # elements of this block so far

    def __next__(self) -> Any:
        while self._sources is not None or self._open_slots:
            slot = self._slots[self._position]
            slot = self._open_next() if slot is None else slot
            if slot is not None:
                try:
                    element = next(slot)
                except StopIteration:
                    self._slots[self._position] = None
                    self._open_slots -= 1
                except Exception:
                    if self._parallel:
                        self._count_element()
                    raise
                else:
                    self._count_element()
                    return element
            self._go_to_next_slot()
        raise StopIteration

    def _count_element(self) -> None:
        self._in_block += 1
        if self._in_block == self._block_length:
            self._go_to_next_slot()

    def _open_next(self) -> Iterator[Any] | None:
        if self._sources is None:
            return None
        try:
            slot = self._open(next(self._sources))
        except StopIteration:
            self._sources = None
            return None
        except Exception as error:
            if not self._parallel:
                raise
            slot = Resumable(iter((Failure(error),)))
        self._slots[self._position] = slot
        self._open_slots += 1
        return slot

    def _go_to_next_slot(self) -> None:
        self._position = (self._position + 1) % len(self._slots)
        self._in_block = 0


@resumable
def directed_interleave(
    sources: list[Iterator[Any]], choices: Iterable[int], stop_on_empty: bool
) -> Iterator[Any]:
    """One element of the source that each choice names. An exhausted source ends it or is left out."""
    left = {number: events(source) for number, source in enumerate(sources)}
    for choice in events(iter(choices)):
        if isinstance(choice, Failure):
            yield choice
            continue
        if not 0 <= choice < len(sources):
            yield Failure(invalid(f"Selector index out of range: {choice} >= {len(sources)}"))
            continue
        if choice not in left:
            continue
        try:
            event = next(left[choice])
        except StopIteration:
            del left[choice]
            if stop_on_empty or not left:
                return
        else:
            yield event


class Randomness:
    """Makes the random generator of each iteration: the same one, unless ``rerandomize`` is true."""

    def __init__(self, seed: str, rerandomize: bool) -> None:
        self._seed = seed
        self._rerandomize = rerandomize
        self._iteration = 0

    def __call__(self, run: Run) -> random.Random:
        generator = random.Random(f"{self._seed} {self._iteration}")
        if self._rerandomize and not run.probe:
            self._iteration += 1
        return generator


def weighted_choices(weights: Iterable[Sequence[float]], generator: random.Random) -> Iterator[int]:
    """For each row of weights a random index, as often as its weight says."""
    for row in weights:
        indices = range(len(row))
        # TensorFlow's answer to weights that are all 0 is an index that no dataset has.
        yield generator.choices(indices, row)[0] if sum(row) > 0 else len(row)


class ParallelMap(Iterator[Any]):
    """``function`` of the elements, computed ahead in threads. Results and errors come in order."""

    def __init__(self, function: Callable[[Any], Any], elements: Iterator[Any], threads: int) -> None:
        self._function = function
        self._elements: Iterator[Any] | None = elements
        self._pending: deque[Future[Any]] = deque()
        self._max_pending = 2 * threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="purerecord-map")
        weakref.finalize(self, self._pool.shutdown, wait=False, cancel_futures=True)

    def __next__(self) -> Any:
        while self._elements is not None and len(self._pending) < self._max_pending:
            try:
                self._pending.append(self._pool.submit(self._function, next(self._elements)))
            except StopIteration:
                self._elements = None
            except Exception as error:  # comes after the results that are pending already
                failed: Future[Any] = Future()
                failed.set_exception(error)
                self._pending.append(failed)
        if not self._pending:
            self._pool.shutdown(wait=False)
            raise StopIteration
        return self._pending.popleft().result()


class AutotunedMap(Iterator[Any]):
    """``function`` of the elements, in threads if the first calls are slow enough.

    The global interpreter lock lets only one thread run Python code. So threads help only a function that
    releases the lock, such as an image decoder, and such a function takes long. That is why the time of a
    call decides.
    """

    def __init__(self, function: Callable[[Any], Any], elements: Iterator[Any]) -> None:
        self._function = function
        self._elements = elements
        self._results: Iterator[Any] | None = None
        self._calls_left = _TIMED_CALLS
        self._fastest = float("inf")

    def __next__(self) -> Any:
        if self._results is not None:
            return next(self._results)
        element = next(self._elements)
        begin = time.perf_counter()
        result = self._function(element)
        self._fastest = min(self._fastest, time.perf_counter() - begin)
        self._calls_left -= 1
        if not self._calls_left:
            threads = os.cpu_count() or 1
            if self._fastest < _SECONDS_WORTH_A_THREAD or threads == 1:
                self._results = map(self._function, self._elements)
            else:
                self._results = ParallelMap(self._function, self._elements, threads)
        return result


class Prefetch(Iterator[Any]):
    """The elements, fetched ahead by a thread: never more than ``buffer_size`` of them."""

    def __init__(self, elements: Iterator[Any], buffer_size: int) -> None:
        self._ahead = _Ahead(elements, buffer_size)
        self._thread: threading.Thread | None = None

    def __next__(self) -> Any:
        if self._thread is None:
            # The thread does not know this object, so that it ends with it.
            self._thread = threading.Thread(target=self._ahead.fetch, name="purerecord-prefetch", daemon=True)
            self._thread.start()
        event = self._ahead.take()
        if isinstance(event, Failure):
            raise event.error
        return event

    def __del__(self) -> None:
        self._ahead.stop()
        # What the thread holds must be free when this object is: the file of a cache, say.
        if self._thread not in (None, threading.current_thread()) and not sys.is_finalizing():
            self._thread.join()


class _Ahead:
    """The elements that a thread has fetched and nobody has taken."""

    def __init__(self, elements: Iterator[Any], limit: int) -> None:
        self._events = events(elements)
        self._limit = limit
        self._fetched: deque[Any] = deque()
        self._changed = threading.Condition()
        self._over = False  # no more elements will be fetched

    def fetch(self) -> None:
        """Fetch elements until there are no more, or nobody wants them."""
        while not self._over:
            event = next(self._events, _END)
            with self._changed:
                self._fetched.append(event)
                self._over = self._over or event is _END
                self._changed.notify_all()
                self._changed.wait_for(lambda: len(self._fetched) < self._limit or self._over)

    def take(self) -> Any:
        """The next element or failure. At the end a StopIteration, again and again."""
        with self._changed:
            self._changed.wait_for(lambda: self._fetched)
            if self._fetched[0] is _END:
                raise StopIteration
            event = self._fetched.popleft()
            self._changed.notify_all()
            return event

    def stop(self) -> None:
        """Let the thread end after the element that it is fetching."""
        with self._changed:
            self._over = True
            self._changed.notify_all()


_END = object()


def ignore_errors(elements: Iterator[Any]) -> Iterator[Any]:
    """The elements, without those in whose place TensorFlow's errors are raised."""
    while True:
        try:
            element = next(elements)
        except StopIteration:
            return
        except OpError:
            continue
        yield element
