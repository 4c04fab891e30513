"""``encode_examples``: whole columns to serialized Examples, with no loop over records.

The sizes of everything are computed first; from them, where every byte goes; then each column is scattered
into one buffer: its header, which is the same for all records but for a few lengths, and its values. The
bytes are those that ``encode_example`` makes of each record. This module does not know files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ...errors import EncodeError
from ...memory.malloc import retain_freed_memory
from ...records import Records
from ..example import checked_name
from ..wire import MAX_SIZE
from .cells import as_cells
from .general_entry import AnyEntry, delimited_sizes, put_size
from .short_entry import ShortEntry, short_entry

Ints = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]
Entry = Union[ShortEntry, AnyEntry]


def encode_examples(columns: Mapping[str, Any]) -> Records:
    """The serialized Examples that hold ``columns``, one for each row.

    A column is an array of ``(n,)`` or ``(n, ...)``, a ``Ragged``, or a list of rows, each of them anything
    that ``encode_example`` takes; None in a list means that this record lacks the feature. A column is of
    one kind: as in one list, integers beside floats become floats, and must be exact then.

    >>> encode_examples({"id": np.arange(3), "name": ["a", "b", None]})
    <Records: 3 records, 51 bytes>
    """
    if not isinstance(columns, Mapping):
        raise TypeError(f"expected a mapping from names to columns, got {type(columns).__name__}")
    if not columns:
        raise EncodeError("without columns there is no telling how many records to make")
    retain_freed_memory()
    names = sorted(columns, key=lambda name: checked_name(name).encode())
    entries = [_entry(name, columns[name]) for name in names]
    count = entries[0].count
    for name, entry in zip(names, entries, strict=True):
        if entry.count != count:
            raise EncodeError(f"has {entry.count} rows, where {names[0]!r} has {count}", feature=name)
    features = np.full(count, sum(entry.fixed for entry in entries), np.int64)
    for entry in entries:
        if entry.varying is not None:
            features += entry.varying
    if int(features.max(initial=0)) > MAX_SIZE:
        reason = f"{features.max()} bytes do not fit into a message, which holds 2 GiB at most"
        raise EncodeError(reason, record=int(features.argmax()))
    lengths = delimited_sizes(features)
    ends = np.cumsum(lengths)
    begins = ends - lengths
    total = int(ends[-1]) if count else 0
    out = np.empty(total + max(entry.spill for entry in entries), np.uint8)
    _write(out, begins, ends - features, features, entries)
    return Records(out.data[:total].toreadonly(), begins, ends)


def _entry(name: str, column: Any) -> Entry:
    key, cells = name.encode(), as_cells(name, column)
    return short_entry(key, cells) or AnyEntry(key, cells)


def _write(out: Octets, begins: Ints, first: Ints, features: Ints, entries: Sequence[Entry]) -> None:
    """Write the records that begin at ``begins``, the first entry at ``first``, ``features`` bytes of them.

    An entry may write a few bytes behind its end if what belongs there is written later. So one entry comes
    last that does no such thing, and the others in the order in which they follow on it, round and round;
    none goes further than to the end of that one.
    """
    present = [number for number, entry in enumerate(entries) if entry.everywhere]
    last = min(present, key=lambda number: entries[number].spill, default=len(entries) - 1)
    room = entries[last].least if present else 0
    places = _places(first, entries)
    for number in (*range(last + 1, len(entries)), *range(last + 1)):
        if number == 0:
            put_size(out, begins, b"\x0a", features)
        at, offset = places[number]
        entries[number].write(out[offset:], at, room if number != last else 0)


def _places(first: Ints, entries: Sequence[Entry]) -> list[tuple[Ints, int]]:
    """Where each entry goes, if the first goes to ``first``: places, and what to add to all of them."""
    places = []
    offset = 0
    for entry in entries:
        places.append((first, offset))
        offset += entry.fixed
        if entry.varying is not None:
            first = first + entry.varying
    return places
