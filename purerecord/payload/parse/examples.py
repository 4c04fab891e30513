"""``parse_example`` and its relatives: serialized Examples and specs in, arrays out.

The columns are decoded by ``columns`` (many examples) or ``wire`` (one), and ``assemble`` and
``partition`` make of them what each spec asks for. This module puts the two together; it does not know
how a message looks, nor that files exist. SequenceExamples are parsed in ``sequence``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from typing import Any, NamedTuple, Union, cast

import numpy as np

from ...errors import SchemaError
from ...records import BytesLike, Records
from ..columns.gather import Column, gather
from ..dtypes import array_dtype
from ..ragged import Array, Ragged
from ..specs import (
    FeatureSpec,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
    as_features,
)
from ..wire import ABSENT, BYTES, INT64, Value, decode_features
from .checked_columns import KIND_NAMES, KINDS, Batch, Origin
from .dense_sparse import Output, fixed_len, fixed_len_sequence, sparse, unbatch, var_len
from .partitions import ragged

Serialized = Union[BytesLike, Records, Iterable[BytesLike]]
Builder = Callable[[Batch, str, Any], Output]

_BUILDERS: dict[type, Builder] = {
    FixedLenFeature: fixed_len,
    VarLenFeature: var_len,
    FixedLenSequenceFeature: fixed_len_sequence,
    RaggedFeature: ragged,
    SparseFeature: sparse,
}
_ABSENT: Value = (ABSENT, None)
_KEPT = 4  # requests
_DTYPES = {kind: array_dtype(dtype) for dtype, kind in KINDS.items()}


def parse_example(
    serialized: Serialized,
    features: Mapping[str, Any],
    example_names: Sequence[Any] | None = None,
    name: str | None = None,
) -> dict[str, Output]:
    """The features of a batch of serialized Examples, as ``features`` specifies them.

    ``FixedLenFeature`` gives an array of ``(batch, *shape)``, ``FixedLenSequenceFeature`` one padded to
    the longest, ``VarLenFeature`` and ``SparseFeature`` a ``Sparse``, ``RaggedFeature`` a ``Ragged``;
    bytes are in object arrays. What does not fit its spec is a ``SchemaError`` that names the feature
    and the first record at fault. ``example_names`` appear in such messages. A single payload instead of
    a batch is parsed as ``parse_single_example`` does. ``name`` is there for TensorFlow's signature only.
    """
    request = _request(features)
    payload, records = as_input(serialized)
    if records is None:
        return _parse_single(payload, request, example_names)
    origin = Origin(records, checked_names(example_names, len(records)))
    return build(Batch(gather(records, request.kinds), len(records), origin), request.specs, _BUILDERS)


def parse_single_example(
    serialized: BytesLike,
    features: Mapping[str, Any],
    example_names: Any = None,
    name: str | None = None,
) -> dict[str, Output]:
    """The features of one serialized Example, as ``features`` specifies them.

    As in ``parse_example``, without the batch dimension: a scalar ``FixedLenFeature`` gives a numpy
    scalar or ``bytes``, and a ``RaggedFeature`` without partitions a plain vector.
    """
    request = _request(features)
    payload, records = as_input(serialized)
    if records is not None:
        raise ValueError("serialized must be one payload; use parse_example for a batch")
    return _parse_single(payload, request, example_names)


def decode_examples(records: Serialized, features: Mapping[str, Any] | None = None) -> dict[str, Output]:
    """Many serialized Examples as columns; with ``features``, ``parse_example``.

    Without, every feature of any record becomes a column: an array of ``(n,)`` where each record has one
    value, of ``(n, k)`` where each has ``k`` of them, and a ``Ragged`` where the number differs, with an
    empty row where a record lacks the feature. A feature that is of different kinds in different records
    is a ``SchemaError``; so that one odd record cannot go unnoticed.
    """
    if features is not None:
        return parse_example(records, features)
    _, batch = as_input(records)
    if batch is None:
        raise TypeError("expected a sequence of payloads, got one payload; put it in a list")
    return {name: _natural(column, len(batch)) for name, column in natural_columns(batch).items()}


def natural_columns(records: Records) -> dict[str, Column]:
    """Every feature of ``records``, each of one kind only, else SchemaError."""
    columns = gather(records, None)
    raise_first(mixed_kinds(Batch(columns, len(records), Origin(records))))
    return columns


def mixed_kinds(batch: Batch) -> list[SchemaError]:
    """An error for each column that is not of one kind."""
    errors = []
    for name, column in batch.columns.items():
        if column.kinds is not None:
            odd = (column.kinds > 0) & (column.kinds != column.kind)
            if odd.any():
                errors.append(_mixed(batch, name, int(odd.argmax())))
    return errors


def _mixed(batch: Batch, name: str, row: int) -> SchemaError:
    expected = KIND_NAMES[batch.columns[name].kind]
    found = KIND_NAMES[int(batch.kinds(name)[row])]
    reason = f"holds a list of {found} where other records hold {expected}, so it cannot be one column"
    return batch.mismatch(name, row, "kind", reason, expected=expected, found=found)


def _natural(column: Column, size: int) -> Output:
    if column.uniform == 1:
        return column.values
    if column.uniform:
        return column.values.reshape(size, column.uniform)
    return Ragged(column.values, column.row_splits)


def _parse_single(payload: BytesLike, request: _Request, name: Any) -> dict[str, Output]:
    """One example is a batch of one; but most scalars and vectors need no batch to be what they are."""
    specs, kinds = request
    found = decode_features(payload)
    outputs = {name: _as_it_is(spec, *found.get(name, _ABSENT)) for name, spec in specs.items()}
    rest = {name: specs[name] for name, output in outputs.items() if output is None}
    if rest:
        columns = {key: _one_row(kind, *found.get(key, _ABSENT)) for key, kind in kinds.items()}
        built = build(Batch(columns, 1, lone_origin(name)), rest, _BUILDERS)
        outputs.update((name, unbatch(output)) for name, output in built.items())
    return outputs


def _as_it_is(spec: FeatureSpec, kind: int, values: Any) -> Output:
    """The output for a FixedLenFeature that its values fit, else None."""
    if type(spec) is FixedLenFeature and kind == KINDS[spec.dtype] and len(values) == spec.count:
        return _as_array(kind, values).reshape(spec.shape) if spec.shape else values[0]
    return None


def _as_array(kind: int, values: Any) -> Array:
    if kind == BYTES:
        array = np.empty(len(values), object)
        array[:] = values
        return array
    return cast(Array, values)


def _one_row(kind: int, found: int, values: Any) -> Column:
    """A feature of one example as a column of ``kind``."""
    if found != kind:
        return Column(kind, np.array([found], np.int8), np.empty(0, _DTYPES[kind]), 1, 0, None)
    return Column(kind, None, _as_array(kind, values), 1, len(values), None)


def build(
    batch: Batch, specs: Mapping[str, FeatureSpec], builders: Mapping[type, Builder]
) -> dict[str, Output]:
    """The output of every spec; of several mismatches the one in the first record is raised."""
    outputs, errors = {}, []
    for name, spec in specs.items():
        try:
            outputs[name] = builders[type(spec)](batch, name, spec)
        except SchemaError as error:
            errors.append(error)
    raise_first(errors)
    return outputs


def raise_first(errors: Sequence[SchemaError]) -> None:
    """Raise the error of the first record, if there are any."""
    if errors:
        raise min(errors, key=lambda error: error.row or 0)


def wanted(specs: Mapping[str, FeatureSpec]) -> dict[str, int]:
    """The keys to decode for ``specs`` and the kind that each must have."""
    kinds: dict[str, int] = {}
    for name, spec in specs.items():
        for key, kind in _keys(name, spec):
            if kinds.setdefault(key, kind) != kind:
                raise ValueError(
                    f"feature {key!r} is asked for both as {KIND_NAMES[kinds[key]]} and as {KIND_NAMES[kind]}"
                )
    return kinds


def _keys(name: str, spec: FeatureSpec) -> list[tuple[str, int]]:
    if isinstance(spec, SparseFeature):
        return [(spec.value_key, KINDS[spec.dtype]), *((key, INT64) for key in spec.index_keys)]
    if isinstance(spec, RaggedFeature):
        partitions = [partition.key for partition in spec.partitions if hasattr(partition, "key")]
        return [(spec.value_key or name, KINDS[spec.dtype]), *((key, INT64) for key in partitions)]
    return [(name, KINDS[spec.dtype])]


class _Request(NamedTuple):
    """What is asked for: specs that have been checked, and the keys to decode with their kinds."""

    specs: dict[str, FeatureSpec]
    kinds: dict[str, int]


# What was asked for lately, the latest first: whoever parses batch after batch asks for the same.
_requests: list[_Request] = []


def _request(features: Mapping[str, Any]) -> _Request:
    for request in tuple(_requests):
        # Specs cannot be changed, so the same ones need no second look.
        if _are_those(features, request.specs):
            return request
    if not features:
        raise ValueError("features must name at least one feature; use decode_examples to get all of them")
    specs = as_features(features)
    for name, spec in specs.items():
        if isinstance(spec, FixedLenSequenceFeature) and not spec.allow_missing:
            raise ValueError(f"FixedLenSequenceFeature {name!r} must have allow_missing=True in an Example")
    request = _Request(specs, wanted(specs))
    _requests[:] = [request, *_requests][:_KEPT]
    return request


def _are_those(features: Any, specs: dict[str, FeatureSpec]) -> bool:
    """Whether ``features`` are the very same specs under the same names, in the same order."""
    return (
        type(features) is dict
        and len(features) == len(specs)
        and all(map(is_, features.values(), specs.values()))
        and list(features) == list(specs)
    )


def as_input(serialized: Any) -> tuple[BytesLike, None] | tuple[bytes, Records]:
    """A payload and None, or nothing and Records: what ``serialized`` is."""
    if isinstance(serialized, Records):
        return b"", serialized
    if isinstance(serialized, (bytes, bytearray, memoryview)):
        return serialized, None
    if hasattr(serialized, "__array__"):
        array = np.asarray(serialized)
        if array.dtype.kind == "S":
            raise TypeError(
                "an array of fixed-width bytes has lost its payloads' trailing NULs; use dtype=object"
            )
        if array.ndim > 1:
            raise ValueError(f"serialized must be one payload or a vector, not of shape {array.shape}")
        if array.ndim == 0:
            return as_input(array.item())
        serialized = array.tolist()
    return b"", Records.of(serialized)


def lone_origin(name: Any) -> Origin:
    """That of one example, which may have a name, alone or in a list."""
    names = [name] if isinstance(name, (str, bytes)) else name
    return Origin(names=checked_names(names, 1))


def checked_names(names: Sequence[Any] | None, size: int) -> Sequence[Any] | None:
    """``example_names``, of which there must be as many as examples."""
    if names is not None and len(names) != size:
        raise ValueError(f"{len(names)} example_names for {size} examples")
    return names
