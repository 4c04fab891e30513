"""``copy_ranges``: copies many byte ranges from one buffer to another, without a loop over the ranges.

A fancy index moves elements of one width, and costs the same per element for 4 bytes or for 40. A range of w
to 2w bytes is two overlapping elements: its first w bytes and its last w. So a few widths, each half of the
one before, cover ranges of any length, and no other byte is touched. This module does not know what the bytes
mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]

# From this mean length on, a loop over the ranges costs little beside the copying.
_LOOP_MEAN = 2048


def elements(octets: Octets, width: int) -> npt.NDArray[np.void]:
    """``octets`` as overlapping elements of ``width`` bytes, one beginning at each byte."""
    view: npt.NDArray[np.void] = np.ndarray(
        max(0, octets.size - width + 1), f"V{width}", octets, strides=(1,)
    )
    return view


def copy_ranges(
    source: Any, begins: Ints, target: Octets, places: Ints, lengths: Ints, *, slack: int = 0
) -> None:
    """Copy ``lengths[i]`` bytes at ``begins[i]`` of ``source`` to ``places[i]`` of ``target``, for all i.

    The ranges in ``target`` must not overlap, each with the ``slack`` bytes after it, which may be
    overwritten. Ranges that are long on average are copied one by one, without a temporary copy.
    """
    octets = np.frombuffer(source, np.uint8)
    if not len(lengths):
        return
    if int(lengths.sum()) >= _LOOP_MEAN * len(lengths):
        there, here = target.data, octets.data
        for begin, place, length in zip(begins.tolist(), places.tolist(), lengths.tolist(), strict=True):
            there[place : place + length] = here[begin : begin + length]
        return
    longest = int(lengths.max())
    if 0 < longest - int(lengths.min()) <= slack:
        whole = begins <= octets.size - longest  # the others would read past the end of the source
        elements(target, longest)[places[whole]] = elements(octets, longest)[begins[whole]]
        begins, places, lengths = begins[~whole], places[~whole], lengths[~whole]
    _copy_exactly(octets, begins, target, places, lengths)


def _copy_exactly(octets: Octets, begins: Ints, target: Octets, places: Ints, lengths: Ints) -> None:
    longest = int(lengths.max(initial=0))
    while longest:
        shortest, width = int(lengths.min()), (longest + 1) // 2
        shorter = None
        if shortest < width:
            shorter = np.flatnonzero(lengths < width)
            here = np.flatnonzero(lengths >= width)
            rest = begins[shorter], places[shorter], lengths[shorter]
            begins, places, lengths = begins[here], places[here], lengths[here]
        elif shortest == longest:
            width = longest
        found, slots = elements(octets, width), elements(target, width)
        slots[places] = found[begins]
        if width < longest:
            back = lengths - width
            slots[places + back] = found[begins + back]
        if shorter is None:
            return
        begins, places, lengths = rest
        longest = int(lengths.max())
