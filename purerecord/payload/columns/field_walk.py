"""Reads length-delimited fields, and walks along lists of them in many records at once.

A list is any sequence of such fields: the entries of a Features message, the strings of a BytesList, the
steps of a FeatureList. The length of a field says where the next one begins. ``walk`` moves one cursor per
list, all of them together, one field at a time. It trusts the lengths, but never leaves a list, whatever they
say. ``broken_lists`` then finds the lists whose fields do not follow one another up to the end.
This module does not know what the fields hold.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from . import tuning
from .arrays import Ints, Mask, Octets, Words, ranges_of, starts_of
from .values import gather_bytes, words_at
from .varint_words import decode_lengths

_U = np.uint64

# Where the fields of all lists begin, list after list, and how many each list has.
Places = tuple[Ints, Ints]
# Where lists begin and end.
Lists = tuple[Ints, Ints]


# --- Single fields ----------------------------------------------------------------------------------


def read_field(octets: Octets, cursor: Ints, ends: Ints) -> tuple[Words, Ints, Ints, Mask]:
    """The fields at ``cursor``: (tags, where their contents begin, where they end, which are valid).

    A field is valid if its length takes at most four bytes and it ends at or before ``ends``.
    """
    words = words_at(octets, cursor)
    size, width, valid = decode_lengths(words >> _U(8))
    begin = cursor + 1 + width
    end = begin + size
    valid &= end <= ends
    return words & _U(0xFF), begin, end, valid


def begins_with(octets: Octets, begins: Ints, expected: bytes) -> Mask:
    """Whether the bytes from each of ``begins`` on are the ``expected`` ones."""
    depth = -(-len(expected) // 8)
    words = gather_bytes(octets, 8 * depth, begins).view("<u8").reshape(begins.size, depth)
    masks = np.frombuffer((b"\xff" * len(expected)).ljust(8 * depth, b"\0"), "<u8")
    values = np.frombuffer(expected.ljust(8 * depth, b"\0"), "<u8")
    valid = np.ones(begins.size, bool)
    for k in range(depth):
        valid &= words[:, k] & masks[k] == values[k]
    return valid


def have_short_lengths(octets: Octets, places: Ints) -> Mask:
    """Whether the length of each field is a single byte."""
    return octets[1:].take(places, mode="clip") < 0x80


def field_ends(octets: Octets, places: Ints, stops: Ints) -> Ints:
    """Where the fields at ``places`` end by their lengths; past the buffer if a length is malformed.

    What is returned for places at or past ``stops`` is arbitrary, but not before them.
    """
    # Past the end of the buffer any length will do: such a field ends too late anyway.
    lengths = octets[1:].take(places, mode="clip")
    ends: Ints = places + lengths
    ends += 2
    if not lengths.tobytes().isascii():  # some lengths may take more than a byte
        longer = np.flatnonzero((lengths >= 0x80) & (places < stops))
        if longer.size:
            size, width, valid = decode_lengths(words_at(octets, places[longer] + 1))
            size[~valid] = octets.size
            ends[longer] = places[longer] + 1 + width + size
    return ends


# --- Lists of fields --------------------------------------------------------------------------------


class _Stage(NamedTuple):
    """The next fields of some ``lists``: ``places[k, i]`` for the first ``counts[i]`` values of ``k``."""

    lists: Ints
    places: Ints
    counts: Ints

    def in_order(self) -> Ints:
        """The places, list after list."""
        flat: Ints = self.places.T[np.arange(len(self.places)) < self.counts[:, None]]
        return flat


def walk(octets: Octets, begins: Ints, ends: Ints) -> Places:
    """Where all fields begin, list after list, and how many each list has.

    The walk stops early in a few lists that are much longer than all others: ``broken_lists`` finds them.
    """
    few = tuning.current.least_lists_per_step
    stages: list[_Stage] = []
    lists = np.flatnonzero(begins < ends)
    cursor, stops = begins[lists], ends[lists]
    while lists.size >= few or (lists.size and not stages):
        places, counts, cursor = _walk_on(octets, cursor, stops)
        stages.append(_Stage(lists, places, counts))
        on = np.flatnonzero(cursor < stops)
        lists, cursor, stops = lists[on], cursor[on], stops[on]
    return _in_order(stages, begins.size)


def _walk_on(octets: Octets, cursor: Ints, stops: Ints) -> tuple[Ints, Ints, Ints]:
    """Walk until all lists have ended, or most have; a few lists only for some steps: (places, counts,
    cursor)."""
    current = tuning.current
    groups: list[Ints] = []
    counts = np.zeros(cursor.size, np.int64)
    total = 0
    while True:
        steps = min(2 << len(groups), current.steps_between_checks)
        places = np.empty((steps + 1, cursor.size), np.int64)
        places[0] = cursor
        for here, there in pairwise(places):
            np.minimum(field_ends(octets, here, stops), stops, out=there)
        cursor = places[-1]
        groups.append(places[:-1])
        counts += np.add.reduce((groups[-1] < stops).view(np.int8), axis=0, dtype=np.int8)
        total += groups[-1].size
        few = cursor.size < current.least_lists_per_step and len(groups) > 2
        if few or 2 * int(counts.sum()) < total or not (cursor < stops).any():
            return np.concatenate(groups), counts, cursor


def _in_order(stages: list[_Stage], lists: int) -> Places:
    counts = np.zeros(lists, np.int64)
    for stage in stages:
        counts[stage.lists] += stage.counts
    if len(stages) == 1:
        return stages[0].in_order(), counts
    places = np.empty(int(counts.sum()), np.int64)
    nexts = starts_of(counts)
    for stage in stages:
        places[ranges_of(nexts[stage.lists], stage.counts)] = stage.in_order()
        nexts[stage.lists] += stage.counts
    return places, counts


def broken_lists(wrong: Mask, fields: Places, stops: Ints, lists: Lists) -> Mask:
    """Which lists have a ``wrong`` field, or a gap between their fields, or do not end with their last one.

    ``stops`` is where the fields end.
    """
    (places, counts), (begins, ends) = fields, lists
    broken: Mask = (counts == 0) & (begins < ends)
    filled = np.flatnonzero(counts)
    lasts = np.cumsum(counts)[filled] - 1
    broken[filled] = places[lasts + 1 - counts[filled]] != begins[filled]
    nexts = np.empty_like(places)
    nexts[:-1] = places[1:]
    nexts[lasts] = ends[filled]
    broken[owners_of(counts, wrong | (stops != nexts))] = True
    return broken


def owners_of(counts: Ints, fields: Mask) -> Ints:
    """The lists that have these fields."""
    return np.searchsorted(np.cumsum(counts), np.flatnonzero(fields), side="right")
