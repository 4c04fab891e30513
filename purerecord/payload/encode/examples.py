"""``encode_examples``: whole columns to serialized Examples, without a loop over the records.

The sizes of all entries are computed first, and from them the position of every entry. Then each column
writes its entries into one buffer: a header, which differs between records only in a few lengths, and the
values. The bytes are the same as those that ``encode_example`` makes of each record. This module does not
know files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ... import public
from ...errors import EncodeError
from ...memory.malloc import retain_freed_memory
from ...records import Records
from ..exact_floats import check_exact_column, is_exact
from ..example import checked_name
from ..wire import MAX_SIZE
from .cells import as_cells
from .general_entry import GeneralEntryWriter, delimited_sizes, write_size
from .short_entry import ShortEntryWriter, short_entry_writer

Ints = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]
EntryWriter = Union[ShortEntryWriter, GeneralEntryWriter]


@public
def encode_examples(columns: Mapping[str, Any], *, floats: str = "round") -> Records:
    """The serialized Examples that hold ``columns``, one for each row.

    A column is an array of ``(n,)`` or ``(n, ...)``, a ``Ragged``, or a list of rows. A row is any value
    that ``encode_example`` takes; None in a list means that this record lacks the feature, and so does a
    ``missing`` row of a ``Ragged``. All rows of a column are of one kind. Integers beside floats become
    floats, as in a single list; they must be exact as float32. ``floats`` is that of ``encode_example``.

    >>> encode_examples({"id": np.arange(3), "name": ["a", "b", None]})
    <Records: 3 records, 51 bytes>
    """
    if not isinstance(columns, Mapping):
        raise TypeError(f"expected a mapping from names to columns, got {type(columns).__name__}")
    if not columns:
        raise EncodeError("without columns there is no telling how many records to make")
    retain_freed_memory()
    names = sorted(columns, key=lambda name: checked_name(name).encode())
    writers = [_entry_writer(name, columns[name]) for name in names]
    if floats != "round" and is_exact(floats):
        for name in names:
            check_exact_column(columns[name], name)
    count = writers[0].count
    for name, writer in zip(names, writers, strict=True):
        if writer.count != count:
            raise EncodeError(f"has {writer.count} rows, where {names[0]!r} has {count}", feature=name)
    sizes = _features_sizes(count, writers)
    lengths = delimited_sizes(sizes)
    ends = np.cumsum(lengths)
    begins = ends - lengths
    total = int(ends[-1]) if count else 0
    out = np.empty(total + max(writer.spill for writer in writers), np.uint8)
    _write(writers, begins, ends, sizes, out)
    return Records(out.data[:total].toreadonly(), begins, ends)


def _entry_writer(name: str, column: Any) -> EntryWriter:
    key, cells = name.encode(), as_cells(name, column)
    return short_entry_writer(key, cells) or GeneralEntryWriter(key, cells)


def _features_sizes(count: int, writers: Sequence[EntryWriter]) -> Ints:
    """How many bytes all entries of each record take: the size of its message Features."""
    sizes = np.full(count, sum(writer.fixed_size for writer in writers), np.int64)
    for writer in writers:
        if writer.varying_size is not None:
            sizes += writer.varying_size
    if int(sizes.max(initial=0)) > MAX_SIZE:
        reason = f"{sizes.max()} bytes do not fit into a message, which holds 2 GiB at most"
        raise EncodeError(reason, record=int(sizes.argmax()))
    return sizes


def _write(writers: Sequence[EntryWriter], begins: Ints, ends: Ints, sizes: Ints, out: Octets) -> None:
    """Writes into ``out`` the records from ``begins`` to ``ends``, whose entries take ``sizes`` bytes.

    A short entry is written as a row of fixed width. In a record with little content, the row also covers
    up to ``spill`` bytes after the entry. That does no harm if the bytes there are written later. But each
    entry is followed by the next one, and the last entry of a record by the header of the next record: the
    columns form a ring. One column breaks the ring: it is written last and does not spill. The writing
    starts with the column after it. With the columns A, B and C, of which B is written last:

                   | header | A | B | C | header | A | B | C |
        1. C                        |C~~~~~~|            |C~~~~~~|      covers part of the next header
        2. header  | header |           | header |
        3. A                |A~~~~|              |A~~~~|                covers part of B
        4. B                    | B |                | B |              covers nothing else

    C is not written again after B. So no column may spill past the end of B: ``smallest``, the fewest bytes
    that B takes in any record, limits every spill.
    """
    candidates = [number for number, writer in enumerate(writers) if writer.in_every_record]
    last = min(candidates, key=lambda number: writers[number].spill, default=len(writers) - 1)
    spill_limit = writers[last].smallest if candidates else 0
    positions = _entry_positions(ends - sizes, writers)
    for number in (*range(last + 1, len(writers)), *range(last + 1)):
        if number == 0:
            write_size(begins, b"\x0a", sizes, out)
        at, offset = positions[number]
        writers[number].write(at, spill_limit if number != last else 0, out[offset:])


def _entry_positions(first: Ints, writers: Sequence[EntryWriter]) -> list[tuple[Ints, int]]:
    """The positions of each column's entries, if the first column begins at ``first``.

    They come as an array and a number to add to it: columns of fixed size share the array.
    """
    positions = []
    offset = 0
    for writer in writers:
        positions.append((first, offset))
        offset += writer.fixed_size
        if writer.varying_size is not None:
            first = first + writer.varying_size
    return positions
