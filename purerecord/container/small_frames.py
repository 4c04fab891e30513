"""``SmallFrameReader``: the payloads of many small frames, read through one buffer that is used again.

The payloads handed out are copies, so the buffer need not be kept. It stays in the CPU cache, and its CRCs
are checked in place. The reader only takes frames that are sound: otherwise it takes nothing, and
``FrameStream`` finds out why. This module does not know what damage is.
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

# Enough bytes to find frames fast, and few enough for a CPU cache.
_BUFFER_SIZE = 1 << 22
# A read shrinks to this size if large frames among the small ones make most of its bytes useless.
_REDUCED_READ = 1 << 19
# Fewer frames than this are not worth the fast path.
_FEWEST_FRAMES = 16


class SmallPayloads(NamedTuple):
    """Some payloads, valid until the next read; their number, and the size of their frames in bytes."""

    payloads: Iterator[bytes]
    records: int
    size: int


class SmallFrameReader:
    """Reads payloads from files that can rewind."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._read_size = size  # bytes of the next read
        self._memory = BytesIO(bytes(size))
        self._view = self._memory.getbuffer()

    def __del__(self) -> None:
        # In a cycle of references, Python 3.13 may clear the memory first, which fails while a view exists.
        if hasattr(self, "_view"):  # __init__ was not interrupted
            self._view.release()

    def read(self, opened: Opened, max_length: int | None = None) -> SmallPayloads | None:
        """The next small frames; None, with ``opened`` left where it was, if they are few or unsound.

        They end before a payload that is longer than ``max_length``.
        """
        longest = LONGEST_IN_BATCH if max_length is None else min(LONGEST_IN_BATCH, max_length)
        view = self._view[: self._read_size]
        got = opened.readinto(view)
        starts = frame_starts(view, 0, got)
        sizes = np.diff(starts)
        large = np.flatnonzero(sizes > longest + OVERHEAD)
        if large.size:
            starts, sizes = starts[: large[0] + 1], sizes[: large[0]]
        mostly_useless = 2 * int(starts[-1]) < got
        self._read_size = min(
            self.size, max(self._read_size // 2, _REDUCED_READ) if mostly_useless else 2 * self._read_size
        )
        if sizes.size < _FEWEST_FRAMES or not frames.all_crcs_match_destructive(starts, self._view):
            opened.rewind(got)
            return None
        stop = int(starts[-1])
        if got > stop:
            opened.rewind(got - stop)
        # Reading a stream forward, gap by gap and record by record, takes half the time of slicing.
        steps = np.full(2 * sizes.size, OVERHEAD)
        steps[0] = HEADER
        np.subtract(sizes, OVERHEAD, out=steps[1::2])
        self._memory.seek(0)
        return SmallPayloads(islice(map(self._memory.read, steps.tolist()), 1, None, 2), sizes.size, stop)


def small_frame_reader(remaining: int, previous: SmallFrameReader | None = None) -> SmallFrameReader:
    """A reader for the ``remaining`` bytes of a file: ``previous``, unless its buffer is too small."""
    size = min(remaining, _BUFFER_SIZE)
    return SmallFrameReader(size) if previous is None or previous.size < size else previous
