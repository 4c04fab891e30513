"""``BufferPool``: memory to read into, lent again when nothing refers to its content any more.

Fresh memory is not free: at the first touch of each page the system clears it (a page fault), which takes as
long as reading a file into it. So a buffer is used again, but only if nothing refers to it: no records, no
view, no array made from it. This module does not know what is read.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.uint8]

# An array of up to four times this size serves any smaller request.
_SMALLEST_REQUEST = 1 << 20
_PAGE = 1 << 12  # bytes
# An array that is much too large is dropped after more than this many smaller requests in a row.
_KEPT_FOR_REQUESTS = 8


def _references(arrays: list[Array]) -> list[int]:
    """The reference count of each array, as seen from this function."""
    return [sys.getrefcount(array) for array in arrays]


def _count_unused() -> int | None:
    """The count that ``_references`` gives for an array in no other use; None if there are no such counts.

    The number depends on the interpreter and its compiler, so it is measured.
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


def is_referenced(arrays: list[Array]) -> list[bool]:
    """For each array, whether anything but the list refers to it; True if that cannot be found out."""
    if _UNUSED is None:
        return [True] * len(arrays)
    return [references != _UNUSED for references in _references(arrays)]


class BufferPool:
    """Two arrays in turn: a caller in a loop still holds the previous one."""

    def __init__(self) -> None:
        self._arrays: list[Array] = []
        self._unfit = 0  # requests in a row for which an array was much too large

    def lend(self, size: int, offset: int = 0) -> memoryview:
        """A view of ``size`` bytes that nothing else refers to, to read the file's bytes at ``offset`` into.

        The view has the same alignment in a memory page as these bytes in a page of the file. Otherwise the
        copy suffers from 4 KiB aliasing: the CPU compares only the lower bits of addresses, and takes a load
        a few bytes after a store for a conflict.
        """
        largest = 4 * max(size, _SMALLEST_REQUEST)
        self._unfit = self._unfit + 1 if any(array.size > largest for array in self._arrays) else 0
        if self._unfit > _KEPT_FOR_REQUESTS:
            # A buffer for one large record is not kept for many small ones.
            self._arrays = [array for array in self._arrays if array.size <= largest]
        for number, taken in enumerate(is_referenced(self._arrays)):
            if not taken and size + _PAGE <= self._arrays[number].size <= largest:
                return _part(self._arrays[number], size, offset)
        fresh = np.empty(size + size // 8 + _PAGE, np.uint8)
        self._arrays = [*self._arrays[-1:], fresh]
        return _part(fresh, size, offset)


def _part(array: Array, size: int, offset: int) -> memoryview:
    begin = (offset - array.ctypes.data) % _PAGE
    return array.data[begin : begin + size]
