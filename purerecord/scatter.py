"""``encode_examples``: whole columns to serialized Examples, with no loop over records.

The sizes of everything are computed first; from them, where every byte goes; then each column is scattered
into one buffer: its header, which is the same for all records but for a few lengths, and its values. The
bytes are those that ``encode_example`` makes of each record. This module does not know files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .cells import Cells, as_cells
from .errors import EncodeError
from .example import checked_name
from .records import Records
from .varint import varint
from .wire import ABSENT, BYTES, FLOAT, INT64, MAX_SIZE

Ints = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]

_LIMITS = np.array([1 << (7 * i) for i in range(1, 10)], np.uint64)
_SPILL = 8
# For a varint of so many bytes: the bits that say "more follows".
_MORE = np.array([0, *((1 << 8 * (size - 1)) - 1 for size in range(1, 9))], np.uint64)
# Strings of this mean length are copied one by one, shorter ones all bytes at once.
_LONG = 48


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
    names = sorted(columns, key=lambda name: checked_name(name).encode())
    entries = [_Entry(name, as_cells(name, columns[name])) for name in names]
    count = len(entries[0].sizes)
    for entry in entries:
        if len(entry.sizes) != count:
            raise EncodeError(
                f"has {len(entry.sizes)} rows, where {entries[0].name!r} has {count}", feature=entry.name
            )
    features: Ints = np.sum([entry.sizes for entry in entries], axis=0, dtype=np.int64)
    if int(features.max(initial=0)) > MAX_SIZE:
        reason = f"{features.max()} bytes do not fit into a message, which holds 2 GiB at most"
        raise EncodeError(reason, record=int(features.argmax()))
    lengths = _delimited_sizes(features)
    ends = np.cumsum(lengths)
    begins = ends - lengths
    total = int(ends[-1]) if count else 0
    out = np.empty(total + _SPILL, np.uint8)
    # An entry may spill some bytes behind its end if what follows there is written later: so the
    # beginning of the records comes last, for the last entry of the record before.
    first = _varint_sizes(features) + begins + 1
    at = first + entries[0].sizes
    for number, entry in enumerate(entries[1:], 2):
        entry.write(out, at, may_spill=entries[number % len(entries)].everywhere)
        at = at + entry.sizes
    _put_size(out, begins, b"\x0a", features)
    entries[0].write(out, first, may_spill=False)
    return Records(out.data[:total].toreadonly(), begins, ends)


class _Entry:
    """One feature as an entry of the map in every record: its sizes, and how it is written.

    0a <entry size> 0a <name> 12 <feature size> [<kind> <list size> [0a <packed size>] values]
    """

    def __init__(self, name: str, cells: Cells) -> None:
        self.name = name
        key = name.encode()
        self._key = b"\x0a" + varint(len(key)) + key + b"\x12"
        self._kind, kinds = cells.kind, cells.kinds
        self._values = _Values(cells)
        # Of the records that have the entry, those in which it has a kind, and so a list.
        self._present = slice(None) if kinds is None else np.flatnonzero(kinds != ABSENT)
        self._typed = slice(None) if kinds is None else np.flatnonzero(kinds[self._present] > 0)
        self._content = self._values.sizes if kinds is None else self._values.sizes[kinds > 0]
        packed = cells.kind != BYTES
        self._list = _delimited_sizes(self._content) * (self._content > 0) if packed else self._content
        if kinds is None:
            self._feature = _delimited_sizes(self._list)
        else:
            self._feature = np.zeros(np.count_nonzero(kinds != ABSENT), np.int64)
            self._feature[self._typed] = _delimited_sizes(self._list)
        self._entry = len(self._key) - 1 + _delimited_sizes(self._feature)
        self.sizes = np.zeros(len(cells.counts), np.int64)
        self.sizes[self._present] = _delimited_sizes(self._entry)
        self.everywhere = kinds is None

    def write(self, out: Octets, at: Ints, *, may_spill: bool) -> None:
        """Write the entry of every record to ``out`` at its place, and up to 7 bytes behind it if it may."""
        if (
            may_spill
            and self.everywhere
            and self._values.scalar
            and 0 < int(self._entry.max(initial=0)) < 0x80
        ):
            self._write_scalars(out, at)
            return
        at = _put_size(out, at[self._present], b"\x0a", self._entry)
        at = _put_size(out, at, self._key, self._feature)
        at = _put_size(out, at[self._typed], bytes([self._kind << 3 | 2]), self._list)
        filled = np.flatnonzero(self._content)
        at = at[filled]
        if self._kind != BYTES:
            at = _put_size(out, at, b"\x0a", self._content[filled])
        self._values.write(out, at)

    def _write_scalars(self, out: Octets, at: Ints) -> None:
        """Header and value as one piece, in eight bytes at a time.

        The header is the same in all records but for its four sizes, and those are all larger than in
        the first record by just as much as the value is.
        """
        sizes = (self._entry, self._feature, self._list, self._content)
        texts = (b"\x0a", self._key, bytes([self._kind << 3 | 2]), b"\x0a")
        header = b"".join(text + bytes([size[0]]) for text, size in zip(texts, sizes, strict=True))
        moving = b"".join(bytes(len(text)) + b"\1" for text in texts)
        values = self._values.words()
        width = len(header) + values.itemsize
        count = -(-width // 8)
        pieces = np.empty((len(at), count), "<u8")
        pieces[:] = np.frombuffer(header.ljust(8 * count, b"\0"), "<u8")
        if self._kind == INT64:
            larger = (self._content - self._content[0]).view(np.uint64)
            for column, lanes in enumerate(np.frombuffer(moving.ljust(8 * count, b"\0"), "<u8")):
                if lanes:
                    pieces[:, column] += larger * lanes
        column, shift = divmod(len(header), 8)
        words = values.astype(np.uint64) if values.itemsize == 8 else values.view("<u4").astype(np.uint64)
        pieces[:, column] |= words << np.uint64(8 * shift)
        if column + 1 < count:
            pieces[:, column + 1] |= words >> np.uint64(64 - 8 * shift)
        _view(out, width)[at] = np.ndarray(len(at), f"V{width}", pieces, strides=(8 * count,))


class _Values:
    """The values of a feature in every record: how many bytes they take, and how they are written.

    ``write`` wants the places of the records that have any.
    """

    def __init__(self, cells: Cells) -> None:
        self._kind, self._values = cells.kind, cells.values
        self._counts = cells.counts
        single = cells.kind in (FLOAT, INT64) and bool((cells.counts == 1).all())
        # Whether each record has one number that fits into a word.
        self.scalar = single
        if cells.kind == FLOAT:
            self.sizes = 4 * cells.counts
            return
        if cells.kind == BYTES:
            self._lengths = np.fromiter(map(len, self._values), np.int64, len(self._values))
            self._each = _delimited_sizes(self._lengths)
        elif cells.kind == INT64:
            self._each = _varint_sizes(self._values)
            self.scalar = single and int(self._each.max(initial=0)) <= _SPILL
        else:
            self._each = np.zeros(0, np.int64)
        self._ends = np.append(0, np.cumsum(self._each))
        if single:
            self.sizes = self._each
        else:
            self.sizes = np.diff(self._ends[np.append(0, np.cumsum(self._counts))])

    def write(self, out: Octets, at: Ints) -> None:
        counts = self._counts[self._counts > 0]
        if self._kind == FLOAT:
            _put_floats(out, at, self._values, counts)
        elif self._kind == INT64:
            _put_varints(out, self._each_place(at, counts), self._values, self._each)
        elif self._kind == BYTES:
            places = _put_size(out, self._each_place(at, counts), b"\x0a", self._lengths)
            _put_strings(out, places, self._values, self._lengths)

    def words(self) -> npt.NDArray[Any]:
        """The scalars as they are stored, an integer in eight bytes of which it may need fewer."""
        if self._kind == FLOAT:
            return np.ascontiguousarray(self._values, "<f4")
        return septet_words(self._values.view(np.uint64), self._each)

    def _each_place(self, at: Ints, counts: Ints) -> Ints:
        """Where each single value goes, if those of a record go to ``at``."""
        if len(self._values) == len(at):
            return at
        firsts = np.cumsum(counts) - counts
        places: Ints = np.repeat(at - self._ends[firsts], counts) + self._ends[:-1]
        return places


def septet_words(values: npt.NDArray[np.uint64], sizes: Ints) -> npt.NDArray[np.uint64]:
    """Varints of up to eight bytes, each in one little-endian word; bytes behind the last are zero."""
    words: npt.NDArray[np.uint64] = values & np.uint64(0x0FFFFFFF)
    if int(sizes.max(initial=0)) > 4:
        words |= (values & np.uint64(0xFFFFFFF0000000)) << np.uint64(4)
    # Halves, then quarters, then septets move apart, until each has a byte of its own.
    words = (words & np.uint64(0x00003FFF00003FFF)) | (
        (words & np.uint64(0x0FFFC0000FFFC000)) << np.uint64(2)
    )
    words = (words & np.uint64(0x007F007F007F007F)) | (
        (words & np.uint64(0x3F803F803F803F80)) << np.uint64(1)
    )
    words |= np.uint64(0x0080808080808080) & _MORE[sizes]
    return words


def _varint_sizes(values: Ints) -> Ints:
    """How many bytes each value takes as a varint."""
    if not len(values):
        return np.zeros(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if low >= 0 and high < 1 << 14:
        return 1 + (values >= 1 << 7).astype(np.int64)
    return 1 + np.searchsorted(_LIMITS, values.view(np.uint64), side="right").astype(np.int64)


def _delimited_sizes(sizes: Ints) -> Ints:
    """How many bytes a field takes whose content takes ``sizes``: a tag, the size, the content."""
    return 1 + _varint_sizes(sizes) + sizes


def _put_size(out: Octets, at: Ints, before: bytes, sizes: Ints) -> Ints:
    """Write ``before`` and a size to each place; the places behind."""
    if not len(at):
        return at
    if int(sizes.max()) == int(sizes.min()):
        text = before + varint(int(sizes[0]))
        _view(out, len(text))[at] = np.void(text)
        return at + len(text)
    _view(out, len(before))[at] = np.void(before)
    return _put_varints(out, at + len(before), sizes, _varint_sizes(sizes))


def _put_varints(out: Octets, at: Ints, values: Ints, sizes: Ints) -> Ints:
    """Write a varint to each place; the places behind."""
    rest, places, left = values.view(np.uint64), at, sizes
    while len(places):
        last = left == 1
        octets = rest.astype(np.uint8) & np.uint8(0x7F)
        if last.all():
            out[places] = octets
            break
        out[places] = octets | np.where(last, np.uint8(0), np.uint8(0x80))
        if last.any():
            more = np.flatnonzero(~last)
            rest, places, left = rest[more], places[more], left[more]
        rest, places, left = rest >> np.uint64(7), places + 1, left - 1
    return at + sizes


def _put_floats(out: Octets, at: Ints, values: npt.NDArray[np.float32], counts: Ints) -> None:
    if not len(at):
        return
    values = np.ascontiguousarray(values, "<f4")
    width = int(counts[0])
    if (counts == width).all():
        _view(out, 4 * width)[at] = values.view(f"V{4 * width}")
        return
    firsts = np.cumsum(counts) - counts
    places = np.repeat(at - 4 * firsts, counts) + 4 * np.arange(len(values))
    _view(out, 4)[places] = values.view("V4")


def _put_strings(out: Octets, at: Ints, values: list[bytes], lengths: Ints) -> None:
    total = int(lengths.sum())
    if total >= _LONG * len(values):
        view = out.data
        for place, end, value in zip(at.tolist(), (at + lengths).tolist(), values, strict=True):
            view[place:end] = value
        return
    octets = np.frombuffer(b"".join(values), np.uint8)
    ends = np.cumsum(lengths)
    out[np.repeat(at - ends + lengths, lengths) + np.arange(total)] = octets


def _view(out: Octets, width: int) -> npt.NDArray[np.void]:
    """``out`` as overlapping elements of ``width`` bytes, one beginning at each byte."""
    view: npt.NDArray[np.void] = np.ndarray(len(out) - width + 1, f"V{width}", out, strides=(1,))
    return view
