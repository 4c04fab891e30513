"""The protobuf wire format, as far as Example and SequenceExample need it.

This is the row decoder: one payload in, one mapping out. It accepts exactly the bytes that protobuf's own
parser (upb) accepts, and gives the same result: packed, unpacked and split lists, keys after values,
repeated keys, unknown fields and groups. It checks every length against the available bytes before use,
bounds the nesting and does not recurse, so any bytes give a value or a ``DecodeError``.

There are two paths. ``plain_entry`` and ``_plain_feature`` recognise the layout that encoders write in
practice, and return None at the first deviation. Then the general path, ``fields``, decides what the bytes
mean. This module does not know what the values are for: no feature specs, no defaults, no batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..bytes_column import BytesLike
from ..errors import DecodeError, EncodeError
from .varint import decode_varints, read_varint, varint, varints

# The kind of a feature: the number of its list in Feature's oneof, or one of the two ways to have no list.
ABSENT = -1  # the record lacks the key
UNSET = 0  # the record has the key, but its Feature holds no list
BYTES = 1
FLOAT = 2
INT64 = 3

# Wire format; never change.
VARINT, FIXED64, DELIMITED, GROUP, END_GROUP, FIXED32 = range(6)
MAX_TAG = 5  # bytes of a tag or a size, even if its value needs fewer
MAX_DEPTH = 100  # of nested messages and groups
MAX_SIZE = 2**31 - 1
_FIELD_1, _FIELD_2 = 0x0A, 0x12  # the tags of delimited fields 1 and 2
_INTEGER_TAG, _FLOAT_TAG = 0x08, 0x0D  # the tags of field 1 as a varint, and as 32 bits

_LEAST_UNPACKED = 32  # bytes of unpacked numbers; fewer are read one by one

Value = tuple[int, Any]  # (kind, values)


class Field(NamedTuple):
    """A field of a message: its content is ``data[begin:end]``; ``value`` is the number if it is a varint."""

    number: int
    type: int
    begin: int
    end: int
    value: int


# --- Decoding ---------------------------------------------------------------------------------------


def decode_features(payload: BytesLike) -> dict[str, Value]:
    """The features of a serialized Example: name -> (kind, values).

    The values are a list of ``bytes`` for BYTES, an array of float32 or int64 for FLOAT and INT64, and
    None for UNSET. If a name is repeated, its first appearance decides its order, the last one its value.
    """
    data = bytes(payload)
    features: dict[str, Value] = {}
    for field in fields(data, 0, len(data), 0):
        if field.type == DELIMITED and field.number == 1:
            _decode_features(data, field.begin, field.end, features)
    return features


def decode_sequence(payload: BytesLike) -> tuple[dict[str, Value], dict[str, list[Value]]]:
    """The context of a serialized SequenceExample, and its feature lists: name -> [(kind, values)]."""
    data = bytes(payload)
    context: dict[str, Value] = {}
    lists: dict[str, list[Value]] = {}
    for field in fields(data, 0, len(data), 0):
        if field.type == DELIMITED and field.number == 1:
            _decode_features(data, field.begin, field.end, context)
        elif field.type == DELIMITED and field.number == 2:
            for inner in fields(data, field.begin, field.end, 1):
                if inner.type == DELIMITED and inner.number == 1:
                    name, parts, known = _entry(data, inner)
                    values = _decode_list(data, name, parts)
                    if known:
                        lists[name] = values
    return context, lists


def decode_feature(payload: BytesLike) -> Value:
    """The kind and the values of a serialized Feature."""
    data = bytes(payload)
    plain = _plain_feature(data, 0, len(data))
    return plain or _decode_feature(data, [Field(2, DELIMITED, 0, len(data), 0)], 3, "")


def _decode_features(data: bytes, begin: int, end: int, features: dict[str, Value]) -> None:
    """Adds the entries of the Features message in ``data[begin:end]`` to ``features``."""
    position = begin
    while position < end:
        plain = plain_entry(data, position, end)
        if plain is not None:
            name, kind, values, position = plain
            features[name] = kind, values
            continue
        field, position = read_field(data, position, end, 1)
        if field.type == DELIMITED and field.number == 1:
            name, parts, known = _entry(data, field)
            value = _decode_feature(data, parts, 3, name)
            if known:
                features[name] = value


def _decode_list(data: bytes, name: str, parts: list[Field]) -> list[Value]:
    """The Features of a FeatureList, whose bytes come in ``parts``."""
    values: list[Value] = []
    for part in parts:
        for field in fields(data, part.begin, part.end, 3, name):
            if field.type == DELIMITED and field.number == 1:
                plain = _plain_feature(data, field.begin, field.end)
                values.append(_decode_feature(data, [field], 4, name) if plain is None else plain)
    return values


def _entry(data: bytes, entry: Field) -> tuple[str, list[Field], bool]:
    """The key of a map entry, the parts of its value, and whether the entry counts.

    As in protobuf, the last key counts, and the parts of a repeated value form one message. An entry with
    an unknown field is unknown as a whole: its value must be valid, but the entry is not added to the map.
    """
    key = ""
    parts: list[Field] = []
    known = True
    for field in fields(data, entry.begin, entry.end, 2):
        if field.type == DELIMITED and field.number == 1:
            try:
                key = data[field.begin : field.end].decode()
            except UnicodeDecodeError:
                raise DecodeError("a feature's name is not UTF-8", position=field.begin) from None
        elif field.type == DELIMITED and field.number == 2:
            parts.append(field)
        else:
            known = False
    return key, parts, known


def _decode_feature(data: bytes, parts: list[Field], depth: int, name: str) -> Value:
    """The Feature whose bytes come in ``parts``: the last kind wins, and lists of that kind are joined."""
    kind = UNSET
    values: list[Any] = []
    for part in parts:
        for field in fields(data, part.begin, part.end, depth, name):
            if field.type == DELIMITED and field.number in (BYTES, FLOAT, INT64):
                if field.number != kind:
                    kind, values = field.number, []
                unpacked = _unpacked(data, field, kind)
                if unpacked is not None:
                    values += unpacked
                    continue
                for element in fields(data, field.begin, field.end, depth + 1, name):
                    if element.number == 1:
                        values += _elements(data, kind, element, name)
    if kind == FLOAT:
        return kind, np.frombuffer(b"".join(values), "<f4").astype(np.float32)
    if kind == INT64:
        return kind, np.array(values, np.uint64).view(np.int64)
    return kind, (values if kind == BYTES else None)


def _unpacked(data: bytes, field: Field, kind: int) -> list[Any] | None:
    """The elements of a long list of unpacked numbers and nothing else, as some encoders write it, else None.

    They are what ``_elements`` would give. A loop over the fields would be slow.
    """
    size = field.end - field.begin
    if kind == BYTES or size < _LEAST_UNPACKED:
        return None
    octets: npt.NDArray[np.uint8] = np.frombuffer(data, np.uint8, size, field.begin)
    if kind == INT64:
        return _unpacked_integers(octets)
    if size % 5 or bool((octets[::5] != _FLOAT_TAG).any()):
        return None
    return [octets.reshape(-1, 5)[:, 1:].tobytes()]


def _unpacked_integers(octets: npt.NDArray[np.uint8]) -> list[int] | None:
    lasts = np.flatnonzero(octets < 0x80)
    tags = lasts[::2]  # every other varint is a tag, of one byte
    begins = np.append(0, lasts[1:-1:2] + 1)
    if (
        lasts.size % 2
        or not lasts.size
        or bool((tags != begins).any() or (octets[tags] != _INTEGER_TAG).any())
    ):
        return None
    try:
        values = decode_varints(np.delete(octets, tags).tobytes(), 0, None)
    except DecodeError:
        return None  # the general path says where
    integers: list[int] = values.view(np.uint64).tolist()
    return integers


def _elements(data: bytes, kind: int, field: Field, name: str) -> list[Any]:
    """The elements in field 1 of a list: one, or many packed ones, or none if the field is unknown."""
    if field.type == DELIMITED:
        content = data[field.begin : field.end]
        if kind == INT64:
            values: list[int] = decode_varints(content, field.begin, name).view(np.uint64).tolist()
            return values
        if kind == FLOAT and len(content) % 4:
            raise DecodeError("packed floats end inside a value", feature=name, position=field.begin)
        return [content]
    if kind == FLOAT and field.type == FIXED32:
        return [data[field.begin : field.end]]
    if kind == INT64 and field.type == VARINT:
        return [field.value]
    return []


def fields(data: bytes, begin: int, end: int, depth: int, name: str | None = None) -> Iterator[Field]:
    """The fields of the message in ``data[begin:end]``, which is nested in ``depth`` others."""
    position = begin
    while position < end:
        field, position = read_field(data, position, end, depth, name)
        yield field


def read_field(data: bytes, begin: int, end: int, depth: int, name: str | None = None) -> tuple[Field, int]:
    """The field at ``begin`` of a message that ends at ``end``, and the position after it."""
    tag, position = _read_tag(data, begin, end, name)
    number, wire_type = tag >> 3, tag & 7
    if number == 0:
        raise DecodeError("a field has the number 0", feature=name, position=begin)
    if wire_type == GROUP:
        stop = _skip_group(data, begin, end, depth, name)
        return Field(number, wire_type, begin, stop, 0), stop
    if wire_type == END_GROUP:
        raise DecodeError("a group ends that did not begin", feature=name, position=begin)
    return _content(data, tag, position, end, name)


def _content(data: bytes, tag: int, begin: int, end: int, name: str | None) -> tuple[Field, int]:
    """The field whose tag ends at ``begin``, and the position after it; not for groups."""
    number, wire_type = tag >> 3, tag & 7
    value = 0
    if wire_type == VARINT:
        value, stop = read_varint(data, begin, end, name)
    elif wire_type == DELIMITED:
        size, after = read_varint(data, begin, end, name)
        if after - begin > MAX_TAG or size > MAX_SIZE:
            raise DecodeError("a length is too large", feature=name, position=begin)
        begin, stop = after, after + size
    elif wire_type in (FIXED64, FIXED32):
        stop = begin + (8 if wire_type == FIXED64 else 4)
    else:
        raise DecodeError(f"wire type {wire_type} does not exist", feature=name, position=begin)
    if stop > end:
        raise DecodeError(
            f"a field reaches {stop - end} bytes beyond its message", feature=name, position=begin
        )
    return Field(number, wire_type, begin, stop, value), stop


def _skip_group(data: bytes, begin: int, end: int, depth: int, name: str | None) -> int:
    """The position after the group at ``begin``; groups inside it must match and not be nested too deeply."""
    position = begin
    opened: list[int] = []
    while True:
        here = position
        tag, position = _read_tag(data, here, end, name)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == GROUP:
            opened.append(number)
            if depth + len(opened) > MAX_DEPTH:
                raise DecodeError("groups are nested too deeply", feature=name, position=here)
        elif wire_type == END_GROUP:
            if opened.pop() != number:
                raise DecodeError("a group ends that did not begin", feature=name, position=here)
            if not opened:
                return position
        else:
            _, position = _content(data, tag, position, end, name)


def _read_tag(data: bytes, begin: int, end: int, name: str | None) -> tuple[int, int]:
    if begin < end and data[begin] < 0x80:
        return data[begin], begin + 1
    tag, position = read_varint(data, begin, end, name)
    if position - begin > MAX_TAG or tag >= 2**32:
        raise DecodeError("a field's tag is too large", feature=name, position=begin)
    return tag, position


# --- The layout that every encoder writes -----------------------------------------------------------
#
# The code to read a tag and a size is repeated on purpose. A function call costs more than these four
# lines, and every feature needs them four times.


def plain_entry(data: bytes, position: int, end: int) -> tuple[str, int, Any, int] | None:
    """(name, kind, values, position after it) of an entry in the usual layout, else None."""
    try:
        size = data[position + 1]
        if data[position] != _FIELD_1:
            return None
        position += 2
        if size >= 0x80:
            size, position = read_size(data, position - 1)
        stop = position + size
        length = data[position + 1]
        if stop > end or data[position] != _FIELD_1 or length >= 0x80:
            return None
        key = position + 2
        position = key + length
        size = data[position + 1]
        if data[position] != _FIELD_2:
            return None
        name = data[key:position].decode()
        position += 2
        if size >= 0x80:
            size, position = read_size(data, position - 1)
        if position + size != stop:
            return None
        value = _plain_feature(data, position, stop)
    except (IndexError, UnicodeDecodeError):
        return None
    return None if value is None else (name, value[0], value[1], stop)


def _plain_feature(  # noqa: PLR0911 - every return None is one deviation
    data: bytes, position: int, stop: int
) -> Value | None:
    """The Feature in ``data[position:stop]`` if it holds a single list with numbers packed; else None."""
    if position == stop:
        return UNSET, None
    try:
        kind = data[position] >> 3
        size = data[position + 1]
        if data[position] not in (0x0A, 0x12, 0x1A):
            return None
        position += 2
        if size >= 0x80:
            size, position = read_size(data, position - 1)
        if position + size != stop:
            return None
        if kind == BYTES:
            strings = _plain_strings(data, position, stop)
            return None if strings is None else (BYTES, strings)
        if size == 0:
            return kind, np.empty(0, np.float32 if kind == FLOAT else np.int64)
        size = data[position + 1]
        if data[position] != _FIELD_1:
            return None
        position += 2
        if size >= 0x80:
            size, position = read_size(data, position - 1)
    except IndexError:
        return None
    if position + size != stop:
        return None
    if kind == INT64:
        return _plain_varints(data[position:stop])
    if size % 4:
        return None
    return FLOAT, np.frombuffer(data, "<f4", size >> 2, position).astype(np.float32)


def _plain_strings(data: bytes, position: int, stop: int) -> list[bytes] | None:
    """The elements of a BytesList that holds nothing else; IndexError or None if it holds more."""
    strings = []
    while position < stop:
        size = data[position + 1]
        if data[position] != _FIELD_1:
            return None
        position += 2
        if size >= 0x80:
            size, position = read_size(data, position - 1)
        strings.append(data[position : position + size])
        position += size
    return strings if position == stop else None


def _plain_varints(packed: bytes) -> Value | None:
    if packed.isascii():  # all below 0x80, so each byte is a value
        return INT64, np.frombuffer(packed, np.uint8).astype(np.int64)
    try:
        return INT64, decode_varints(packed, 0, None)
    except DecodeError:
        return None


def read_size(data: bytes, position: int) -> tuple[int, int]:
    """The size at ``position``, and the position after it; IndexError if it is cut off or too large."""
    size = data[position]
    if size < 0x80:
        return size, position + 1
    size &= 0x7F
    for shift in range(7, 7 * MAX_TAG, 7):
        position += 1
        octet = data[position]
        size |= (octet & 0x7F) << shift
        if octet < 0x80:
            if size > MAX_SIZE:
                break
            return size, position + 1
    raise IndexError("a length is too large")


# --- Encoding ---------------------------------------------------------------------------------------


def delimited(number: int, content: bytes) -> bytes:
    """The bytes of field ``number`` with delimited content: a string, a message or a packed list."""
    size = len(content)
    if size < 0x80 and number < 0x10:
        return bytes((number << 3 | DELIMITED, size)) + content
    if size > MAX_SIZE:
        raise EncodeError(f"{size} bytes do not fit into a message, which holds 2 GiB at most")
    return b"".join((varint(number << 3 | DELIMITED), varint(size), content))


def encode_feature(kind: int, values: Any) -> bytes:
    """The serialized Feature that holds the values: the inverse of ``decode_feature``."""
    if kind == UNSET:
        return b""
    if kind == BYTES:
        content = b"".join([delimited(1, value) for value in values])
    elif not len(values):
        content = b""
    elif kind == FLOAT:
        content = delimited(1, values.astype("<f4", copy=False).tobytes())
    else:
        content = delimited(1, varints(values))
    return delimited(kind, content)


def encode_map(entries: dict[str, bytes]) -> bytes:
    """The serialized map from names to messages (Feature or FeatureList), sorted by the names in UTF-8."""
    named = sorted([(name.encode(), message) for name, message in entries.items()])
    return b"".join([delimited(1, delimited(1, name) + delimited(2, message)) for name, message in named])
