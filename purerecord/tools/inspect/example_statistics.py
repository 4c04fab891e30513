"""``ExampleStatistics``: the statistics of all features, of Examples or SequenceExamples, batch by batch.

Statistics of parts of the data are merged in the order of the parts. All results but the most frequent of
more strings than are kept are the same however the data was divided. This module does not know files.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import numpy as np

from ...errors import DecodeError, SchemaError
from ...payload.columns.block_decoder import decode_row
from ...payload.columns.gather import Column, gather
from ...payload.columns.gather_sequences import (
    FeatureListColumn,
    gather_all_sequences,
    gather_sequences,
    has_feature_lists,
)
from ...payload.recognize import check_example
from ...payload.wire import BYTES, FLOAT, INT64, UNSET
from ...records import Records
from .feature_statistics import FeatureStatistics, FeatureSummary
from .number_statistics import NumberStatistics, NumberSummary

# Features whose statistics are kept; each needs memory.
MOST_FEATURES = 10_000

_Key = tuple[bool, str]
_Found = TypeVar("_Found", Column, FeatureListColumn)


class ExampleStatistics:
    """Statistics of records; of all features, or of the named ones."""

    def __init__(self, features: Collection[str] | None = None, *, most: int) -> None:
        self._features = None if features is None else tuple(features)
        self._most = most
        self.records = self.record_bytes = 0
        self.undecodable = 0
        self._sizes = NumberStatistics(np.int64, most)
        self._found: dict[_Key, FeatureStatistics] = {}

    def add(self, records: Records) -> None:
        """Add records; the first that is no Example raises a DecodeError, and none is added."""
        if not len(records):
            return
        context, lists = _columns(records, self._features)
        for name, columns in context.items():
            self._of(name, sequence=False).add(*columns)
        for name, found in lists.items():
            self._of(name, sequence=True).add_lists(*found)
        self.records += len(records)
        self.record_bytes += records.nbytes
        self._sizes.add(records.lengths)

    def add_decodable(self, records: Records) -> DecodeError | None:
        """Add the records that are Examples, count the others, and return the error of the first of these."""
        try:
            self.add(records)
            return None
        except DecodeError as error:
            if len(records) == 1:
                self.undecodable += 1
                return error
        half = len(records) // 2
        first, second = self.add_decodable(records[:half]), self.add_decodable(records[half:])
        return first or second

    def merge(self, other: ExampleStatistics) -> None:
        """Add the statistics of records that come after these."""
        self.records += other.records
        self.record_bytes += other.record_bytes
        self.undecodable += other.undecodable
        self._sizes.merge(other._sizes)
        for (sequence, name), found in other._found.items():
            self._of(name, sequence=sequence).merge(found)

    def record_sizes(self) -> NumberSummary:
        """What is known of the sizes of the records in bytes."""
        return self._sizes.summary()

    def summaries(self) -> tuple[FeatureSummary, ...]:
        """What is known of each feature: those of Examples and contexts first, each sorted by name."""
        return tuple(self._found[key].summary(self.records) for key in sorted(self._found))

    def _of(self, name: str, *, sequence: bool) -> FeatureStatistics:
        key = sequence, name
        if key not in self._found:
            if len(self._found) >= MOST_FEATURES:
                raise SchemaError(
                    f"there are more than {MOST_FEATURES:,} features; name those that you want statistics of"
                )
            self._found[key] = FeatureStatistics(name, self._most, sequence=sequence)
        return self._found[key]


def _columns(
    records: Records, names: Collection[str] | None
) -> tuple[dict[str, list[Column]], dict[str, list[FeatureListColumn]]]:
    """The features and the feature lists of the records, each once for every kind that it has."""
    if has_feature_lists(records):
        return _sequence_columns(records, names)
    columns = gather(records, None if names is None else dict.fromkeys(names), in_place=_All())
    _check(records, columns)
    found = {name: [column] for name, column in columns.items() if not column.is_absent}
    for name, kinds in _other_kinds(found).items():
        for kind in kinds:
            found[name] += gather(records, {name: kind}, in_place=_All()).values()
    return found, {}


def _sequence_columns(
    records: Records, names: Collection[str] | None
) -> tuple[dict[str, list[Column]], dict[str, list[FeatureListColumn]]]:
    context, lists = gather_all_sequences(records)
    found = {name: [column] for name, column in context.items() if names is None or name in names}
    steps = {name: [column] for name, column in lists.items() if names is None or name in names}
    for name, kinds in _other_kinds(found).items():
        for kind in kinds:
            found[name] += gather_sequences(records, {name: kind}, {})[0].values()
    for name, kinds in _other_kinds(
        {name: [one.column for one in some] for name, some in steps.items()}
    ).items():
        for kind in kinds:
            steps[name] += gather_sequences(records, {}, {name: kind})[1].values()
    return found, steps


def _other_kinds(found: Mapping[str, list[Column]]) -> dict[str, list[int]]:
    """The kinds of lists that a feature has beside the first one."""
    others = {}
    for name, (column, *_) in found.items():
        if column.kinds is not None:
            kinds = np.bincount(column.kinds[column.kinds > UNSET], minlength=INT64 + 1)
            others[name] = [kind for kind in (BYTES, FLOAT, INT64) if kinds[kind] and kind != column.kind]
    return others


def _check(records: Records, columns: Mapping[str, Column]) -> None:
    """Raise a DecodeError for a record that is another message, among those in which no feature is found."""
    empty: Any = np.ones(len(records), bool)
    for column in columns.values():
        if column.kinds is None and column.kind != UNSET:
            return
        if column.kinds is not None:
            empty &= column.kinds <= UNSET
    for row in np.flatnonzero(empty).tolist():
        decode_row(records, row, check_example)


class _All:
    """The set of all names."""

    def __contains__(self, name: object) -> bool:
        return True
