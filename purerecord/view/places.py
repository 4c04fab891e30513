"""``Places``: where the records of a file are, in arrays that grow while other threads read them.

One thread adds. Readers see a prefix that never changes. This module does not read files.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]

_FIRST = 1 << 12


class Places:
    """The offsets of frames and the lengths of their payloads, in order."""

    def __init__(self) -> None:
        self._arrays = np.zeros((2, _FIRST), np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, offsets: Offsets, lengths: Offsets) -> None:
        """Add frames after the others."""
        count = self._count + len(offsets)
        if count > self._arrays.shape[1]:
            larger = np.zeros((2, max(count, 2 * self._arrays.shape[1])), np.int64)
            larger[:, : self._count] = self._arrays[:, : self._count]
            self._arrays = larger
        self._arrays[0, self._count : count] = offsets
        self._arrays[1, self._count : count] = lengths
        self._count = count

    def last(self) -> int:
        """The offset of the last frame; -1 without one."""
        return int(self._arrays[0, self._count - 1]) if self._count else -1

    def between(self, begin: int, end: int) -> tuple[Offsets, Offsets]:
        """The offsets and lengths of the frames from ``begin`` to ``end``."""
        end = min(end, self._count)
        arrays = self._arrays
        return arrays[0, begin:end], arrays[1, begin:end]

    def at_or_after(self, offset: int) -> int:
        """The number of the first frame that begins at ``offset`` or later."""
        return int(np.searchsorted(self._arrays[0, : self._count], offset))
