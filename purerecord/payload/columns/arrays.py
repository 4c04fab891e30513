"""The array types of the column decoder, and the one index computation that all its modules share.

This module knows nothing of records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Octets = npt.NDArray[np.uint8]  # the bytes of a buffer
Words = npt.NDArray[np.uint64]  # eight bytes each, little-endian
Ints = npt.NDArray[np.int64]  # positions, sizes, counts, row numbers
Mask = npt.NDArray[np.bool_]
Kinds = npt.NDArray[np.int8]  # BYTES, FLOAT, INT64, UNSET or ABSENT
Values = npt.NDArray[Any]  # int64, float32, or objects that are ``bytes``


def starts_of(counts: Ints) -> Ints:
    """Where each group begins if groups of these ``counts`` follow one another."""
    starts: Ints = np.cumsum(counts)
    starts -= counts
    return starts


def ranges_of(starts: Ints, counts: Ints, step: int = 1) -> Ints:
    """All elements of all groups: ``counts[i]`` positions from ``starts[i]`` on, ``step`` apart."""
    positions = np.repeat(starts - step * starts_of(counts), counts)
    positions += np.arange(0, step * positions.size, step)
    return positions
