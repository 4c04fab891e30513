"""Specs as ``schema.pbtxt``, the schema of TensorFlow Metadata, which TFX, TFDV and Ray read and write.

It knows the name, type, shape, presence and number of values of each feature; other fields are passed over.
A feature with a shape, or with a fixed number of values, is a ``FixedLenFeature`` if every record must have
it, and a ``RaggedFeature`` if not. Feature lists stand in the struct "##SEQUENCE##", as TFX has them. This
module does not know files: the caller stores the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, text_format

from ... import public
from ...printable import printable
from ..dtypes import DType
from ..proto import message_class
from ..specs import (
    FeatureSpec,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    as_features,
)
from .schema import Specs

_SEQUENCE = "##SEQUENCE##"
_BYTES, _INT, _FLOAT, _STRUCT = 1, 2, 3, 4
_TYPES: dict[DType, int] = {bytes: _BYTES, np.int64: _INT, np.float32: _FLOAT}
_DTYPES = {number: dtype for dtype, number in _TYPES.items()}
_STAGES = (
    *("UNKNOWN_STAGE", "PLANNED", "ALPHA", "BETA", "PRODUCTION", "DEPRECATED", "DEBUG_ONLY", "DISABLED"),
    "VALIDATION_DERIVED",
)
_NOT_THERE = ("PLANNED", "DEPRECATED", "DISABLED")  # stages of features that records need not have


@dataclass(frozen=True)
class Occurrence:
    """What is known of a feature in some records: whether all have it, and how many values they have."""

    always: bool
    fewest: int
    most: int


@public
def schema_to_pbtxt(
    features: Mapping[str, Any] | tuple[Mapping[str, Any], Mapping[str, Any]],
    occurrences: Mapping[str, Any] | None = None,
) -> str:
    """``features`` as the text of a ``schema.pbtxt``; those of a SequenceExample are a pair.

    What the format cannot say, such as a default value, is a comment. ``occurrences`` adds what is known of
    the records.
    """
    context, sequence = features if isinstance(features, tuple) else (features, {})
    schema = _schema()()
    lost = list(_add(schema, as_features(context), occurrences or {}))
    if sequence:
        lists = schema.feature.add(name=_SEQUENCE, type=_STRUCT)
        lost += _add(lists.struct_domain, as_features(sequence), {})
    comments = "".join(f"# {printable(line)}\n" for line in lost)
    text = text_format.MessageToString(schema, as_utf8=True)
    return comments + "".join(letter if letter == "\n" else _escaped(letter) for letter in text)


@public
def schema_from_pbtxt(text: str | bytes) -> Any:
    """The specs in the text of a ``schema.pbtxt``, or a pair of them; ValueError if it is none."""
    schema = _schema()()
    try:
        text_format.Parse(
            text.decode() if isinstance(text, bytes) else text, schema, allow_unknown_field=True
        )
    except (text_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"not a schema.pbtxt: {printable(str(error))}") from None
    if not schema.feature:
        raise ValueError("not a schema.pbtxt: it has no feature")
    lists = [feature for feature in schema.feature if feature.type == _STRUCT and feature.name == _SEQUENCE]
    context = _specs(feature for feature in schema.feature if feature.type != _STRUCT)
    if not lists:
        return context
    return context, _specs(iter(lists[0].struct_domain.feature), steps=True)


def _escaped(letter: str) -> str:
    """A letter, or its bytes if it would control a terminal."""
    return letter if printable(letter) == letter else "".join(f"\\{octet:03o}" for octet in letter.encode())


# --- Writing ----------------------------------------------------------------------------------------


def _add(parent: Any, specs: Specs, occurrences: Mapping[str, Occurrence]) -> Iterator[str]:
    """Add the specs to ``parent``; yield sentences about what cannot be said of them."""
    for name, spec in specs.items():
        if isinstance(spec, SparseFeature):
            yield f"feature {name!r}: the indices and the values of a SparseFeature are features of their own"
            for key in spec.index_keys:
                parent.feature.add(name=key, type=_INT).value_count.min = 0
            parent.feature.add(name=spec.value_key, type=_TYPES[spec.dtype]).value_count.min = 0
            continue
        if isinstance(spec, RaggedFeature) and (spec.partitions or spec.value_key is not None):
            yield f"feature {name!r}: the partitions of a RaggedFeature are left out"
            name = spec.value_key or name  # noqa: PLW2901 - where the values are stored
        feature = parent.feature.add(name=name, type=_TYPES[spec.dtype])
        yield from _describe(feature, name, spec, occurrences.get(name))


def _describe(feature: Any, name: str, spec: FeatureSpec, known: Occurrence | None) -> Iterator[str]:
    if isinstance(spec, (FixedLenFeature, FixedLenSequenceFeature)) and spec.default_value is not None:
        yield f"feature {name!r}: the default value {spec.default_value!r} is left out"
    if isinstance(spec, FixedLenFeature):
        if spec.default_value is None:
            feature.presence.min_fraction, feature.presence.min_count = 1.0, 1
            feature.shape.SetInParent()
            for size in spec.shape:
                feature.shape.dim.add(size=size)
        else:
            feature.value_count.min = feature.value_count.max = spec.count
    elif isinstance(spec, FixedLenSequenceFeature):
        feature.shape.SetInParent()
        for size in spec.shape:
            feature.shape.dim.add(size=size)
        if not spec.allow_missing:
            feature.presence.min_fraction, feature.presence.min_count = 1.0, 1
    else:
        feature.value_count.min = 0
        if known is not None:
            feature.value_count.min, feature.value_count.max = known.fewest, known.most
            feature.presence.min_count = 1
            if known.always:
                feature.presence.min_fraction = 1.0


# --- Reading ----------------------------------------------------------------------------------------


def _specs(features: Iterator[Any], *, steps: bool = False) -> Specs:
    specs: Specs = {}
    for feature in features:
        if feature.deprecated or _STAGES[feature.lifecycle_stage] in _NOT_THERE:
            continue
        if feature.type not in _DTYPES:  # its type is unknown, since no record had it
            continue
        if not feature.name or feature.name in specs:
            raise ValueError(f"not a schema.pbtxt: feature {feature.name!r} needs a name of its own")
        try:
            specs[feature.name] = _step(feature) if steps else _spec(feature)
        except ValueError as error:
            raise ValueError(f"feature {feature.name!r}: {error}") from None
    return specs


def _spec(feature: Any) -> FeatureSpec:
    dtype = _DTYPES[feature.type]
    shape = _shape(feature)
    if shape is not None and feature.presence.min_fraction >= 1:
        return FixedLenFeature(shape, dtype)
    return RaggedFeature(dtype, row_splits_dtype=np.int64)


def _step(feature: Any) -> FeatureSpec:
    """The spec of a feature list: its shape is that of one step."""
    dtype = _DTYPES[feature.type]
    shape = _shape(feature)
    if shape is not None and 0 not in shape:
        return FixedLenSequenceFeature(shape, dtype, allow_missing=feature.presence.min_fraction < 1)
    return RaggedFeature(dtype, row_splits_dtype=np.int64)


def _shape(feature: Any) -> tuple[int, ...] | None:
    """The shape, if it is given or if the number of values is fixed; a single value has the shape ()."""
    if feature.HasField("shape"):
        return tuple(size.size for size in feature.shape.dim)
    counts = feature.value_count
    if feature.HasField("value_count") and counts.HasField("max") and counts.min == counts.max > 0:
        return () if counts.max == 1 else (counts.max,)
    return None


# --- The part of the format that is known here ------------------------------------------------------

# Message: its fields, as (name, number, type, whether there are several). Types are messages or scalars.
_FIELDS: dict[str, list[tuple[str, int, str, bool]]] = {
    "FixedShape.Dim": [("size", 1, "int64", False)],
    "FixedShape": [("dim", 2, "FixedShape.Dim", True)],
    "ValueCount": [("min", 1, "int64", False), ("max", 2, "int64", False)],
    "FeaturePresence": [("min_fraction", 1, "double", False), ("min_count", 2, "int64", False)],
    "StructDomain": [("feature", 1, "Feature", True)],
    "Feature": [
        ("name", 1, "string", False),
        ("deprecated", 2, "bool", False),
        ("value_count", 5, "ValueCount", False),
        ("type", 6, "FeatureType", False),
        ("presence", 14, "FeaturePresence", False),
        ("lifecycle_stage", 22, "LifecycleStage", False),
        ("shape", 23, "FixedShape", False),
        ("struct_domain", 29, "StructDomain", False),
    ],
    "Schema": [("feature", 1, "Feature", True)],
}
_ENUMS = {"FeatureType": ("TYPE_UNKNOWN", "BYTES", "INT", "FLOAT", "STRUCT"), "LifecycleStage": _STAGES}


@cache
def _schema() -> Any:
    """The class of the message. TensorFlow Metadata's own, if it is there, is not touched."""
    field_type = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="purerecord/schema.proto", package="purerecord.schema", syntax="proto2"
    )
    for name, values in _ENUMS.items():
        enum = file.enum_type.add(name=name)
        for number, value in enumerate(values):
            enum.value.add(name=value, number=number)
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name.replace(".", ""))
        for field, number, kind, several in fields:
            added = message.field.add(name=field, number=number)
            added.label = field_type.LABEL_REPEATED if several else field_type.LABEL_OPTIONAL
            if kind in _FIELDS or kind in _ENUMS:
                added.type = field_type.TYPE_ENUM if kind in _ENUMS else field_type.TYPE_MESSAGE
                added.type_name = f".purerecord.schema.{kind.replace('.', '')}"
            else:
                added.type = field_type.Type.Value(f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
    return message_class(pool.FindMessageTypeByName("purerecord.schema.Schema"), pool)
