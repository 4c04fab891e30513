"""The C library's allocator: makes it keep freed memory, and take new memory in large pages.

A program that handles batch after batch frees some megabytes and allocates as many again. In between, glibc
returns them to the system, and the system clears each page again, which takes longer than filling it. But
once glibc has freed a block of some size, it keeps up to twice that size. Clearing takes a fraction of the
time in pages of two megabytes. numpy asks for such pages for large arrays, and they remain after the array is
freed. So this module allocates arrays and frees them untouched. Under another allocator that has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

# numpy asks for large pages for arrays of at least this many bytes.
LARGE_PAGES_FROM = 4 << 20

# glibc adapts its thresholds to freed blocks up to 32 MiB.
_LARGEST_ADAPTED = (32 << 20) - (1 << 16)
# Bytes per batch; fewer than the above, so that the batch comes from memory that glibc kept.
_BATCH_BYTES = 24 << 20
# Bytes of a Python object beside its content.
_OBJECT_OVERHEAD = 48


@cache
def retain_freed_memory() -> None:
    """Make the allocator use the memory of one batch again for the next, from now on."""
    np.empty(_LARGEST_ADAPTED, np.uint8)


def in_batches_of_bytes(sizes: npt.NDArray[np.int64]) -> Iterator[slice]:
    """Slices of objects with these ``sizes``, some megabytes each; prepares large pages for each slice."""
    retain_freed_memory()
    ends = np.cumsum(sizes + _OBJECT_OVERHEAD)
    total = int(ends[-1]) if sizes.size else 0
    cuts = np.searchsorted(ends, np.arange(_BATCH_BYTES, total, _BATCH_BYTES)) + 1
    done = 0
    for low, high in pairwise([0, *sorted({*cuts.tolist()} - {sizes.size}), sizes.size]):
        if total >= LARGE_PAGES_FROM:
            np.empty(int(ends[high - 1]) - done, np.uint8)
            done = int(ends[high - 1])
        yield slice(low, high)
