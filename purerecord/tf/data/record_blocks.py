"""Records are taken some at a time before a function gets them, so that they can be parsed together.

Which elements come, in which order, and where an error is raised stays the same: only datasets whose
elements are records as they lie in files are read ahead. ``_values.rows`` says how parsing uses the blocks.
This module does not know what a record holds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from .._values.rows import Block, RecordTensor
from .iterators import Failure

# The records of a block: few at first, for a program that takes only some elements.
_FIRST_SIZE, _LARGEST_SIZE = 16, 256
# The bytes of a block. Records larger than the second number gain nothing from a block.
_MOST_BYTES, _LARGEST_RECORD = 1 << 20, 1 << 14


class RecordBlocks(Iterator[Any]):
    """The elements of a dataset; those that are records are told their blocks."""

    def __init__(self, elements: Iterator[Any]) -> None:
        self._elements = elements
        self._ready: deque[Any] = deque()  # elements and failures; a StopIteration is the end
        self._size = _FIRST_SIZE
        # A program may still be busy with the block before the current one, in threads, say.
        self._current: Block | None = None
        self._before: Block | None = None

    def __next__(self) -> Any:
        if not self._ready:
            self._take()
        event = self._ready.popleft()
        if isinstance(event, Failure):
            raise event.error
        return event

    def _take(self) -> None:
        """Have at least one event ready."""
        element = next(self._elements)
        self._ready.append(element)
        records: list[RecordTensor] = []
        size = 0
        while type(element) is RecordTensor and len(element._bytes) <= _LARGEST_RECORD:
            records.append(element)
            size += len(element._bytes)
            if len(records) == self._size or size > _MOST_BYTES:
                break
            try:
                element = next(self._elements)
            except Exception as error:  # StopIteration, too
                self._ready.append(Failure(error))
                break
            self._ready.append(element)
        if len(records) > 1:
            self._size = min(4 * self._size, _LARGEST_SIZE)
            self._release(self._before)
            self._before, self._current = self._current, Block(records)

    def _release(self, block: Block | None) -> None:
        if block is not None:
            block.release()

    def __del__(self) -> None:
        self._release(self._before)
        self._release(self._current)
