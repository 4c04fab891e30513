"""Columns of SequenceExamples: the context, and the feature lists.

``gather_sequences`` decodes most records in lock-step with ``steps`` and the rest with the row decoder, and
puts both together in the order of the records; nobody can tell from the result which took which. This
module knows neither feature specs nor files.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from .columns import Column
from .errors import DecodeError
from .found import Block, OddError
from .ragged import Ragged
from .records import Records
from .septets import Ints, Mask
from .steps import CONTEXT, LISTS, Scan, check_unwanted, scan
from .wire import ABSENT, BYTES, FLOAT, UNSET, Value, decode_sequence

_FEW = 16  # records: fewer are decoded one by one
_TRIES = 3


@dataclass(frozen=True)
class Lists:
    """The feature lists of one key: a column of all steps, each example's range of them, and which
    examples have the key at all."""

    column: Column
    splits: Ints
    present: Mask


@dataclass(frozen=True)
class Part:
    """A feature in some records: the steps of each (-1 where it is missing), and for every step its kind,
    and its number of values of the wanted kind. In the context, a feature that is there has one step."""

    steps: Ints
    kinds: npt.NDArray[np.int8]
    counts: Ints
    values: npt.NDArray[Any]


Parts = dict[tuple[int, str], Part]


def gather_sequences(
    records: Records, context: Mapping[str, int], lists: Mapping[str, int]
) -> tuple[dict[str, Column], dict[str, Lists]]:
    """The context columns and the feature lists of the given names and kinds.

    All payloads are checked as a whole: the first malformed one is a ``DecodeError``.
    """
    wanted = {(CONTEXT, name): kind for name, kind in context.items()}
    wanted |= {(LISTS, name): kind for name, kind in lists.items()}
    odd: Mask = np.ones(len(records), bool)
    fast: Parts = {}
    if len(records) >= _FEW and sys.byteorder == "little":
        odd, fast = _decode_together(records, wanted)
    rows = np.flatnonzero(odd)
    parts = _decode_rows(records, rows, wanted) if rows.size or not fast else fast
    if fast and rows.size:
        order = np.argsort(np.concatenate((np.flatnonzero(~odd), rows)), kind="stable")
        parts = {key: _join(fast[key], parts[key], order) for key in wanted}
    return (
        {name: _context_column(parts[CONTEXT, name], kind) for name, kind in context.items()},
        {name: _list_column(parts[LISTS, name], kind) for name, kind in lists.items()},
    )


def find_kinds(records: Records) -> tuple[dict[str, int], dict[str, int]]:
    """The context features and the feature lists that are there, by name, each with the first kind that it
    has anywhere; UNSET if it never has one."""
    found: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for row in range(len(records)):
        context, lists = _decode(records, row)
        steps = {name: [value] for name, value in context.items()}
        for kinds, part in zip(found, (steps, lists), strict=True):
            for name, values in part.items():
                kinds[name] = kinds.get(name) or next((kind for kind, _ in values if kind), UNSET)
    return found


def _context_column(part: Part, kind: int) -> Column:
    kinds, counts = part.kinds, part.counts
    if len(kinds) < len(part.steps):
        present = part.steps >= 0
        kinds, counts = np.full(len(present), ABSENT, np.int8), np.zeros(len(present), np.int64)
        kinds[present], counts[present] = part.kinds, part.counts
    return _column(kind, kinds, counts, part.values)


def _list_column(part: Part, kind: int) -> Lists:
    present = part.steps >= 0
    column = _column(kind, part.kinds, part.counts, part.values)
    return Lists(column, _splits(np.maximum(part.steps, 0)), present)


def _column(kind: int, kinds: npt.NDArray[np.int8], counts: Ints, values: npt.NDArray[Any]) -> Column:
    same = not len(counts) or bool((counts == counts[0]).all())
    uniform = None if not same else int(counts[0]) if len(counts) else 0
    mixed = None if bool((kinds == kind).all()) else kinds
    return Column(kind, mixed, values, len(kinds), uniform, None if same else _splits(counts))


def _splits(counts: Ints) -> Ints:
    splits = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=splits[1:])
    return splits


def _join(one: Part, other: Part, order: Ints) -> Part:
    """Both parts, their records in ``order``."""
    steps = np.concatenate((one.steps, other.steps))
    counts = np.concatenate((one.counts, other.counts))
    values = Ragged(np.concatenate((one.values, other.values)), _splits(counts))
    kinds = np.concatenate((one.kinds, other.kinds))
    places = Ragged(np.arange(len(counts)), _splits(np.maximum(steps, 0)))[order].flat_values
    return Part(steps[order], kinds[places], counts[places], values[places].flat_values)


# --- In lock-step -----------------------------------------------------------------------------------


def _decode_together(records: Records, wanted: Mapping[tuple[int, str], int]) -> tuple[Mask, Parts]:
    """Which records are for the row decoder, and what is wanted of the others."""
    octets = np.frombuffer(records.buffer, np.uint8)
    found = scan(Block(records.buffer, octets, records.begins, records.ends))
    check_unwanted(found, wanted)
    for _ in range(_TRIES):
        rows = np.flatnonzero(~found.odd)
        try:
            return found.odd, {key: _part(found, *key, kind, rows) for key, kind in wanted.items()}
        except OddError:
            continue  # the scan knows now which records are odd
    return np.ones(len(records), bool), {}


def _part(found: Scan, section: int, name: str, kind: int, rows: Ints) -> Part:
    entries = found.entries(section, name)
    features = found.features(entries)
    values, counts = found.values(features, kind)
    steps = np.full(len(found.odd), -1, np.int64)
    steps[found.record[entries]] = found.steps[entries]
    return Part(steps[rows], features.tag.astype(np.int8), counts, values)


# --- Row by row -------------------------------------------------------------------------------------


def _decode_rows(records: Records, rows: Ints, wanted: Mapping[tuple[int, str], int]) -> Parts:
    decoded = [_decode(records, row) for row in rows.tolist()]
    parts = {}
    for (section, name), kind in wanted.items():
        if section == CONTEXT:
            found = [[context[name]] if name in context else None for context, _ in decoded]
        else:
            found = [lists.get(name) for _, lists in decoded]
        parts[section, name] = _row_part(found, kind)
    return parts


def _decode(records: Records, row: int) -> tuple[dict[str, Value], dict[str, list[Value]]]:
    try:
        return decode_sequence(records[row])
    except DecodeError as error:
        error.path, error.record, error.offset = records.origin(row)
        raise


def _row_part(found: Sequence[list[Value] | None], kind: int) -> Part:
    steps = list(chain.from_iterable(filter(None, found)))
    chunks = [values if own == kind else () for own, values in steps]
    counts = np.array(list(map(len, chunks)), np.int64)
    filled = [chunk for chunk in chunks if len(chunk)]
    values: npt.NDArray[Any]
    if kind == BYTES:
        values = np.empty(int(counts.sum()), object)
        values[:] = list(chain.from_iterable(filled))
    else:
        values = np.concatenate(filled) if filled else np.empty(0, np.float32 if kind == FLOAT else np.int64)
    numbers = [-1 if steps is None else len(steps) for steps in found]
    return Part(np.array(numbers, np.int64), np.array([own for own, _ in steps], np.int8), counts, values)
