"""``BufferPool``: room to read into, used again when nobody can see any more what was in it.

Fresh memory is not free: the system clears it, page by page, when it is first touched, and that takes as
long as reading a file into it. So what was read into before is used again, but only when nothing refers to
it: no records, no view, no array made from it. This module does not know what is read.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.uint8]

_LITTLE = 1 << 20
_PAGE = 1 << 12  # bytes
_PATIENCE = 8  # times that less is asked for, before what is much too large is given up


def _references(arrays: list[Array]) -> list[int]:
    """How often each array is referred to, as far as can be seen from here."""
    return [sys.getrefcount(array) for array in arrays]


def _count_unused() -> int | None:
    """What that is for an array that only the list refers to; None where references are not counted.

    How many are seen depends on the interpreter, and on what compiles it: so it is found out, not known.
    """
    if not hasattr(sys, "getrefcount"):
        return None
    (unused,) = _references([np.empty(1, np.uint8)])
    array = np.empty(1, np.uint8)
    view = array.data[:]
    arrays = [array]
    del array
    (used,) = _references(arrays)
    return unused if used > unused and len(view) else None


_UNUSED = _count_unused()


def seen(arrays: list[Array]) -> list[bool]:
    """Which arrays something else than the list refers to; all of them, where that cannot be found out."""
    if _UNUSED is None:
        return [True] * len(arrays)
    return [references != _UNUSED for references in _references(arrays)]


class BufferPool:
    """Two arrays in turn: a caller who loops still holds what was read before."""

    def __init__(self) -> None:
        self._arrays: list[Array] = []
        self._unfit = 0  # how often in a row an array was too large

    def lend(self, size: int, offset: int = 0) -> memoryview:
        """A view of ``size`` bytes that nobody else can see, for what is at ``offset`` of a file.

        It lies in a page of memory as that does in a page of the file: to a processor, which compares the
        lower bits of addresses, a copy to a place a few bytes further on looks as if it were in its own way.
        """
        largest = 4 * max(size, _LITTLE)
        self._unfit = self._unfit + 1 if any(array.size > largest for array in self._arrays) else 0
        if self._unfit > _PATIENCE:
            # What was needed once, for one large record, is not kept for many small ones.
            self._arrays = [array for array in self._arrays if array.size <= largest]
        for number, taken in enumerate(seen(self._arrays)):
            if not taken and size + _PAGE <= self._arrays[number].size <= largest:
                return _part(self._arrays[number], size, offset)
        fresh = np.empty(size + size // 8 + _PAGE, np.uint8)
        self._arrays = [*self._arrays[-1:], fresh]
        return _part(fresh, size, offset)


def _part(array: Array, size: int, offset: int) -> memoryview:
    begin = (offset - array.ctypes.data) % _PAGE
    return array.data[begin : begin + size]
