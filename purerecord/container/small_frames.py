"""``Sweep``: the payloads of many small frames, through one buffer that is used again and again.

Bytes handed out are copies anyway, so the buffer they come from need not be kept: it stays in the
processor's cache, and its CRCs can be checked where they lie. This goes on as long as all is well. Where it
is not, nothing is taken, and the ordinary way through ``FrameStream`` finds out why. This module does not
know what damage is.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import NamedTuple

import numpy as np

from ..storage.opened import Opened
from . import frames
from .checksum import LONGEST_IN_BATCH
from .frame_chain import frame_starts
from .frames import HEADER, OVERHEAD

_SIZE = 1 << 22  # bytes: enough to find frames fast, and not too much for the cache of a processor
_LEAST = 1 << 19  # which is read where large frames are among the small ones, and much was read in vain
_FEW = 16  # frames: fewer are not worth it


class Swept(NamedTuple):
    """Payloads, to be used before the next are taken: how many, and how many bytes their frames have."""

    payloads: Iterator[bytes]
    records: int
    size: int


class Sweep:
    """Takes payloads from files in which one can go back."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._reach = size  # bytes to be read next
        self._memory = BytesIO(bytes(size))
        self._view = self._memory.getbuffer()

    def __del__(self) -> None:
        # In a cycle of references, Python 3.13 may clear the memory first, which must not be viewed then.
        self._view.release()

    def take(self, opened: Opened) -> Swept | None:
        """The small frames that come next; None if these are few or unsound, and the file is left there."""
        view = self._view[: self._reach]
        got = opened.readinto(view)
        starts = frame_starts(view, 0, got)
        sizes = np.diff(starts)
        large = np.flatnonzero(sizes > LONGEST_IN_BATCH + OVERHEAD)
        if large.size:
            starts, sizes = starts[: large[0] + 1], sizes[: large[0]]
        vain = 2 * int(starts[-1]) < got
        self._reach = min(self.size, max(self._reach // 2, _LEAST) if vain else 2 * self._reach)
        if sizes.size < _FEW or not frames.all_crcs_match_destructive(starts, self._view):
            opened.rewind(got)
            return None
        stop = int(starts[-1])
        if got > stop:
            opened.rewind(got - stop)
        # Reading forward, gap by gap and record by record, takes half the time that slicing does.
        steps = np.full(2 * sizes.size, OVERHEAD)
        steps[0] = HEADER
        np.subtract(sizes, OVERHEAD, out=steps[1::2])
        self._memory.seek(0)
        return Swept(islice(map(self._memory.read, steps.tolist()), 1, None, 2), sizes.size, stop)


def sweep_for(size: int, before: Sweep | None = None) -> Sweep:
    """One for ``size`` bytes that are left of a file: that of the file ``before``, unless it is too small."""
    size = min(size, _SIZE)
    return Sweep(size) if before is None or before.size < size else before
