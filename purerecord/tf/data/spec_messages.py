"""Element specs as TensorFlow stores them: the message StructuredValue in the file ``dataset_spec.pb``.

This module does not know files.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

from ...errors import DecodeError
from ...payload.varint import varint
from ...payload.wire import Field, delimited, fields
from .._values.shapes import RaggedTensorSpec, SparseTensorSpec, TensorShape, TensorSpec
from ..dtypes import as_dtype
from .structure import NoneTensorSpec, Spec

# Fields of StructuredValue.
_NONE, _INT, _SHAPE, _DTYPE, _TENSOR, _TYPE, _LIST, _TUPLE, _DICT, _NAMED_TUPLE = (
    1,
    12,
    31,
    32,
    33,
    34,
    51,
    52,
    53,
    54,
)
_STRING = 13

# TypeSpecClass, and of a spec that is registered by its name.
_SPARSE, _RAGGED, _REGISTERED = 1, 3, 12
_NONE_NAME = "tf.NoneTensorSpec"


def encoded_spec(spec: Spec) -> bytes:  # noqa: PLR0911
    """The message of an element spec."""
    if isinstance(spec, Mapping):
        entries = [
            delimited(1, delimited(1, key.encode()) + delimited(2, encoded_spec(spec[key]))) for key in spec
        ]
        return delimited(_DICT, b"".join(entries))
    if hasattr(spec, "_fields"):
        pairs = [
            delimited(2, delimited(1, name.encode()) + delimited(2, encoded_spec(part)))
            for name, part in zip(spec._fields, spec, strict=True)
        ]
        return delimited(_NAMED_TUPLE, delimited(1, type(spec).__name__.encode()) + b"".join(pairs))
    if isinstance(spec, tuple):
        return delimited(_TUPLE, b"".join(delimited(1, encoded_spec(part)) for part in spec))
    if isinstance(spec, TensorSpec):
        name = delimited(1, spec.name.encode()) if spec.name else b""
        return delimited(_TENSOR, name + delimited(2, _shape(spec.shape)) + _dtype(3, spec.dtype))
    if isinstance(spec, SparseTensorSpec):
        return _type_spec(_SPARSE, _shape_and_dtype(spec), "SparseTensorSpec", 3)
    if isinstance(spec, RaggedTensorSpec):
        rank = varint(_INT << 3) + varint(spec.ragged_rank * 2)  # zigzag
        state = [*_shape_and_dtype(spec), rank, _dtype(_DTYPE, spec.row_splits_dtype)]
        return _type_spec(_RAGGED, state, "RaggedTensorSpec", spec.ragged_rank + 1)
    if isinstance(spec, NoneTensorSpec):
        return _type_spec(_REGISTERED, [], _NONE_NAME, 0)
    raise TypeError(f"a dataset with elements of {spec!r} cannot be stored")


def _shape_and_dtype(spec: Any) -> list[bytes]:
    return [delimited(_SHAPE, _shape(spec.shape)), _dtype(_DTYPE, spec.dtype)]


def _type_spec(kind: int, state: list[bytes], name: str, components: int) -> bytes:
    content = delimited(_TUPLE, b"".join(delimited(1, part) for part in state))
    count = b"\x20" + varint(components) if components else b""
    return delimited(
        _TYPE, b"\x08" + varint(kind) + delimited(2, content) + delimited(3, name.encode()) + count
    )


def _dtype(number: int, dtype: Any) -> bytes:
    return varint(number << 3) + varint(dtype.as_datatype_enum)


def _shape(shape: TensorShape) -> bytes:
    if shape.dims is None:
        return b"\x18\x01"
    sizes = [-1 if size is None else size for size in shape.dims]
    return b"".join(delimited(2, b"\x08" + varint(size) if size else b"") for size in sizes)


# --- Decoding ---------------------------------------------------------------------------------------


def decoded_spec(message: bytes) -> Spec:
    """The element spec in a message. Raises DecodeError or ValueError if it is none."""
    found = _value(message)
    return found


def _fields(message: bytes) -> dict[int, list[Any]]:
    """The values of each field: numbers, or bytes."""
    found: dict[int, list[Any]] = {}
    for field in fields(message, 0, len(message), 0):
        found.setdefault(field.number, []).append(_content(message, field))
    return found


def _content(message: bytes, field: Field) -> Any:
    return field.value if field.type == 0 else message[field.begin : field.end]


def _value(message: bytes) -> Any:
    for number, (content, *_) in _fields(message).items():
        if number in _DECODERS:
            return _DECODERS[number](content)
        raise DecodeError(f"the spec holds a value of kind {number}, which is not known")
    return None


def _decoded_shape(message: bytes) -> TensorShape:
    parts = _fields(message)
    if parts.get(3, [0])[0]:
        return TensorShape(None)
    sizes = [_fields(dim).get(1, [0])[0] for dim in parts.get(2, [])]
    return TensorShape([None if size >= 1 << 63 or size < 0 else size for size in sizes])


def _decoded_tensor(message: bytes) -> TensorSpec:
    parts = _fields(message)
    name = parts.get(1, [b""])[0].decode() or None
    return TensorSpec(_decoded_shape(parts.get(2, [b""])[0]), as_dtype(parts[3][0]), name)


def _decoded_type(message: bytes) -> Spec:
    parts = _fields(message)
    kind, state = parts.get(1, [0])[0], _value(parts.get(2, [b""])[0])
    if kind == _SPARSE:
        return SparseTensorSpec(*state)
    if kind == _RAGGED:
        return RaggedTensorSpec(*state[:4])
    name = parts.get(3, [b""])[0].decode(errors="replace")
    if kind == _REGISTERED and name == _NONE_NAME:
        return NoneTensorSpec()
    raise DecodeError(f"the spec holds a {name}, which is not known")


def _decoded_dict(message: bytes) -> dict[str, Any]:
    return dict(map(_decoded_pair, _fields(message).get(1, [])))


def _decoded_pair(message: bytes) -> tuple[str, Any]:
    parts = _fields(message)
    return parts.get(1, [b""])[0].decode(), _value(parts.get(2, [b""])[0])


def _decoded_named_tuple(message: bytes) -> Any:
    parts = _fields(message)
    pairs = list(map(_decoded_pair, parts.get(2, [])))
    made = namedtuple(parts[1][0].decode(), [name for name, _ in pairs])  # type: ignore[misc]
    return made(*[part for _, part in pairs])


_DECODERS: dict[int, Any] = {
    _NONE: lambda _: None,
    _INT: lambda value: value >> 1 ^ -(value & 1),
    _STRING: lambda value: value.decode(),
    _SHAPE: _decoded_shape,
    _DTYPE: as_dtype,
    _TENSOR: _decoded_tensor,
    _TYPE: _decoded_type,
    _LIST: lambda message: [_value(part) for part in _fields(message).get(1, [])],
    _TUPLE: lambda message: tuple(_value(part) for part in _fields(message).get(1, [])),
    _DICT: _decoded_dict,
    _NAMED_TUPLE: _decoded_named_tuple,
}
