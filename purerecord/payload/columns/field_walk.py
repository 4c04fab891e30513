"""From step to step: where the steps of many lists are, all lists at once.

A step is a delimited field, so its length says where the next one is. ``walk`` goes along all lists
together, one step of each at a time. It trusts the lengths, and stays inside of the lists whatever these say;
whether steps are well-formed, and whether the last one ends where its list does, is for others to find out.
This module does not know what is in a step.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from . import tuning
from .long_entries import field
from .varint_words import Ints, Mask, Octets

# From steps, to where the next ones begin; from a list's end, to the same.
Advance = Callable[[Ints, Ints, Ints], None]


def are_short(octets: Octets, places: Ints) -> Mask:
    """Of which steps is the length a single byte?"""
    return octets[1:].take(places, mode="clip") < 0x80


def by_a_byte(octets: Octets) -> Advance:
    lengths = octets[1:]

    def advance(cursor: Ints, ends: Ints, out: Ints) -> None:
        np.add(cursor, lengths.take(cursor, mode="clip"), out=out)
        out += 2
        np.minimum(out, ends, out=out)

    return advance


def by_a_field(octets: Octets) -> Advance:
    def advance(cursor: Ints, ends: Ints, out: Ints) -> None:
        np.minimum(field(octets, cursor, ends)[2], ends, out=out)

    return advance


class _Stage(NamedTuple):
    """Where some lists have their next steps: ``cells[k, i]``, for the first ``counts[i]`` of these."""

    lists: Ints
    cells: Ints
    counts: Ints

    def places(self) -> Ints:
        """One list behind the other."""
        places: Ints = self.cells.T[np.arange(len(self.cells)) < self.counts[:, None]]
        return places


def walk(begins: Ints, ends: Ints, advance: Advance) -> tuple[Ints, Ints]:
    """Where all steps begin, one list behind the other, and how many each list has.

    Few lists that are much longer than all others are left somewhere before their ends.
    """
    few = tuning.current.least_lists_per_step
    stages: list[_Stage] = []
    lists = np.flatnonzero(begins < ends)
    cursor, stops = begins[lists], ends[lists]
    while lists.size >= few or (lists.size and not stages):
        cells, counts, cursor = _walk_on(cursor, stops, advance)
        stages.append(_Stage(lists, cells, counts))
        on = np.flatnonzero(cursor < stops)
        lists, cursor, stops = lists[on], cursor[on], stops[on]
    return _in_order(stages, begins.size)


def _walk_on(cursor: Ints, stops: Ints, advance: Advance) -> tuple[Ints, Ints, Ints]:
    """Go on until all lists are at their ends, or too many have been waiting there for the others; or if it
    is few lists, for some rounds: (cells, counts, cursor)."""
    current = tuning.current
    groups: list[Ints] = []
    counts = np.zeros(cursor.size, np.int64)
    total = 0
    while True:
        rounds = min(2 << len(groups), current.steps_between_checks)
        cells = np.empty((rounds + 1, cursor.size), np.int64)
        cells[0] = cursor
        for here, there in pairwise(cells):
            advance(here, stops, there)
        cursor = cells[-1]
        groups.append(cells[:-1])
        counts += np.add.reduce((groups[-1] < stops).view(np.int8), axis=0, dtype=np.int8)
        total += groups[-1].size
        few = cursor.size < current.least_lists_per_step and len(groups) > 2
        if few or 2 * int(counts.sum()) < total or not (cursor < stops).any():
            return np.concatenate(groups), counts, cursor


def _in_order(stages: list[_Stage], lists: int) -> tuple[Ints, Ints]:
    counts = np.zeros(lists, np.int64)
    for stage in stages:
        counts[stage.lists] += stage.counts
    if len(stages) == 1:
        return stages[0].places(), counts
    places = np.empty(int(counts.sum()), np.int64)
    nexts = np.cumsum(counts) - counts
    for stage in stages:
        own = np.cumsum(stage.counts) - stage.counts
        where = np.repeat(nexts[stage.lists] - own, stage.counts)
        where += np.arange(where.size)
        places[where] = stage.places()
        nexts[stage.lists] += stage.counts
    return places, counts
