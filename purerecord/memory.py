"""``Memory``: room to read into, used again when nobody can see any more what was in it.

Fresh memory is not free: the system clears it, page by page, when it is first touched, and that takes as
long as reading a file into it. So what was read into before is used again, but only when nothing refers to
it: no records, no view, no array made from it. This module does not know what is read.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

# Of an array that only a list here refers to, while it is being asked about in a loop.
_UNUSED = 3


class Memory:
    """Two arrays in turn: a caller who loops still holds what was read before."""

    def __init__(self) -> None:
        self._arrays: list[npt.NDArray[np.uint8]] = []

    def room(self, size: int) -> memoryview:
        """A view of ``size`` bytes that nobody else can see."""
        if hasattr(sys, "getrefcount"):
            for array in self._arrays:
                if array.size >= size and sys.getrefcount(array) == _UNUSED:
                    return array.data[:size]
        fresh = np.empty(size + size // 8, np.uint8)
        self._arrays = [*self._arrays[-1:], fresh]
        return fresh.data[:size]
