"""``parse_sequence_example`` and ``parse_single_sequence_example``.

A feature list is decoded into a column whose rows are the steps of all examples, one after the other, and
the number of steps in each example. So ``dense_sparse`` and ``partitions`` build steps as they build
examples; this module then groups the steps by example. It does not know the wire format, nor that files
exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ... import public
from ...bytes_column import BytesLike
from ...errors import DecodeError, SchemaError
from ...records import Records
from ..columns.gather import Column
from ..columns.gather_sequences import (
    FeatureListColumn,
    gather_all_sequences,
    gather_sequences,
    has_feature_lists,
)
from ..ragged import Ragged
from ..sparse import Sparse
from ..specs import (
    FeatureSpec,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    VarLenFeature,
    as_features,
)
from ..values import Array
from ..wire import ABSENT, UNSET, Value
from .checked_columns import CheckedColumns, Origin, raise_first_fault
from .chosen_columns import ChosenColumns
from .dense_sparse import Output, fixed_len, padded, unbatch, var_len
from .examples import (
    Builder,
    Serialized,
    build,
    checked_names,
    kinds_by_key,
    mixed_kinds,
    natural_columns,
    payload_or_records,
    raise_first_error,
    single_origin,
)
from .partitions import ragged

_CONTEXT = ("FixedLenFeature", "VarLenFeature", "RaggedFeature")
_SEQUENCE = ("FixedLenSequenceFeature", "VarLenFeature", "RaggedFeature")
_ABSENT: Value = (ABSENT, None)


@public
def parse_sequence_example(
    serialized: Serialized,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Sequence[Any] | None = None,
    name: str | None = None,
) -> tuple[dict[str, Output], dict[str, Output], dict[str, Output]]:
    """A batch of serialized SequenceExamples as (context, sequence, lengths).

    Context features may be ``FixedLenFeature``, ``VarLenFeature`` and ``RaggedFeature``, and give what
    ``parse_example`` gives. In a sequence, ``FixedLenSequenceFeature`` gives an array of
    ``(batch, most steps, *shape)`` padded with 0 or ``b""``, and ``lengths`` holds the number of steps in
    each example; ``VarLenFeature`` gives a ``Sparse`` of ``(batch, most steps, longest)``, and
    ``RaggedFeature`` a ``Ragged`` of examples, each of steps. A single payload gives the same without the
    batch dimension.
    """
    context, sequence = _checked(context_features, sequence_features)
    payload, records = payload_or_records(serialized)
    if records is None:
        try:
            outputs = _parse(Records.of([payload]), context, sequence, single_origin(example_names))
        except DecodeError as error:
            error.record = None  # a single payload has no record number
            raise
        return tuple({key: unbatch(value) for key, value in part.items()} for part in outputs)  # type: ignore[return-value]
    origin = Origin(records, checked_names(example_names, len(records)))
    return _parse(records, context, sequence, origin)


@public
def parse_single_sequence_example(
    serialized: BytesLike,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Output], dict[str, Output]]:
    """One serialized SequenceExample as (context, sequence), without the batch dimension."""
    if payload_or_records(serialized)[1] is not None:
        raise ValueError("serialized must be one payload; use parse_sequence_example for a batch")
    specs = context_features, sequence_features
    context, sequence, _ = parse_sequence_example(serialized, *specs, example_name)
    return context, sequence


def natural_sequences(records: Records) -> tuple[dict[str, Column], dict[str, FeatureListColumn]]:
    """Every context feature and every feature list of ``records``; SchemaError if one is of several kinds."""
    columns, lists = gather_all_sequences(records)
    origin = Origin(records)
    errors = mixed_kinds(CheckedColumns(columns, len(records), origin))
    for name, found in lists.items():
        errors += mixed_kinds(CheckedColumns({name: found.column}, found.column.rows, origin, found.splits))
    raise_first_error(errors)
    return columns, lists


def natural_batch(
    records: Records, names: list[str] | None
) -> tuple[dict[str, Column], dict[str, FeatureListColumn]]:
    """The features of a batch of either message, and its feature lists, of the given names or all; only those
    that it has."""
    if has_feature_lists(records):
        columns, lists = natural_sequences(records)
        kept = columns.keys() | lists.keys() if names is None else set(names)
        return (
            {name: column for name, column in columns.items() if name in kept},
            {name: found for name, found in lists.items() if name in kept},
        )
    columns = natural_columns(records, names, in_place=ChosenColumns("bytes_columns", True))
    return {name: column for name, column in columns.items() if not column.is_absent}, {}


def _checked(context: Any, sequence: Any) -> tuple[dict[str, FeatureSpec], dict[str, FeatureSpec]]:
    if not context and not sequence:
        raise ValueError("context_features and sequence_features are both empty; name at least one feature")
    specs = as_features(sequence or {}, _SEQUENCE)
    for name, spec in specs.items():
        if isinstance(spec, FixedLenSequenceFeature) and spec.default_value is not None:
            raise ValueError(
                f"FixedLenSequenceFeature {name!r} must have no default_value in a SequenceExample"
            )
    return as_features(context or {}, _CONTEXT), specs


@dataclass(frozen=True)
class _CheckedLists(CheckedColumns):
    """A batch of examples whose features are feature lists."""

    lists: Mapping[str, FeatureListColumn] = field(default_factory=dict)

    def of_steps(self, feature: str, value_key: str, partition_keys: Iterable[str] = ()) -> CheckedColumns:
        """The columns whose rows are the steps of ``value_key``; each partition must have as many steps."""
        lists = {key: self.lists[key] for key in (value_key, *partition_keys)}
        steps = lists[value_key]
        for key, other in lists.items():
            if other is not steps:
                unaligned = other.lengths != steps.lengths
                raise_first_fault((unaligned, self._unaligned(feature, value_key, key)))
        columns = {key: other.column for key, other in lists.items()}
        return CheckedColumns(columns, int(steps.splits[-1]), self.origin, steps.splits)

    def _unaligned(self, feature: str, value_key: str, key: str) -> Any:
        def make(row: int) -> SchemaError:
            expected, found = (int(self.lists[k].lengths[row]) for k in (value_key, key))
            reason = (
                f"{expected} steps of values under {value_key!r}, but {found} of partitions under {key!r}"
            )
            return self.mismatch(feature, row, "partition", reason, expected=expected, found=found)

        return make


def _parse(
    records: Records,
    context: Mapping[str, FeatureSpec],
    sequence: Mapping[str, FeatureSpec],
    origin: Origin,
) -> tuple[dict[str, Output], dict[str, Output], dict[str, Output]]:
    columns, lists = gather_sequences(records, kinds_by_key(context), kinds_by_key(sequence))
    parts = (
        (CheckedColumns(columns, len(records), origin), context, _CONTEXT_BUILDERS),
        (_CheckedLists({}, len(records), origin, lists=lists), sequence, _SEQUENCE_BUILDERS),
    )
    built: list[dict[str, Output]] = []
    errors: list[SchemaError] = []
    for batch, specs, builders in parts:
        try:
            built.append(build(batch, specs, builders))
        except SchemaError as error:
            errors.append(error)
    raise_first_error(errors)
    lengths = {
        name: lists[name].lengths
        for name, spec in sequence.items()
        if isinstance(spec, FixedLenSequenceFeature)
    }
    return built[0], built[1], lengths


def _context_fixed_len(batch: CheckedColumns, feature: str, spec: FixedLenFeature) -> Any:
    """The same as in an Example, except that a Feature without a list counts as empty: it gets no default."""
    column = batch.columns[feature]
    if column.kinds is not None:
        kinds = np.where(column.kinds == UNSET, np.int8(column.kind), column.kinds)
        batch = replace(batch, columns={feature: column._replace(kinds=kinds)})
    return fixed_len(batch, feature, spec)


def _sequence_fixed_len(batch: _CheckedLists, feature: str, spec: FixedLenSequenceFeature) -> Array:
    found = batch.lists[feature]
    if not spec.allow_missing:
        remedy = "set allow_missing=True if the feature list may be missing"
        raise_first_fault((~found.present, partial(batch.missing, feature, spec.dtype, remedy)))
    steps = batch.of_steps(feature, feature)
    items = _context_fixed_len(steps, feature, _as_step(spec))
    return padded(items, found.lengths, None)


@lru_cache(maxsize=64)
def _as_step(spec: FixedLenSequenceFeature) -> FixedLenFeature:
    """The spec of a single step: every step is one item, as every example is for a FixedLenFeature."""
    return FixedLenFeature(spec.shape, spec.dtype)


def _sequence_var_len(batch: _CheckedLists, feature: str, spec: VarLenFeature) -> Sparse:
    flat = var_len(batch.of_steps(feature, feature), feature, spec)
    splits, counts = batch.lists[feature].splits, batch.lists[feature].lengths
    example = np.repeat(np.arange(batch.size), counts)[flat.indices[:, 0]]
    time = flat.indices[:, 0] - splits[example]
    indices = np.stack((example, time, flat.indices[:, 1]), axis=1)
    most = int(counts.max()) if batch.size else 0
    return Sparse(indices, flat.values, (batch.size, most, flat.dense_shape[1]))


def _sequence_ragged(batch: _CheckedLists, feature: str, spec: RaggedFeature) -> Ragged:
    value_key = spec.value_key or feature
    keys = [partition.key for partition in spec.partitions if hasattr(partition, "key")]
    steps = ragged(batch.of_steps(feature, value_key, keys), feature, spec)
    found = batch.lists[value_key]
    return Ragged(steps, found.splits.astype(spec.row_splits_dtype), ~found.present)


_CONTEXT_BUILDERS: dict[type, Builder] = {
    FixedLenFeature: _context_fixed_len,
    VarLenFeature: var_len,
    RaggedFeature: ragged,
}
_SEQUENCE_BUILDERS: dict[type, Any] = {
    FixedLenSequenceFeature: _sequence_fixed_len,
    VarLenFeature: _sequence_var_len,
    RaggedFeature: _sequence_ragged,
}
