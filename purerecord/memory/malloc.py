"""The heap of the C library, asked to keep what is freed, and to take memory in large pages.

Who handles batch after batch frees some megabytes and asks for as many again. glibc gives them back to the
system in between, and the system clears each page anew, which takes longer than filling it; unless it has
seen a block of that size come and go: then it keeps up to twice as much. What has to be cleared takes a
fraction of the time in pages of two megabytes, which numpy asks for where a large array is, and which stay
when it goes. So arrays are allocated here, and freed without ever being touched. Where memory is managed
by other rules, that has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

LARGE = 4 << 20  # bytes of an array for which numpy asks for large pages

_SEEN = (32 << 20) - (1 << 16)  # glibc draws no conclusions from larger ones
_PORTION = 24 << 20  # bytes; less than _SEEN, which would not be taken from the heap
_OBJECT = 48  # bytes that an object takes beside what it holds


@cache
def retain_freed_memory() -> None:
    """Have the memory of one batch used again for the next, from now on."""
    np.empty(_SEEN, np.uint8)


def in_batches_of_bytes(sizes: npt.NDArray[np.int64]) -> Iterator[slice]:
    """All of the objects that have these ``sizes``, some megabytes at a time; room for those to be made next
    is in large pages."""
    retain_freed_memory()
    ends = np.cumsum(sizes + _OBJECT)
    total = int(ends[-1]) if sizes.size else 0
    cuts = np.searchsorted(ends, np.arange(_PORTION, total, _PORTION)) + 1
    done = 0
    for low, high in pairwise([0, *sorted({*cuts.tolist()} - {sizes.size}), sizes.size]):
        if total >= LARGE:
            np.empty(int(ends[high - 1]) - done, np.uint8)
            done = int(ends[high - 1])
        yield slice(low, high)
