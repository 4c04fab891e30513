"""Messages as tensors of their fields: ``decode_proto``, ``encode_proto``, ``decode_json_example``.

The messages of Examples are known. Others come in a ``FileDescriptorSet``, which
``protoc --descriptor_set_out`` makes. This module does not know how Examples are parsed by specs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._text.elementwise import each, string_array, texts_of
from .._values.convert import Array, strings
from .._values.operators import kernel_name, shape_text
from .._values.tensor import EagerTensor, convert_to_tensor, of_array
from ..dtypes import DType, as_dtype, of_numpy, string
from ..errors import DataLossError, OpError, invalid
from ..gfile import GFile

# The kinds of fields (the numbers of protobuf's FieldDescriptor): their names, and the dtypes they become.
_KINDS = {
    1: ("double", "float64"),
    2: ("float", "float32", "float64"),
    3: ("int64", "int64"),
    4: ("uint64", "uint64"),
    5: ("int32", "int32", "int64"),
    6: ("fixed64", "uint64"),
    7: ("fixed32", "uint32", "uint64"),
    8: ("bool", "bool"),
    9: ("string", "string"),
    10: ("group", "string"),
    11: ("message", "string"),
    12: ("bytes", "string"),
    13: ("uint32", "uint32", "uint64"),
    14: ("enum", "int32"),
    15: ("sfixed32", "int32", "int64"),
    16: ("sfixed64", "int64"),
    17: ("sint32", "int32", "int64"),
    18: ("sint64", "int64"),
}


def decode_json_example(json_examples: Any, name: str | None = None) -> Any:
    """Serialized Examples of Examples in JSON."""
    from google.protobuf import json_format  # noqa: PLC0415 - protobuf is imported on first use

    from ...payload.proto import Example  # noqa: PLC0415

    def encoded(text: bytes) -> bytes:
        try:
            message = json_format.Parse(text.decode(), Example())
        except (json_format.ParseError, UnicodeDecodeError, RecursionError) as error:
            raise invalid(f"Error while parsing JSON: {str(error).splitlines()[0]}") from None
        return bytes(message.SerializeToString(deterministic=True))

    return each("DecodeJSONExample", encoded, json_examples)


def _message_class(name: str, source: Any) -> Any:
    """The class of a message, from the messages of Examples or from a ``FileDescriptorSet``."""
    given = source.encode() if isinstance(source, str) else bytes(source)
    if given in (b"", b"local://"):
        return _known_class(name)
    if given.startswith(b"bytes://"):
        return _class_in(name, given.removeprefix(b"bytes://"))
    return _class_in(name, _content(given))


def _content(name: bytes) -> bytes:
    try:
        with GFile(name, "rb") as file:
            data: bytes = file.read()
    except OpError as error:
        raise invalid(f"descriptor_source cannot be read: {error}") from error
    return data


def _known_class(name: str) -> Any:
    from ...payload import proto  # noqa: PLC0415 - protobuf is imported on first use

    found: Any = proto
    for part in name.removeprefix("tensorflow.").split("."):
        found = getattr(found, part, None)
    if not name.startswith("tensorflow.") or not hasattr(found, "DESCRIPTOR"):
        raise invalid(
            f"No descriptor found for message type {name}. purerecord knows the messages of Examples; give "
            "others in a FileDescriptorSet: descriptor_source= its file, or bytes://..."
        )
    return found


@lru_cache(maxsize=16)
def _class_in(name: str, descriptors: bytes) -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool, message  # noqa: PLC0415

    from ...payload.proto import message_class  # noqa: PLC0415

    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(descriptors)
        pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            pool.AddSerializedFile(file.SerializeToString())
    except (message.DecodeError, TypeError) as error:
        raise invalid(f"descriptor_source is no FileDescriptorSet: {error}") from None
    try:
        return message_class(pool.FindMessageTypeByName(name), pool)
    except KeyError:
        raise invalid(f"No descriptor found for message type {name}") from None


def _field(message: Any, name: str) -> Any:
    found = message.DESCRIPTOR.fields_by_name.get(name)
    if found is None:
        raise invalid(f"Unknown field: {name} in message type {message.DESCRIPTOR.full_name}")
    return found


def _values(message: Any, field: Any) -> list[Any]:
    """The values of a field in a message; none if it is not set."""
    if _is_repeated(field):
        value = getattr(message, field.name)
        if _is_map(field):
            return _entries(field, value)
        values = list(value)
    elif any(found.name == field.name for found, _ in message.ListFields()):
        values = [getattr(message, field.name)]
    else:
        values = []
    if field.type in (10, 11):
        return [value.SerializeToString() for value in values]
    return [value.encode() if isinstance(value, str) else value for value in values]


def _is_repeated(field: Any) -> bool:
    return bool(field.is_repeated if hasattr(field, "is_repeated") else field.label == 3)


def _is_map(field: Any) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _entries(field: Any, entries: Any) -> list[bytes]:
    """The entries of a map as the serialized messages of which it consists."""
    from ...payload.proto import message_class  # noqa: PLC0415 - protobuf is imported on first use

    entry_class = message_class(field.message_type, None)
    made = []
    for key in entries:
        entry = entry_class(key=key)
        if hasattr(entries[key], "SerializeToString"):
            entry.value.MergeFrom(entries[key])
        else:
            entry.value = entries[key]
        made.append(entry.SerializeToString())
    return made


def _default(field: Any) -> Any:
    """What fills the places of missing values."""
    if field.type in (10, 11) or _is_repeated(field):
        return b"" if field.type in (9, 10, 11, 12) else 0
    value = field.default_value
    return value.encode() if isinstance(value, str) else value


class DecodeProtoV2(NamedTuple):
    """The result of ``decode_proto``."""

    sizes: EagerTensor
    values: list[EagerTensor]


def decode_proto(  # noqa: PLR0917 - TensorFlow's signature
    bytes: Any,  # noqa: A002 - TensorFlow's name
    message_type: str,
    field_names: Any,
    output_types: Any,
    descriptor_source: Any = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> DecodeProtoV2:
    """The fields of serialized messages as (how many values each has, the values).

    The values of a field have one dimension more than ``bytes``, and are padded with the field's default.
    """
    dtypes = [as_dtype(kind) for kind in output_types]
    if len(dtypes) != len(field_names):
        raise invalid(
            "field_names and output_types attributes must have the same length, got "
            f"{len(field_names)} and {len(dtypes)}"
        )
    kind = _message_class(message_type, descriptor_source)
    fields = [_field(kind, field_name) for field_name in field_names]
    for field, dtype in zip(fields, dtypes, strict=True):
        kind_name, *allowed = _KINDS[field.type]
        if dtype.name not in allowed:
            wanted = f"DT_{kernel_name(dtype).upper()}"
            raise invalid(f"Unexpected output type for {field.full_name}: {kind_name} to {wanted}")
    if message_format not in ("binary", "text"):
        raise invalid("format must be one of binary or text")
    array = string_array(bytes, "DecodeProtoV2", convert=not isinstance(bytes, EagerTensor))
    messages = [_parsed(kind, text, message_format) for text in texts_of(array)]
    columns = [[_values(message, field) for message in messages] for field in fields]
    sizes = np.array([[len(row) for row in column] for column in columns], np.int32).T
    made = [
        _padded(field, dtype, column, array.shape)
        for field, dtype, column in zip(fields, dtypes, columns, strict=True)
    ]
    return DecodeProtoV2(of_array(sizes.reshape(*array.shape, len(fields))), made)


def _parsed(kind: Any, text: bytes, form: str) -> Any:
    from google.protobuf import message, text_format  # noqa: PLC0415 - protobuf is imported on first use

    try:
        if form == "text":
            return text_format.Parse(text.decode(), kind())
        return kind.FromString(text)
    except (message.DecodeError, text_format.ParseError, UnicodeDecodeError):
        raise DataLossError(None, None, f"Unable to parse {form} protobuf") from None


def _padded(field: Any, dtype: DType, column: list[list[Any]], shape: tuple[int, ...]) -> EagerTensor:
    longest = max(1, *map(len, column)) if column else 1
    rows = [row + [_default(field)] * (longest - len(row)) for row in column]
    flat = [value for row in rows for value in row]
    if dtype is string:
        return of_array(strings(flat, (*shape, longest)))
    if dtype.is_integer:  # unsigned numbers keep their bits
        whole = np.array([int(value) & (2**64 - 1) for value in flat], np.uint64)
        return of_array(whole.astype(dtype.as_numpy_dtype).reshape(*shape, longest))
    return of_array(np.array(flat, dtype.as_numpy_dtype).reshape(*shape, longest))


def encode_proto(  # noqa: PLR0917 - TensorFlow's signature
    sizes: Any,
    values: Any,
    field_names: Any,
    message_type: str,
    descriptor_source: Any = "local://",
    name: str | None = None,
) -> EagerTensor:
    """Serialized messages of the values of their fields; the reverse of ``decode_proto``."""
    counts: Array = convert_to_tensor(sizes)._array
    arrays = [convert_to_tensor(value)._array for value in values]
    if not arrays or len(arrays) != len(field_names) or counts.shape[-1:] != (len(arrays),):
        raise invalid(
            f"sizes of shape {shape_text(counts.shape)} must have a column for each of {len(field_names)} "
            "fields"
        )
    kind = _message_class(message_type, descriptor_source)
    fields = [_field(kind, field_name) for field_name in field_names]
    shape = counts.shape[:-1]
    rows = counts.reshape(-1, len(fields)).tolist()
    columns = []
    for field, array in zip(fields, arrays, strict=True):
        dtype, (kind_name, *allowed) = of_numpy(array.dtype), _KINDS[field.type]
        if dtype.name not in allowed:
            raise invalid(
                f"Incompatible type for field {field.name}.  Saw dtype: {kernel_name(dtype)} but field type "
                f"is: {kind_name}"
            )
        if array.shape[:-1] != shape:
            raise invalid(f"the values of {field.name} do not fit sizes of shape {shape_text(counts.shape)}")
        columns.append(array.reshape(len(rows), -1).tolist())
    made = []
    for number, row in enumerate(rows):
        message = kind()
        for field, column, count in zip(fields, columns, row, strict=True):
            if not 0 <= count <= len(column[number]):
                raise invalid(
                    f"Size to write must not be larger than value tensor; but saw: {count} > "
                    f"{len(column[number])} at message {number} field {field.name}"
                )
            _set(message, field, column[number][:count])
        made.append(message.SerializeToString())
    return of_array(strings(made, shape))


def _set(message: Any, field: Any, values: list[Any]) -> None:
    """Sets a field of ``message``."""
    if field.type in (10, 11):
        for value in values:
            entry = field.number << 3 | 2
            message.MergeFromString(_varint(entry) + _varint(len(value)) + value)
        return
    if field.type == 9:
        values = [value.decode() for value in values]
    elif field.type in (4, 6):
        values = [value & (2**64 - 1) for value in values]
    elif field.type in (7, 13):
        values = [value & (2**32 - 1) for value in values]
    if _is_repeated(field):
        getattr(message, field.name).extend(values)
    elif values:
        setattr(message, field.name, values[-1])


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])
