"""Finds the two maps of SequenceExamples, in all records at once: the context, and the feature lists.

A SequenceExample is a map of Features, then a map of FeatureLists. ``open_maps`` finds both. ``find_lists``
goes through the second one and finds the FeatureList of every name. Only the form that encoders write is
accepted: a record with anything else is odd, and takes the row decoder. This module does not know what
is inside of a Feature or a FeatureList.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..wire import MAX_TAG, read_size
from . import tuning
from .arrays import Ints, Mask, Octets
from .field_walk import begins_with, read_field
from .located import RecordBlock
from .long_entries import TWO_BYTES, read_value

_LONGEST_KEY = 127  # bytes: its length is a single byte
_U = np.uint64


class RowRanges(NamedTuple):
    """A range of bytes in each of some records, ``rows``."""

    rows: Ints
    begins: Ints
    ends: Ints

    def where(self, mask: Mask, odd: Mask | None = None) -> RowRanges:
        """Some of the ranges. Sets ``odd`` in the records of the others."""
        if np.count_nonzero(mask) == mask.size:
            return self
        if odd is not None:
            odd[self.rows[~mask]] = True
        return RowRanges(*(array[mask] for array in self))


class Maps(NamedTuple):
    """The maps of all records. The context, with its tag and length, is from the beginning of a record to
    ``context``. The content of the other map is from ``begins`` to ``ends``. An ``odd`` record has none."""

    context: Ints
    begins: Ints
    ends: Ints
    odd: Mask


def open_maps(block: RecordBlock) -> Maps:
    """The maps of all records. Either may be missing."""
    tags, _, end, valid = read_field(block.octets, block.begins, block.ends)
    valid &= tags == _U(0x0A)
    context = np.where(valid, end, block.begins)
    tags, begin, end, valid = read_field(block.octets, context, block.ends)
    valid &= tags == _U(0x12)
    valid &= end == block.ends
    begins = np.where(valid, begin, block.ends)
    odd = ~valid & (context < block.ends)
    return Maps(np.where(odd, block.begins, context), begins, block.ends, odd)


def find_lists(octets: Octets, maps: Maps) -> dict[bytes, RowRanges]:
    """The contents of the FeatureLists of every name. Sets ``maps.odd`` in records of an unusual form.

    What is returned for an odd record is arbitrary.
    """
    current = tuning.current
    few = current.least_lists_per_step
    found: dict[bytes, list[RowRanges]] = {}
    rare = rounds = 0
    rows = np.flatnonzero(maps.begins < maps.ends)
    cursor, stops = maps.begins[rows], maps.ends[rows]
    while rows.size:
        same_key = _read_same_key(octets, RowRanges(rows, cursor, stops))
        if same_key is not None:
            name, lists = same_key
            found.setdefault(name, []).append(lists)
            more = np.flatnonzero(lists.ends < stops)
            rows, cursor, stops = rows[more], lists.ends[more], stops[more]
            rounds += 1
            continue
        tags, begin, end, valid = read_field(octets, cursor, stops)
        valid &= tags == _U(0x0A)
        if rows.size < few <= rounds:
            valid[:] = False  # a few records that have many more lists than all others
        entries = RowRanges(rows, begin, end).where(valid, maps.odd)
        compared = 0
        for key, some, left in _by_key(octets, entries):
            rare += some.rows.size < few
            compared += left.rows.size
            if rare > current.most_rare_names or compared > current.most_names_per_entry * entries.rows.size:
                maps.odd[left.rows] = True
                break
            if key is None:
                maps.odd[some.rows] = True
            else:
                found.setdefault(key, []).append(_values(octets, some, len(key), maps.odd))
        on = ~maps.odd[entries.rows]
        on &= entries.ends < maps.ends[entries.rows]
        rows, cursor = entries.rows[on], entries.ends[on]
        stops = maps.ends[rows]
        rounds += 1
    return {key: _joined(parts, maps.odd) for key, parts in found.items()}


def _read_same_key(octets: Octets, left: RowRanges) -> tuple[bytes, RowRanges] | None:
    """The key of the next entries and their values, if all have one key and the usual form.

    ``left`` are these entries and all after them.
    """
    current = tuning.current
    if left.rows.size < current.least_lists_per_step or not current.uniform_list_keys:
        return None
    begin, end = int(left.begins[0]), int(left.ends[0])
    try:
        size, content = read_size(octets[begin : begin + MAX_TAG + 1].tobytes(), 1)
    except IndexError:
        return None
    key = _key(octets, begin + content, min(end, begin + content + size))
    if key is None or size >= TWO_BYTES:
        return None
    begins, ends, valid = read_value(octets, left.begins, left.ends, key)
    return (key, RowRanges(left.rows, begins, ends)) if valid.all() else None


def _by_key(octets: Octets, entries: RowRanges) -> Iterator[tuple[bytes | None, RowRanges, RowRanges]]:
    """The entries in groups of one key: (key, group, the group and all that are left).

    The key of an entry without a usual one is None. With most writers, all entries are one group.
    """
    while entries.rows.size:
        key = _key(octets, int(entries.begins[0]), int(entries.ends[0]))
        if key is None:
            same = np.arange(entries.rows.size) == 0
        else:
            same = begins_with(octets, entries.begins, bytes((0x0A, len(key))) + key)
        yield key, entries.where(same), entries
        if same.all():
            return
        entries = entries.where(~same)


def _key(octets: Octets, begin: int, end: int) -> bytes | None:
    """The key of the entry from ``begin`` to ``end``, if it begins with a short one that is UTF-8."""
    entry = octets[begin : min(end, begin + 2 + _LONGEST_KEY)].tobytes()
    key = entry[2 : 2 + entry[1]] if len(entry) > 1 else b""
    try:
        key.decode()
    except UnicodeDecodeError:
        return None
    return key if entry.startswith(bytes((0x0A, len(key)))) else None


def _values(octets: Octets, entries: RowRanges, key: int, odd: Mask) -> RowRanges:
    """The values of entries with keys of ``key`` bytes. Sets ``odd`` where an entry holds anything else."""
    tags, begin, end, valid = read_field(octets, entries.begins + (2 + key), entries.ends)
    valid &= tags == _U(0x12)
    valid &= end == entries.ends
    return RowRanges(entries.rows, begin, end).where(valid, odd)


def _joined(parts: list[RowRanges], odd: Mask) -> RowRanges:
    """The parts as one, in the order of the records. Sets ``odd`` in records that have a name twice."""
    if len(parts) == 1:
        return parts[0]
    whole = RowRanges(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    order = np.argsort(whole.rows, kind="stable")
    whole = RowRanges(*(array[order] for array in whole))
    odd[whole.rows[1:][whole.rows[1:] == whole.rows[:-1]]] = True
    return whole
