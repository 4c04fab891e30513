"""Arguments that have the names and the meaning that they have in Ray, in our terms.

This module must not know Ray, nor what is read or written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrow.types import is_list, is_wrapped, pa
from ..errors import EncodeError
from ..payload.specs import FixedLenFeature, RaggedFeature

# What Arrow calls a compression, and what we call it.
_COMPRESSIONS = {None: "", "detect": "auto", "gzip": "GZIP", "bz2": "BZ2", "zstd": "ZSTD"}
# The numbers of the types in a schema of TensorFlow Metadata.
_BYTES, _INT, _FLOAT = 1, 2, 3
_DTYPES = {_BYTES: np.bytes_, _INT: np.int64, _FLOAT: np.float32}
_NAMES = {_BYTES: "bytes", _INT: "int", _FLOAT: "float"}
_KINDS = {
    _INT: ("boolean", "integer"),
    _FLOAT: ("floating",),
}


def specs_of(schema: Any) -> dict[str, Any]:
    """Specs for the features of a ``Schema`` of TensorFlow Metadata: of a fixed shape where it has one."""
    specs: dict[str, Any] = {}
    for feature in schema.feature:
        if feature.type not in _DTYPES:
            raise ValueError(f"feature {feature.name!r} of the schema is neither of bytes, int nor float")
        dtype = _DTYPES[feature.type]
        if feature.HasField("shape"):
            specs[feature.name] = FixedLenFeature([dim.size for dim in feature.shape.dim], dtype)
        else:
            specs[feature.name] = RaggedFeature(dtype)
    return specs


def compression_of(arguments: Mapping[str, Any]) -> Any:
    """The compression in Ray's ``arrow_open_stream_args``."""
    if unknown := sorted(arguments.keys() - {"compression"}):
        raise ValueError(f"arrow_open_stream_args: {unknown[0]!r} is unknown here, only compression is taken")
    name = arguments["compression"]
    if name not in _COMPRESSIONS:
        raise ValueError(f"arrow_open_stream_args: the compression {name!r} is not one of TFRecords")
    return _COMPRESSIONS[name]


def check_columns(columns: Any, schema: Any) -> None:
    """Raise an EncodeError if the Arrow schema ``columns`` is not of the features of ``schema``."""
    wanted = {feature.name: feature.type for feature in schema.feature}
    for field in columns:
        if field.name not in wanted:
            raise EncodeError("tf_schema has no such feature; drop the column", feature=field.name)
        found, expected = _type_number(field.type), wanted[field.name]
        if found not in (None, expected):
            needs = _NAMES.get(expected, "a type that no Example has")
            raise EncodeError(f"holds {_NAMES[found]}, where tf_schema says {needs}", feature=field.name)


def _type_number(dtype: Any) -> int | None:
    """The type that the values of an Arrow type get; None for a column of nulls, which may be of any."""
    while isinstance(dtype, pa.BaseExtensionType) or is_wrapped(dtype) or is_list(dtype):
        dtype = dtype.storage_type if isinstance(dtype, pa.BaseExtensionType) else dtype.value_type
    if pa.types.is_null(dtype):
        return None
    kinds = (number for number, names in _KINDS.items() for name in names if _is(name, dtype))
    return next(kinds, _BYTES)


def _is(name: str, dtype: Any) -> bool:
    return bool(getattr(pa.types, f"is_{name}")(dtype))
