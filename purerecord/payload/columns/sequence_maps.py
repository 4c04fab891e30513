"""The two maps of SequenceExamples in lock-step: where the context is, and where the feature lists are.

A SequenceExample is a map of Features, then a map of FeatureLists. ``open_maps`` finds both, ``find_lists``
goes through the second one, in all records at once, and finds the FeatureList of every name. Only the form
that encoders write is accepted; a record with anything else is odd, and for the row decoder. This module
does not know what is inside of a Feature or of a FeatureList.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..wire import MAX_TAG
from . import tuning
from .located import Block
from .long_entries import TWO_BYTES, field, matches, read_value
from .outline import read_size
from .varint_words import Ints, Mask, Octets

_LONG_KEY = 127  # bytes
_U = np.uint64


class Spans(NamedTuple):
    """A part of some records, ``rows``, and where it is in each of them."""

    rows: Ints
    begins: Ints
    ends: Ints

    def where(self, mask: Mask, odd: Mask | None = None) -> Spans:
        """Some of them; mark the records of the others as ``odd``."""
        if np.count_nonzero(mask) == mask.size:
            return self
        if odd is not None:
            odd[self.rows[~mask]] = True
        return Spans(*(array[mask] for array in self))


class Maps(NamedTuple):
    """The maps of all records. The context is from the beginning of a record to ``context``, tag and all; the
    content of the other map is from ``begins`` to ``ends``. In a record that is ``odd``, nothing is there."""

    context: Ints
    begins: Ints
    ends: Ints
    odd: Mask


def open_maps(block: Block) -> Maps:
    """The maps of all records: either may be missing."""
    tags, _, end, valid = field(block.octets, block.begins, block.ends)
    valid &= tags == _U(0x0A)
    context = np.where(valid, end, block.begins)
    tags, begin, end, valid = field(block.octets, context, block.ends)
    valid &= tags == _U(0x12)
    valid &= end == block.ends
    begins = np.where(valid, begin, block.ends)
    odd = ~valid & (context < block.ends)
    return Maps(np.where(odd, block.begins, context), begins, block.ends, odd)


def find_lists(octets: Octets, maps: Maps) -> dict[bytes, Spans]:
    """The contents of the FeatureLists of every name. Records turn out to be odd on the way: they are
    marked, and what is found in them means nothing."""
    current = tuning.current
    few = current.least_lists_per_step
    found: dict[bytes, list[Spans]] = {}
    rare = 0
    rows = np.flatnonzero(maps.begins < maps.ends)
    cursor, stops = maps.begins[rows], maps.ends[rows]
    rounds = 0
    while rows.size:
        usual = _usual(octets, Spans(rows, cursor, stops))
        if usual is not None:
            name, spans = usual
            found.setdefault(name, []).append(spans)
            more = np.flatnonzero(spans.ends < stops)
            rows, cursor, stops = rows[more], spans.ends[more], stops[more]
            rounds += 1
            continue
        tags, begin, end, valid = field(octets, cursor, stops)
        valid &= tags == _U(0x0A)
        if rows.size < few <= rounds:
            valid[:] = False  # few records that have many more lists than all others
        entries = Spans(rows, begin, end).where(valid, maps.odd)
        looks = 0
        for key, some, left in _by_key(octets, entries):
            rare += some.rows.size < few
            looks += left.rows.size
            if rare > current.most_rare_names or looks > current.most_names_per_entry * entries.rows.size:
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
    return {key: _joined(pieces, maps.odd) for key, pieces in found.items()}


def _usual(octets: Octets, left: Spans) -> tuple[bytes, Spans] | None:
    """The key of the next entries, and what they hold, if all are of one key, and of the usual form.

    ``left`` are these and all entries behind them.
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
    return (key, Spans(left.rows, begins, ends)) if valid.all() else None


def _by_key(octets: Octets, entries: Spans) -> Iterator[tuple[bytes | None, Spans, Spans]]:
    """The entries in groups of one key each: (key, group, this and all that are left); None for an entry
    without a usual key. Of most writers, all entries are one group."""
    while entries.rows.size:
        key = _key(octets, int(entries.begins[0]), int(entries.ends[0]))
        if key is None:
            same = np.arange(entries.rows.size) == 0
        else:
            same = matches(octets, entries.begins, bytes((0x0A, len(key))) + key)
        yield key, entries.where(same), entries
        if same.all():
            return
        entries = entries.where(~same)


def _key(octets: Octets, begin: int, end: int) -> bytes | None:
    """The key of the entry from ``begin`` to ``end``, if it begins with one that is short and a name."""
    entry = octets[begin : min(end, begin + 2 + _LONG_KEY)].tobytes()
    key = entry[2 : 2 + entry[1]] if len(entry) > 1 else b""
    try:
        key.decode()
    except UnicodeDecodeError:
        return None
    return key if entry.startswith(bytes((0x0A, len(key)))) else None


def _values(octets: Octets, entries: Spans, key: int, odd: Mask) -> Spans:
    """What the entries hold behind keys of ``key`` bytes, if that is one value, no more."""
    tags, begin, end, valid = field(octets, entries.begins + (2 + key), entries.ends)
    valid &= tags == _U(0x12)
    valid &= end == entries.ends
    return Spans(entries.rows, begin, end).where(valid, odd)


def _joined(pieces: list[Spans], odd: Mask) -> Spans:
    """The pieces as one, in the order of the records; who has the same name twice is odd."""
    if len(pieces) == 1:
        return pieces[0]
    whole = Spans(*(np.concatenate(arrays) for arrays in zip(*pieces, strict=True)))
    order = np.argsort(whole.rows, kind="stable")
    whole = Spans(*(array[order] for array in whole))
    odd[whole.rows[1:][whole.rows[1:] == whole.rows[:-1]]] = True
    return whole
