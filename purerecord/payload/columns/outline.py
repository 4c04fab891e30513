"""The outline of one record: which entries it has, read with plain Python.

``header_templates`` makes the templates for all records of a batch from outlines. This module reads a single
record and does not know that there are others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..wire import BYTES, FLOAT, INT64, UNSET, read_size
from . import tuning

FLOAT_SIZE = 4  # bytes
KINDS = {0x0A: BYTES, 0x12: FLOAT, 0x1A: INT64}  # by tag


class Entry(NamedTuple):
    """An entry of the feature map: its key, its kind, whether all its lengths are single bytes, and whether
    it holds exactly one float."""

    key: bytes
    kind: int
    short: bool
    one_float: bool


def outline(payload: bytes) -> tuple[Entry, ...] | None:
    """The entries of a serialized Example, in their order; None if it is not of the usual form.

    This reads only what it needs. Other faults show when the record is compared with its own outline.
    """
    entries: list[Entry] = []
    longest_key, most_entries = tuning.current.longest_key, tuning.current.most_entries
    try:
        if payload[0] != 0x0A:
            return None
        size, position = read_size(payload, 1)
        if position + size != len(payload):
            return None
        while position < len(payload):
            if payload[position] != 0x0A or len(entries) == most_entries:
                return None
            size, begin = read_size(payload, position + 1)
            position = begin + size
            entry = _entry(payload, begin, size, longest_key)
            if entry is None:
                return None
            entries.append(entry)
    except (IndexError, UnicodeDecodeError):
        return None
    return tuple(entries) if len({entry.key for entry in entries}) == len(entries) else None


def first_key(payload: bytes) -> bytes | None:
    """The key of the first entry of a serialized Example; None if it has no entry of the usual form."""
    try:
        _, begin = read_size(payload, 1)
        _, begin = read_size(payload, begin + 1)
        return payload[begin + 2 : begin + 2 + payload[begin + 1]]
    except IndexError:
        return None


def has_keys(payload: bytes, prefixes: Iterable[bytes]) -> bool:
    """Whether a serialized Example has exactly the entries with these prefixes, in this order."""
    try:
        _, position = read_size(payload, 1)
        for prefix in prefixes:
            size, begin = payload[position + 1], position + 2
            if size >= 0x80:
                size, begin = read_size(payload, position + 1)
            if not payload.startswith(prefix, begin):
                return False
            position = begin + size
    except IndexError:
        return False
    return position == len(payload)


def prefix_of(entry: Entry) -> bytes:
    """The bytes with which the content of an entry begins: its key as a field."""
    return bytes((0x0A, len(entry.key))) + entry.key


def common(one: tuple[Entry, ...], other: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Entries that describe both records; none unless both have the same keys in the same order."""
    if [entry.key for entry in one] != [entry.key for entry in other]:
        return ()
    return tuple(map(_common_entry, one, other))


def _common_entry(one: Entry, other: Entry) -> Entry:
    kind = one.kind if one.kind != UNSET else other.kind
    return Entry(one.key, kind, one.short and other.short, one.one_float and other.one_float)


def _entry(payload: bytes, begin: int, size: int, longest_key: int) -> Entry | None:
    """The entry whose content is ``size`` bytes from ``begin`` on."""
    middle = begin + 2 + payload[begin + 1]
    if payload[begin] != 0x0A or middle - begin - 2 > longest_key or payload[middle] != 0x12:
        return None
    key = payload[begin + 2 : middle]
    key.decode()
    rest, feature = read_size(payload, middle + 1)
    if rest == 0:
        return Entry(key, UNSET, False, False)
    kind = KINDS.get(payload[feature])
    if kind is None:
        return None
    short = rest >= 4 and size < 0x80 and payload[feature + 3] == rest - 4
    return Entry(key, kind, short, short and kind == FLOAT and rest == 4 + FLOAT_SIZE)
