"""``infer_schema``: propose specs for records, and keep specs as JSON.

The proposal is what ``decode_examples`` gives without specs: parsing the same records with it gives the
same columns. JSON text goes in and out; where it is stored is the caller's business.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from .batch import KINDS
from .dtypes import dtype_name
from .features import SPECS, FeatureSpec, FixedLenFeature, RaggedFeature, as_features
from .parse import Serialized, as_input, natural_columns
from .wire import UNSET

_FORMAT = "purerecord schema"
_VERSION = 1
_DTYPES = {kind: dtype for dtype, kind in KINDS.items()}


def infer_schema(records: Serialized) -> dict[str, FeatureSpec]:
    """Specs that fit all of ``records``, by name.

    A feature with the same number of values in every record becomes a ``FixedLenFeature``, of shape
    ``()`` for one value; any other a ``RaggedFeature``. One that never holds a list is left out, since
    nothing says what it would hold. A feature of different kinds in different records is a
    ``SchemaError``.
    """
    _, batch = as_input(records)
    if batch is None:
        raise TypeError("expected a sequence of payloads, got one payload; put it in a list")
    schema: dict[str, FeatureSpec] = {}
    for name, column in natural_columns(batch).items():
        if column.kind == UNSET:
            continue
        dtype = _DTYPES[column.kind]
        if column.uniform:
            shape = () if column.uniform == 1 else (column.uniform,)
            schema[name] = FixedLenFeature(shape, dtype)
        else:
            schema[name] = RaggedFeature(dtype, row_splits_dtype=np.int64)
    return schema


def schema_to_json(features: Mapping[str, Any]) -> str:
    """``features`` as JSON text, from which ``schema_from_json`` makes equal ones."""
    described = {name: _describe(spec) for name, spec in as_features(features).items()}
    document = {"format": _FORMAT, "version": _VERSION, "features": described}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def schema_from_json(text: str | bytes) -> dict[str, FeatureSpec]:
    """The specs in JSON text; ValueError if it is not such text, or a spec in it is wrong."""
    document = json.loads(text)
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ValueError(f'not a schema: a JSON object with "format": "{_FORMAT}" is needed')
    if document.get("version") != _VERSION:
        raise ValueError(f"schema version {document.get('version')!r} is not known; {_VERSION} is")
    described = document.get("features")
    if not isinstance(described, dict):
        raise ValueError('not a schema: "features" is missing')
    return {name: _restore(name, description) for name, description in described.items()}


def _describe(spec: FeatureSpec) -> dict[str, Any]:
    described: dict[str, Any] = {"type": type(spec).__name__}
    for field in fields(spec):
        value = getattr(spec, field.name)
        if value != field.default:
            described[field.name] = _to_json(value)
    return described


def _restore(name: str, described: Any) -> FeatureSpec:
    if not isinstance(described, dict) or described.get("type") not in SPECS:
        raise ValueError(f"feature {name!r}: its type must be one of {', '.join(SPECS)}")
    try:
        arguments = {key: _from_json(value) for key, value in described.items() if key != "type"}
        spec: FeatureSpec = SPECS[described["type"]](**arguments)
    except (TypeError, ValueError) as error:
        raise ValueError(f"feature {name!r}: {error}") from error
    return spec


# What JSON lacks is an object with one member, whose name says what its value is.


def _to_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_to_json(item) for item in value]
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
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
        if kind in _WRAPPED:
            return _WRAPPED[kind](content)
    raise ValueError(f"an object with {sorted(value)} is nothing that a spec can hold")


_WRAPPED: dict[str, Callable[[Any], Any]] = {
    "base64": lambda text: base64.b64decode(text, validate=True),
    "float": float,
    **{partition.__name__: partition for partition in RaggedFeature.PARTITIONS},
}
