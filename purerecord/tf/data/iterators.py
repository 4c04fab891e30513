"""In which order, how often and by which thread elements come: shuffle, repeat, cache, map in threads.

These are iterators over iterators; they do not know what an element is. As in TensorFlow, one that has
raised an error can be asked to go on, which a generator cannot. So generators here handle *events*, elements
and failures, and ``Steps`` raises the failures.
"""

from __future__ import annotations

import os
import pickle
import random
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count, islice
from typing import Any

from ...container.writer import TFRecordWriter
from ...dataset.engine.lookahead import PrefetchCursor
from ...dataset.engine.node import Context, Cursor
from ..errors import InvalidArgumentError, OpError
from ..io.record_files import RecordFile

# Calls that are timed, and the seconds from which on a call is worth a thread.
_TRIALS = 4
_WORTHWHILE = 0.001

# Begins a new iteration; False if it is only a look at what comes, which must not change what comes later.
Begin = Callable[[bool], Iterator[Any]]


class Failure:
    """An error in the place of an element."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def events(elements: Iterator[Any]) -> Iterator[Any]:
    """The elements, and a ``Failure`` wherever there is an error instead of one."""
    while True:
        try:
            element = next(elements)
        except StopIteration:
            return
        except Exception as error:  # raised again by ``Steps``
            yield Failure(error)
        else:
            yield element


class Steps(Iterator[Any]):
    """The elements that a generator of events gives; failures are raised, and it goes on behind them."""

    def __init__(self, generator: Iterator[Any]) -> None:
        self._events = generator

    def __next__(self) -> Any:
        event = next(self._events)
        if isinstance(event, Failure):
            raise event.error
        return event


class Shuffle:
    """A random one of the next ``buffer_size`` elements, again and again.

    Every iteration has another order, which follows from the seed and how many there were before it.
    """

    def __init__(self, begin: Begin, buffer_size: int | None, seed: str, reshuffle: bool) -> None:
        self._begin = begin
        self._buffer_size = buffer_size
        self._seed = seed
        self._reshuffle = reshuffle
        self._iteration = 0

    def __call__(self, real: bool) -> Iterator[Any]:
        draw = random.Random(f"{self._seed} {self._iteration}")
        if real and self._reshuffle:
            self._iteration += 1
        return Steps(self._shuffled(self._begin(real), draw))

    def _shuffled(self, elements: Iterator[Any], draw: random.Random) -> Iterator[Any]:
        buffer: list[Any] = []
        for event in events(elements):
            if isinstance(event, Failure):
                yield event
            elif self._buffer_size is None or len(buffer) < self._buffer_size:
                buffer.append(event)
            else:
                chosen = draw.randrange(len(buffer))
                yield buffer[chosen]
                buffer[chosen] = event
        while buffer:
            chosen = draw.randrange(len(buffer))
            buffer[chosen], buffer[-1] = buffer[-1], buffer[chosen]
            yield buffer.pop()


def repeated(begin: Begin, times: int | None, real: bool) -> Iterator[Any]:
    """The elements ``times`` times, without end if None; but nothing without end is nothing."""
    for _ in count() if times is None else range(times):
        empty = True
        for event in events(begin(real)):
            empty = False
            yield event
        if empty:
            return


def taken(elements: Iterator[Any], most: int) -> Iterator[Any]:
    """The first elements, ``most`` of them; failures do not count."""
    left = most
    for event in events(elements) if most else ():
        yield event
        left -= not isinstance(event, Failure)
        if not left:
            return


def dealt(elements: Iterator[Any], first: int, step: int) -> Iterator[Any]:
    """Every ``step``-th element, beginning with number ``first``."""
    number = -first
    for event in events(elements):
        if isinstance(event, Failure):
            yield event
            continue
        if number >= 0 and number % step == 0:
            yield event
        number += 1


def flattened(elements: Iterator[Any], rows: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
    """The rows of one element after the other."""
    for event in events(elements):
        if isinstance(event, Failure):
            yield event
        else:
            yield from events(rows(event))


def grouped(elements: Iterator[Any], size: int, drop_remainder: bool) -> Iterator[Any]:
    """Lists of ``size`` elements; the last one may be shorter, or is dropped, as is one with a failure."""
    group: list[Any] = []
    for event in events(elements):
        if isinstance(event, Failure):
            group = []
            yield event
            continue
        group.append(event)
        if len(group) == size:
            yield group
            group = []
    if group and not drop_remainder:
        yield group


class Kept:
    """``cache``: what the first whole iteration gave, in memory or in a file.

    The file is a TFRecord of pickled elements, which appears when it is complete; like any pickle it is to
    be read only by those who trust who wrote it.
    """

    def __init__(self, begin: Begin, path: str) -> None:
        self._begin = begin
        self._path = f"{path}.tfrecord" if path else ""
        self._elements: Sequence[Any] | None = None

    def __call__(self, real: bool) -> Iterator[Any]:
        if self._path:
            if os.path.exists(self._path):
                return map(pickle.loads, RecordFile(self._path))
            return Steps(self._written(self._begin(real)))
        if self._elements is not None:
            return iter(self._elements)
        return Steps(self._collected(self._begin(real)))

    def _collected(self, elements: Iterator[Any]) -> Iterator[Any]:
        kept: list[Any] | None = []
        for event in events(elements):
            if isinstance(event, Failure):
                kept = None  # what is not whole is not kept
            elif kept is not None:
                kept.append(event)
            yield event
        self._elements = kept

    def _written(self, elements: Iterator[Any]) -> Iterator[Any]:
        with TFRecordWriter(self._path, atomic=True) as writer:
            for event in events(elements):
                if isinstance(event, Failure):
                    writer.abandon()
                elif not writer.closed:
                    writer.write(pickle.dumps(event))
                yield event


def directed(sources: list[Iterator[Any]], choices: Iterable[int], stop: bool) -> Iterator[Any]:
    """From the source that each choice names; at the end of one, stop or go on without it."""
    left = {number: events(source) for number, source in enumerate(sources)}
    for choice in choices:
        if not 0 <= choice < len(sources):
            text = f"Selector index out of range: {choice} >= {len(sources)}"
            raise InvalidArgumentError(None, None, text)
        if choice not in left:
            continue
        try:
            event = next(left[choice])
        except StopIteration:
            del left[choice]
            if stop or not left:
                return
        else:
            yield event


def drawn(weights: Sequence[float], seed: str) -> Iterator[int]:
    """Numbers by chance, without end, each as often as its weight says."""
    draw = random.Random(seed)
    everyone = range(len(weights))
    while True:
        yield from draw.choices(everyone, weights, k=256)


class Parallel(Iterator[Any]):
    """``function`` of some elements ahead, in threads; results and errors come in order."""

    def __init__(self, function: Callable[[Any], Any], elements: Iterator[Any], threads: int) -> None:
        self._function = function
        self._elements: Iterator[Any] | None = elements
        self._ahead: deque[Future[Any]] = deque()
        self._most = 2 * threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="purerecord-map")
        weakref.finalize(self, self._pool.shutdown, wait=False, cancel_futures=True)

    def __next__(self) -> Any:
        while self._elements is not None and len(self._ahead) < self._most:
            try:
                self._ahead.append(self._pool.submit(self._function, next(self._elements)))
            except StopIteration:
                self._elements = None
            except Exception as error:  # its turn comes when those before it are taken
                failed: Future[Any] = Future()
                failed.set_exception(error)
                self._ahead.append(failed)
        if not self._ahead:
            self._pool.shutdown(wait=False)
            raise StopIteration
        return self._ahead.popleft().result()


class Tuned(Iterator[Any]):
    """``function`` of the elements, in threads if that pays.

    Threads of Python take turns, so they help only a function that spends its time elsewhere, in a decoder
    of pictures for instance. Such a function takes long: the first few calls tell.
    """

    def __init__(self, function: Callable[[Any], Any], elements: Iterator[Any]) -> None:
        self._function = function
        self._elements = elements
        self._results: Iterator[Any] | None = None
        self._left = _TRIALS
        self._quickest = float("inf")

    def __next__(self) -> Any:
        if self._results is not None:
            return next(self._results)
        element = next(self._elements)
        begin = time.perf_counter()
        result = self._function(element)
        self._quickest = min(self._quickest, time.perf_counter() - begin)
        self._left -= 1
        if not self._left:
            threads = os.cpu_count() or 1
            if self._quickest < _WORTHWHILE or threads == 1:
                self._results = map(self._function, self._elements)
            else:
                self._results = Parallel(self._function, self._elements, threads)
        return result


class _Feed(Cursor):
    """An iterator as a cursor of the core."""

    def __init__(self, elements: Iterator[Any]) -> None:
        self._elements = elements

    def take(self, count: int) -> list[Any]:
        return list(islice(self._elements, count))

    def state(self) -> None:
        return None

    def restore(self, state: Any) -> None:
        raise NotImplementedError


class Prefetched(Iterator[Any]):
    """The elements, fetched by a thread while those before are in use."""

    def __init__(self, elements: Iterator[Any], buffer_size: int) -> None:
        self._cursor = PrefetchCursor(_Feed(elements), Context(), buffer_size)

    def __next__(self) -> Any:
        for element in self._cursor.take(1):
            return element
        raise StopIteration

    def __del__(self) -> None:
        self._cursor.close()


def without_errors(elements: Iterator[Any]) -> Iterator[Any]:
    """Those elements that can be had."""
    while True:
        try:
            element = next(elements)
        except StopIteration:
            return
        except OpError:
            continue
        yield element
