"""``infer_schema``: specs that fit given records; and specs as JSON text.

Parsing the same records with the inferred specs gives the columns that ``decode_examples`` gives.
SequenceExamples have two sets of specs. This module does not know files: the caller stores the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any, Literal, overload

import numpy as np

from ... import public
from ...records import Records
from ..columns.block_decoder import decode_row
from ..columns.gather import Column
from ..dtypes import dtype_name
from ..json_values import FROM_JSON, bytes_to_json, float_to_json
from ..recognize import check_example
from ..specs import SPECS, FeatureSpec, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, as_features
from ..wire import UNSET
from .checked_columns import KINDS
from .examples import Serialized, natural_columns, payload_or_records
from .sequences import natural_sequences

Specs = dict[str, FeatureSpec]

_FORMAT = "purerecord schema"
_VERSION = 1
_SEQUENCE_PARTS = ("context", "sequence")  # in the JSON of a SequenceExample, instead of "features"
_DTYPES = {kind: dtype for dtype, kind in KINDS.items()}


@overload
def infer_schema(records: Serialized, *, sequence: Literal[False] = False) -> Specs: ...
@overload
def infer_schema(records: Serialized, *, sequence: Literal[True]) -> tuple[Specs, Specs]: ...
@public
def infer_schema(records: Serialized, *, sequence: bool = False) -> Specs | tuple[Specs, Specs]:
    """Specs that fit all ``records``, by name; for SequenceExamples a pair, (context, sequence).

    A feature with the same number of values in every record becomes a ``FixedLenFeature``, of shape
    ``()`` for one value; any other becomes a ``RaggedFeature``. A feature that never holds a list is left
    out, since its kind is unknown. A feature of different kinds in different records is a
    ``SchemaError``. In a sequence, steps with the same number of values become a
    ``FixedLenSequenceFeature``. A record that is another message, and no Example, is a ``DecodeError``.
    """
    _, batch = payload_or_records(records)
    if batch is None:
        raise TypeError("expected a sequence of payloads, got one payload; put it in a list")
    if sequence:
        return _infer_sequences(batch)
    columns = natural_columns(batch)
    _check_rows(batch, [_has_list(column) for column in columns.values()])
    return _specs(columns)


def _check_rows(records: Records, filled: list[Any]) -> None:
    """Raise a DecodeError for a record that is no Example, among those that none of the masks has."""
    empty = ~np.logical_or.reduce([np.zeros(len(records), bool), *filled])
    for row in np.flatnonzero(empty).tolist():
        decode_row(records, row, check_example)


def _has_list(column: Column) -> Any:
    """Which rows of a column have a list: a mask, or one value for all."""
    kinds = np.full(column.rows, column.kind) if column.kinds is None else column.kinds
    return kinds > UNSET


def _infer_sequences(records: Records) -> tuple[Specs, Specs]:
    columns, lists = natural_sequences(records)
    with_steps = [found.lengths > 0 for found in lists.values()]
    _check_rows(records, [*map(_has_list, columns.values()), *with_steps])
    steps = _specs({name: found.column for name, found in lists.items()})
    for name, spec in steps.items():
        if isinstance(spec, FixedLenFeature):
            missing = not bool(lists[name].present.all())
            steps[name] = FixedLenSequenceFeature(spec.shape, spec.dtype, allow_missing=missing)
    return _specs(columns), steps


def _specs(columns: Mapping[str, Column]) -> Specs:
    specs: Specs = {}
    for name, column in columns.items():
        if column.kind == UNSET:
            continue
        dtype = _DTYPES[column.kind]
        if column.uniform:
            specs[name] = FixedLenFeature(() if column.uniform == 1 else (column.uniform,), dtype)
        else:
            specs[name] = RaggedFeature(dtype, row_splits_dtype=np.int64)
    return specs


@public
def schema_to_json(features: Mapping[str, Any] | tuple[Mapping[str, Any], Mapping[str, Any]]) -> str:
    """``features`` as JSON text; ``schema_from_json`` gives equal specs back.

    The specs of a SequenceExample are a pair, (context, sequence).
    """
    parts: dict[str, Mapping[str, Any]]
    if isinstance(features, tuple) and len(features) == len(_SEQUENCE_PARTS):
        parts = dict(zip(_SEQUENCE_PARTS, features, strict=True))
    else:
        parts = {"features": features}  # type: ignore[dict-item]
    document: dict[str, Any] = {"format": _FORMAT, "version": _VERSION}
    for part, specs in parts.items():
        document[part] = {name: _describe(spec) for name, spec in as_features(specs).items()}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


@public
def schema_from_json(text: str | bytes) -> Any:
    """The specs in JSON text, or a pair of them; ValueError if the text is no schema or a spec is wrong."""
    try:
        return _from_document(json.loads(text, object_pairs_hook=_distinct))
    except RecursionError:
        raise ValueError("not a schema: nested too deeply") from None


def schema_from_text(text: str | bytes) -> Any:
    """The specs in a schema of either form, or a pair of them: JSON, or a ``schema.pbtxt``."""
    begin = (text.encode() if isinstance(text, str) else text).lstrip(b"\xef\xbb\xbf \t\r\n")
    if begin.startswith((b"{", b"[")) or not begin:
        return schema_from_json(text)
    from .schema_pbtxt import schema_from_pbtxt  # noqa: PLC0415 - imports protobuf

    return schema_from_pbtxt(begin)


def _from_document(document: Any) -> Any:
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ValueError(f'not a schema: a JSON object with "format": "{_FORMAT}" is needed')
    if document.get("version") != _VERSION:
        raise ValueError(f"schema version {document.get('version')!r} is not known; {_VERSION} is")
    names = ("features",) if "features" in document else _SEQUENCE_PARTS
    parts = [document.get(name) for name in names]
    if not all(isinstance(part, dict) for part in parts):
        raise ValueError('not a schema: "features" is missing, or for a SequenceExample one of its two parts')
    specs = [{name: _restore(name, described) for name, described in part.items()} for part in parts]  # type: ignore[union-attr]
    return specs[0] if len(specs) == 1 else tuple(specs)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object as a dict; ValueError if a name occurs twice, of which ``dict`` would keep the last."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} is there twice")
    return members


def _describe(spec: FeatureSpec) -> dict[str, Any]:
    described: dict[str, Any] = {"type": type(spec).__name__}
    for field in fields(spec):
        value = getattr(spec, field.name)
        if value != field.default:
            described[field.name] = _to_json(value)
    return described


def _restore(name: str, described: Any) -> FeatureSpec:
    if not isinstance(described, dict) or described.get("type") not in list(SPECS):
        raise ValueError(f"feature {name!r}: its type must be one of {', '.join(SPECS)}")
    try:
        arguments = {key: _from_json(value) for key, value in described.items() if key != "type"}
        spec: FeatureSpec = SPECS[described["type"]](**arguments)
    except (TypeError, ValueError) as error:
        raise ValueError(f"feature {name!r}: {error}") from error
    return spec


# Partitions take the form of json_values, too: an object with one member, named after their type.


def _to_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_to_json(item) for item in value]
    if isinstance(value, bytes):
        return bytes_to_json(value)
    if isinstance(value, float):
        return float_to_json(value)
    if isinstance(value, RaggedFeature.PARTITIONS):
        ((_, content),) = asdict(value).items()
        return {type(value).__name__: content}
    return dtype_name(value) if isinstance(value, type) else value


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((kind, content),) = value.items()
        if kind in _FROM_JSON:
            return _FROM_JSON[kind](content)
    raise ValueError(f"an object with {sorted(value)} is nothing that a spec can hold")


_FROM_JSON: dict[str, Callable[[Any], Any]] = {
    **FROM_JSON,
    **{partition.__name__: partition for partition in RaggedFeature.PARTITIONS},
}
