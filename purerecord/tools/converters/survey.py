"""``survey``: what the features of TFRecords hold, found by reading all of them once.

Formats whose columns have one type from the beginning need that before they write the first one. Batches of
records are decoded as columns. This module must not know the formats.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ...bytes_column import BytesColumn
from ...errors import SchemaError
from ...payload.columns.gather import Column, check_cells
from ...payload.parse.checked_columns import KIND_NAMES
from ...payload.parse.sequences import natural_batch
from ...payload.wire import BYTES, UNSET
from ...records import Records
from .column_types import FeatureType, Ints
from .job import Job

VARYING = -1  # the width of a feature whose records have different numbers of values, or none


@dataclass
class Seen:
    """One feature in all records so far: its kind, the values of a record that has it, how many lack it."""

    kind: int = UNSET
    width: int | None = None  # None until a record has the feature
    missing: int = 0
    longest: int = 0  # bytes of a string
    ends_in_nul: bool = False  # whether a string does
    text: bool = True  # whether all strings are UTF-8

    @property
    def type(self) -> FeatureType:
        """What the feature holds."""
        return FeatureType(self.kind, None if self.width in (None, VARYING) else self.width)

    def words(self) -> str:
        """The type, and how many records lack it."""
        return f"{self.type}{f', missing in {self.missing:,}' if self.missing else ''}"

    def add(self, name: str, column: Column, before: int) -> None:
        """Add a batch of records, before which there were ``before``; SchemaError if its kind differs."""
        counts = counts_of(column)
        self.missing += int((counts < 0).sum())
        if column.kind != UNSET and self.kind not in (UNSET, column.kind):
            reason = (
                f"holds {KIND_NAMES[column.kind]} in a record from {before} on, and {KIND_NAMES[self.kind]} "
                "in records before, so it cannot be one column"
            )
            raise SchemaError(reason, feature=name, problem="kind")
        self.kind = column.kind or self.kind
        present = counts[counts >= 0]
        if len(present):
            low, high = int(present.min()), int(present.max())
            width = low if low == high and low > 0 else VARYING
            self.width = width if self.width in (None, width) else VARYING
        if column.kind == BYTES:
            self._add_strings(column.values)

    def _add_strings(self, values: object) -> None:
        lengths = getattr(values, "lengths", None)
        if lengths is None:
            strings: list[bytes] = list(values)  # type: ignore[call-overload]
            self.longest = max(self.longest, *map(len, strings), 0)
            self.ends_in_nul |= any(string.endswith(b"\0") for string in strings)
            self.text = self.text and all(map(_is_text, strings))
        elif len(lengths):
            self.longest = max(self.longest, int(lengths.max()))
            content = np.frombuffer(values.buffer, np.uint8)  # type: ignore[attr-defined]
            lasts = values.ends[lengths > 0] - 1  # type: ignore[attr-defined]
            self.ends_in_nul |= bool((content[lasts] == 0).any())
            self.text = self.text and _are_text(values)  # type: ignore[arg-type]


@dataclass
class Survey:
    """All features, and all feature lists, of some records."""

    rows: int = 0
    features: dict[str, Seen] = field(default_factory=dict)
    lists: dict[str, Seen] = field(default_factory=dict)

    def types(self) -> dict[str, str]:
        """Each feature in a few words, for the report."""
        words = {name: seen.words() for name, seen in self.features.items()}
        return words | {name: f"{seen.type.kind_name} steps" for name, seen in self.lists.items()}


def survey(job: Job, names: list[str] | None, *, lists: bool = False) -> Survey:
    """What the records of a job hold, in the features of the given names, or all, ordered by name.

    The sources must allow reading twice. SequenceExamples are an error, unless ``lists``.
    """
    if not job.read_again:
        raise ValueError("this format needs the types of all records first, so it is not made of a stream")
    return survey_of(job.batches(counted=False), names, lists=lists)


def survey_of(batches: Iterable[Records], names: list[str] | None, *, lists: bool = False) -> Survey:
    """What the records of ``batches`` hold: see ``survey``."""
    found = Survey()
    size = 0
    for records in batches:
        columns, steps = natural_batch(records, names)
        if steps and not lists:
            name = next(iter(steps))
            raise SchemaError(
                "is a feature list, of a SequenceExample, which this format cannot hold", feature=name
            )
        for name in found.features.keys() - columns.keys():
            found.features[name].missing += len(records)
        for name, column in columns.items():
            seen = found.features.setdefault(name, Seen(missing=found.rows))
            seen.add(name, column, found.rows)
        for name, one in steps.items():
            found.lists.setdefault(name, Seen()).add(name, one.column, found.rows)
        if both := found.features.keys() & found.lists.keys():
            raise SchemaError("is a context feature and a feature list", feature=min(both))
        found.rows += len(records)
        size += records.nbytes
        if names is None:
            check_cells(len(found.features) + len(found.lists), found.rows, size)
    for name in names or ():
        if name not in found.features and name not in found.lists:
            raise SchemaError("no record has it", feature=name, problem="missing")
    order = sorted(found.features) if names is None else [name for name in names if name in found.features]
    found.features = {name: found.features[name] for name in order}
    return found


def counts_of(column: Column) -> Ints:
    """How many values each record has in a column; -1 where the record lacks the feature."""
    counts = np.diff(column.row_splits)
    if column.kinds is not None:
        counts = np.where(column.kinds < UNSET, -1, counts)
    return counts


def _is_text(string: bytes | memoryview) -> bool:
    try:
        str(string, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _are_text(strings: BytesColumn) -> bool:
    """Whether all strings are UTF-8: joined they are, and none begins in the middle of a character."""
    if not _is_text(strings[0]):
        return False
    packed = strings.packed()
    content = memoryview(packed.buffer).cast("B")
    firsts = np.frombuffer(content, np.uint8)[packed.begins[packed.lengths > 0]]
    return not bool((firsts & 0xC0 == 0x80).any()) and _is_text(content[packed.begins[0] : packed.ends[-1]])
