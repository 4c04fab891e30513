"""The generators that random operations draw from: those of the process, and those of one function.

An operation that runs by itself shares one sequence with all operations of the same ``seed``, as in
TensorFlow. In TensorFlow a function that a dataset calls is a graph: each operation in it has its own
sequence, so two operations with one seed draw the same numbers, and an image and its mask are flipped
together. Nothing is traced here. An operation in a function is recognised by the number of operations with
its seed that were called before it.

The generators of the process are state of the whole process; only ``purerecord.tf`` uses them. This module
knows neither datasets nor distributions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any

import numpy as np

_lock = threading.Lock()
_global_seed: int | None = None
_restarts = 0  # calls of ``set_seed``
_generators: dict[int | None, np.random.Generator] = {}

# The function (or the branch or loop body) in which a generator is asked for, and its operations so far.
_Place = tuple[int, ...]


class Operations:
    """The sequences of the random operations in one function. Several threads may call the function."""

    def __init__(self, seed: int | None) -> None:
        """``seed`` is the global seed of the time when the function was given."""
        self.seed = seed
        self._generators: dict[tuple[_Place, int | None, int], np.random.Generator] = {}

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """``function(*arguments)``, with these sequences for its operations."""
        return _Call(self, ()).run(function, *arguments)

    def generator(self, place: _Place, own: int | None, number: int) -> np.random.Generator:
        """The generator of the operation with the seed ``own`` that is the ``number``-th one at its place."""
        with _lock:
            key = (place, own, number)
            if key not in self._generators:
                self._generators[key] = _new_generator(self.seed, own, number)
            return self._generators[key]


class _Call:
    """One call of a function. It counts the operations with each seed, and the conditions and loops."""

    def __init__(self, operations: Operations, place: _Place) -> None:
        self.operations = operations
        self.place = place
        self._counts: dict[int | None, int] = {}
        self._bodies = 0

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        outer, _thread.call = _thread.call, self
        try:
            return function(*arguments)
        finally:
            _thread.call = outer

    def generator(self, own: int | None) -> np.random.Generator:
        number = self._counts.get(own, 0)
        self._counts[own] = number + 1
        return self.operations.generator(self.place, own, number)

    def next_body(self) -> _Place:
        self._bodies += 1
        return (*self.place, self._bodies)


class _Thread(threading.local):
    call: _Call | None = None


_thread = _Thread()


def bodies(*functions: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The branches of a condition or the body of a loop: its operations are the same ones at every call."""
    outer = _thread.call
    if outer is None:
        return [*functions]
    place = outer.next_body()
    return [
        partial(_run_body, outer.operations, (*place, number), function)
        for number, function in enumerate(functions)
    ]


def _run_body(operations: Operations, place: _Place, function: Callable[..., Any], *arguments: Any) -> Any:
    return _Call(operations, place).run(function, *arguments)


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as ``tf.function`` makes it: with sequences of its own, which ``set_seed`` restarts."""
    operations: Operations | None = None
    restarts = 0

    @wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        nonlocal operations, restarts
        if _thread.call is not None:
            return function(*arguments, **named)
        if operations is None or restarts != _restarts:
            operations = Operations(_global_seed if operations is None else operations.seed)
            restarts = _restarts
        return operations.call(partial(function, **named), *arguments)

    return run


@contextmanager
def eager() -> Iterator[None]:
    """A context manager: operations draw from the sequences of the process, as in ``tf.py_function``."""
    outer, _thread.call = _thread.call, None
    try:
        yield
    finally:
        _thread.call = outer


def global_seed() -> int | None:
    """The seed that ``set_seed`` was given."""
    return _global_seed


def set_seed(seed: Any) -> None:
    """Restarts all sequences from this global seed; None makes them unpredictable."""
    global _global_seed, _restarts  # noqa: PLW0603 - the global seed of TensorFlow
    with _lock:
        _restarts += 1
        _global_seed = None if seed is None else int(seed)
        _generators.clear()


def generator(seed: Any = None) -> np.random.Generator:
    """The generator of one operation with this ``seed``. An operation asks for it once."""
    own = None if seed is None else int(seed)
    call = _thread.call
    if call is not None and (own is not None or call.operations.seed is not None):
        return call.generator(own)
    with _lock:
        if own not in _generators:
            _generators[own] = _new_generator(_global_seed, own, 0)
        return _generators[own]


def _new_generator(global_seed: int | None, own: int | None, number: int) -> np.random.Generator:
    """A generator at its beginning. ``number`` tells operations apart that have no seed of their own."""
    entropy = [number & (2**64 - 1) for number in (global_seed, own) if number is not None]
    if not entropy:
        return np.random.default_rng()
    # A global seed of 5 must not give the numbers of an operation seed of 5.
    kind = (global_seed is not None) * 2 + (own is not None)
    return np.random.default_rng([kind, *entropy, *([number] if own is None and number else [])])


def shuffle_seed(seed: Any = None) -> str:
    """The seed of a shuffle: from ``seed`` and the global seed, or a new random one if ``seed`` is None."""
    return f"{int(generator().integers(2**31))}" if seed is None else f"{_global_seed} {int(seed)}"
