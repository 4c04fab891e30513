"""The heap of the C library, asked to keep what is freed for what is needed next.

Who handles batch after batch frees some megabytes and asks for as many again. glibc gives them back to the
system in between, and the system clears each page anew, which takes longer than filling it; unless it has
seen a block of that size come and go: then it keeps up to twice as much. So one is allocated here, and freed
without ever being touched. Where memory is managed by other rules, that has no effect.
"""

from __future__ import annotations

from functools import cache

import numpy as np

_SEEN = (32 << 20) - (1 << 16)  # glibc draws no conclusions from larger ones


@cache
def keep_freed() -> None:
    """Have the memory of one batch used again for the next, from now on."""
    np.empty(_SEEN, np.uint8)
