"""Columns: one feature over a whole batch of records.

``gather`` turns records into columns. Records that have the layout of the first one are decoded in
lock-step; what does not fit takes the row decoder, and nobody can tell from the result. This module knows
neither feature specs nor defaults nor files: what a missing feature or a surprising kind means is decided
by its callers.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from .anyorder import search
from .errors import DecodeError
from .found import Block, Found, OddError, check, take
from .layout import Entry, layout_of, outline
from .lockstep import Everything, Wanted, follow
from .pieces import OneByOne, Part, Piece, Together, merge
from .records import BytesLike, Records
from .septets import Ints, Mask
from .wire import UNSET, Value, decode_features

_FEW = 4  # records: fewer are decoded row by row
_ROUNDS = 3
_LAYOUTS = 3  # that are tried on a block
_BLOCK = 8192  # records that are decoded together


@dataclass(frozen=True)
class Column:
    """The values of one feature in ``rows`` records, one row behind the other.

    ``kind`` is BYTES, FLOAT, INT64, or UNSET when no record says. ``kinds`` holds the kind of the feature
    in each record (ABSENT where it is missing); None means that every record has ``kind``. ``values`` is
    flat: int64, float32, or objects that are ``bytes``; a record of another kind adds none. ``uniform`` is
    the number of values of every row, if it is the same for all, else None; ``splits`` is given then.
    """

    __slots__ = ("kind", "kinds", "rows", "splits", "uniform", "values")

    kind: int
    kinds: npt.NDArray[np.int8] | None
    values: npt.NDArray[Any]
    rows: int
    uniform: int | None
    splits: npt.NDArray[np.int64] | None

    @property
    def row_splits(self) -> npt.NDArray[np.int64]:
        """Row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``."""
        if self.uniform is None:
            assert self.splits is not None
            return self.splits
        return np.arange(self.rows + 1, dtype=np.int64) * self.uniform


def gather(
    records: Records | Sequence[BytesLike], wanted: Mapping[str, int | None] | None = None
) -> dict[str, Column]:
    """The columns of the ``wanted`` features: name -> kind, or None for the first kind that appears.

    Without ``wanted``, every feature that is found, in the order of the names. All payloads are checked
    as a whole, whatever is wanted of them: the first malformed one is a ``DecodeError``.
    """
    batch = Records.of(records)
    size = len(batch)
    keys: Wanted = Everything() if wanted is None else {name.encode(errors="surrogatepass") for name in wanted}
    pieces: list[Piece] = []
    for low in range(0, size, _BLOCK):
        rest = _decode_block(batch, np.arange(low, min(low + _BLOCK, size)), keys, pieces)
        if rest.size:
            pieces.append(OneByOne(rest, [_decode(batch, row) for row in rest.tolist()]))
    if wanted is None:
        wanted = dict.fromkeys(sorted(set(chain.from_iterable(piece.names() for piece in pieces))))
    return {name: _column(pieces, name, kind, size) for name, kind in wanted.items()}


def _column(pieces: list[Piece], name: str, kind: int | None, size: int) -> Column:
    if kind is None:
        firsts = [first for first in (piece.first(name) for piece in pieces) if first is not None]
        kind = min(firsts)[1] if firsts else UNSET
    kinds, values, counts = merge(pieces, name, kind, size)
    if isinstance(kinds, int):
        kinds = np.full(size, kinds, np.int8) if kinds != kind else None
    elif bool((kinds == kind).all()):
        kinds = None
    if isinstance(counts, int):
        return Column(kind, kinds, values, size, counts, None)
    if not size or bool((counts == counts[0]).all()):
        return Column(kind, kinds, values, size, int(counts[0]) if size else 0, None)
    splits = np.zeros(size + 1, np.int64)
    np.cumsum(counts, out=splits[1:])
    return Column(kind, kinds, values, size, None, splits)


def _decode_block(records: Records, rows: Ints, wanted: Wanted, pieces: list[Piece]) -> Ints:
    """Decode records together, as far as possible, into ``pieces``; return the others."""
    octets = np.frombuffer(records.buffer, np.uint8)
    odd = [rows[:0]]
    known: dict[bytes, Entry] = {}
    for _ in range(_LAYOUTS):
        if rows.size < _FEW or sys.byteorder != "little":
            break
        entries = outline(records[int(rows[0])])
        if entries is None:
            odd.append(rows[:1])
            rows = rows[1:]
            continue
        known.update((entry.key, entry) for entry in entries)
        block = Block(records.buffer, octets, records.begins[rows], records.ends[rows])
        found = follow(layout_of(tuple(entries)), block, wanted)
        if found is None:
            break
        matched = _take(block, rows, *found, wanted, pieces)
        if not matched[0]:  # the record does not even match its own outline
            matched[0] = True
            odd.append(rows[:1])
        rows = rows[~matched]
    samples = [rows[rows.size // 2], rows[-1]] if rows.size >= _FEW else []
    for _ in range(_ROUNDS):
        for row in samples:
            known.update((entry.key, entry) for entry in outline(records[int(row)]) or ())
        if rows.size < _FEW or not known:
            break
        block = Block(records.buffer, octets, records.begins[rows], records.ends[rows])
        found = search(block, list(known.values()), wanted)
        rows = rows[~_take(block, rows, *found, wanted, pieces)]
        samples = rows[:1]
    return np.sort(np.concatenate([*odd, rows]))


def _take(
    block: Block,
    rows: Ints,
    found: dict[bytes, Found],
    alive: Mask,
    wanted: Wanted,
    pieces: list[Piece],
) -> Mask:
    """Take the values of the records that are ``alive``; return which were taken."""
    while alive.any():
        some = None if alive.all() else np.flatnonzero(alive)
        here = block if some is None else block.pick(some)
        parts = {}
        try:
            for key, one in found.items():
                if some is not None:
                    one = one.pick(some)
                if key not in wanted:
                    check(one, here)
                    continue
                values, counts = take(one, here)
                parts[key.decode()] = one.kind, Part(one.kind if one.kinds is None else one.kinds, values, counts)
        except OddError as error:
            alive[error.rows if some is None else some[error.rows]] = False
            continue
        pieces.append(Together(rows if some is None else rows[some], parts))
        break
    return alive


def _decode(records: Records, index: int) -> dict[str, Value]:
    try:
        return decode_features(records[index])
    except DecodeError as error:
        error.record = records.first + index
        error.path = records.path
        if records.base is not None:
            error.offset = records.base + int(records.begins[index]) - 12
        raise
