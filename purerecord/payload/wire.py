"""Protocol-buffer wire format, as far as Example and SequenceExample need it.

This is the row decoder: one payload in, one mapping out, with exactly the acceptance and the result of
protobuf's own parser (upb): packed, unpacked and split lists, keys after values, repeated keys, unknown
fields and groups. Every length is checked against the bytes that are there before it is used, nesting
is bounded and nothing recurses, so that any bytes give a value or a ``DecodeError``.

What every encoder in practice writes is recognised by ``_plain_feature`` and its callers, which give up
(return None) at the first surprise; then the general path, ``fields``, decides what the bytes mean.
This module does not know what the values are for: no feature specs, no defaults, no batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..errors import DecodeError, EncodeError
from ..records import BytesLike
from .varint import MAX_VARINT, UINT64, decode_varints, varint, varints

# The kind of a feature: the number of its list in Feature's oneof, or one of the two ways to have none.
ABSENT = -1  # the key is not there
UNSET = 0  # the key is there, but its Feature holds no list
BYTES = 1
FLOAT = 2
INT64 = 3

# Wire format; never change.
VARINT, FIXED64, DELIMITED, GROUP, END_GROUP, FIXED32 = range(6)
MAX_TAG = 5  # bytes; so long a tag or size may be, however small its value
MAX_DEPTH = 100  # messages and groups inside one another
MAX_SIZE = 2**31 - 1
_FIELD_1, _FIELD_2 = 0x0A, 0x12  # the tags of delimited fields 1 and 2

Value = tuple[int, Any]  # (kind, values)


class Field(NamedTuple):
    """One field of a message: its content is ``data[begin:end]``; ``value`` is that of a varint."""

    number: int
    type: int
    begin: int
    end: int
    value: int


# --- Decoding ---------------------------------------------------------------------------------------


def decode_features(payload: BytesLike) -> dict[str, Value]:
    """The features of a serialized Example: name -> (kind, values).

    The values are a list of ``bytes`` for BYTES, an array of float32 or int64 for FLOAT and INT64, and
    None for UNSET. The first appearance of a name decides its place, the last one its value.
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
    """Add the entries of the Features message in ``data[begin:end]`` to ``features``."""
    position = begin
    while position < end:
        plain = _plain_entry(data, position, end)
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
    """The Features of a FeatureList that comes in ``parts``."""
    values: list[Value] = []
    for part in parts:
        for field in fields(data, part.begin, part.end, 3, name):
            if field.type == DELIMITED and field.number == 1:
                plain = _plain_feature(data, field.begin, field.end)
                values.append(_decode_feature(data, [field], 4, name) if plain is None else plain)
    return values


def _entry(data: bytes, entry: Field) -> tuple[str, list[Field], bool]:
    """The key of a map entry, the parts of its value, and whether the entry counts.

    As in protobuf, the last key counts, the parts of a repeated value are one message, and an entry with
    an unknown field is unknown as a whole: its value must be valid, but it adds nothing to the map.
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
    """The Feature that comes in ``parts``: the last kind wins, lists of that kind are concatenated."""
    kind = UNSET
    values: list[Any] = []
    for part in parts:
        for field in fields(data, part.begin, part.end, depth, name):
            if field.type == DELIMITED and field.number in (BYTES, FLOAT, INT64):
                if field.number != kind:
                    kind, values = field.number, []
                for element in fields(data, field.begin, field.end, depth + 1, name):
                    if element.number == 1:
                        values += _elements(data, kind, element, name)
    if kind == FLOAT:
        return kind, np.frombuffer(b"".join(values), "<f4").astype(np.float32)
    if kind == INT64:
        return kind, np.array(values, np.uint64).view(np.int64)
    return kind, (values if kind == BYTES else None)


def _elements(data: bytes, kind: int, field: Field, name: str) -> list[Any]:
    """What field 1 of a list of this kind holds: one element, or many packed ones, or an unknown field."""
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
    """The fields of the message in ``data[begin:end]``, which lies ``depth`` messages deep."""
    position = begin
    while position < end:
        field, position = read_field(data, position, end, depth, name)
        yield field


def read_field(data: bytes, begin: int, end: int, depth: int, name: str | None = None) -> tuple[Field, int]:
    """The field at ``begin`` of a message that ends at ``end``, and where the next one begins."""
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
    """The field whose content begins at ``begin``, behind its tag, and its end; not for groups."""
    number, wire_type = tag >> 3, tag & 7
    value = 0
    if wire_type == VARINT:
        value, stop = _read_varint(data, begin, end, name)
    elif wire_type == DELIMITED:
        size, begin = _read_size(data, begin, end, name)
        stop = begin + size
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
    """Where the group that begins at ``begin`` ends; groups inside it must match, and not be too many."""
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
    tag, position = _read_varint(data, begin, end, name)
    if position - begin > MAX_TAG or tag >= 2**32:
        raise DecodeError("a field's tag is too large", feature=name, position=begin)
    return tag, position


def _read_size(data: bytes, begin: int, end: int, name: str | None) -> tuple[int, int]:
    size, position = _read_varint(data, begin, end, name)
    if position - begin > MAX_TAG or size > MAX_SIZE:
        raise DecodeError("a length is too large", feature=name, position=begin)
    return size, position


def _read_varint(data: bytes, begin: int, end: int, name: str | None) -> tuple[int, int]:
    """The varint at ``begin``, modulo 2**64, and the position behind it."""
    value = shift = 0
    for position in range(begin, min(end, begin + MAX_VARINT)):
        octet = data[position]
        value |= (octet & 0x7F) << shift
        if octet < 0x80:
            return value & UINT64, position + 1
        shift += 7
    reason = "a varint is too long" if end - begin >= MAX_VARINT else "the message ends inside a field"
    raise DecodeError(reason, feature=name, position=begin)


# --- The layout that every encoder writes -----------------------------------------------------------
#
# Reading a tag and a size is written out each time: a call for these four lines costs more than they do,
# and there are four of them for every feature.


def _plain_entry(data: bytes, position: int, end: int) -> tuple[str, int, Any, int] | None:
    """(name, kind, values, next position) of an entry in the usual layout, else None."""
    try:
        size = data[position + 1]
        if data[position] != _FIELD_1:
            return None
        position += 2
        if size >= 0x80:
            size, position = _plain_size(data, position, size)
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
            size, position = _plain_size(data, position, size)
        if position + size != stop:
            return None
        value = _plain_feature(data, position, stop)
    except (IndexError, UnicodeDecodeError):
        return None
    return None if value is None else (name, value[0], value[1], stop)


def _plain_feature(  # noqa: PLR0911 - every return None is one surprise
    data: bytes, position: int, stop: int
) -> Value | None:
    """The Feature in ``data[position:stop]`` if it is one list, packed if of numbers; else None."""
    if position == stop:
        return UNSET, None
    try:
        kind = data[position] >> 3
        size = data[position + 1]
        if data[position] not in (0x0A, 0x12, 0x1A):
            return None
        position += 2
        if size >= 0x80:
            size, position = _plain_size(data, position, size)
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
            size, position = _plain_size(data, position, size)
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
    """The elements of a BytesList that holds nothing else; IndexError or None if it does."""
    strings = []
    while position < stop:
        size = data[position + 1]
        if data[position] != _FIELD_1:
            return None
        position += 2
        if size >= 0x80:
            size, position = _plain_size(data, position, size)
        strings.append(data[position : position + size])
        position += size
    return strings if position == stop else None


def _plain_varints(packed: bytes) -> Value | None:
    if packed.isascii():  # below 0x80: each byte is a value
        return INT64, np.frombuffer(packed, np.uint8).astype(np.int64)
    try:
        return INT64, decode_varints(packed, 0, None)
    except DecodeError:
        return None


def _plain_size(data: bytes, position: int, first: int) -> tuple[int, int]:
    """The size whose first byte, read already, is not its last; one that is too long fits nowhere."""
    size = first & 0x7F
    for shift in (7, 14, 21, 28):
        octet = data[position]
        position += 1
        size |= (octet & 0x7F) << shift
        if octet < 0x80:
            return (size if size <= MAX_SIZE else len(data)), position
    return len(data), position


# --- Encoding ---------------------------------------------------------------------------------------


def delimited(number: int, content: bytes) -> bytes:
    """Field ``number`` with a length-delimited content: a string, a message or a packed list."""
    size = len(content)
    if size < 0x80 and number < 0x10:
        return bytes((number << 3 | DELIMITED, size)) + content
    if size > MAX_SIZE:
        raise EncodeError(f"{size} bytes do not fit into a message, which holds 2 GiB at most")
    return b"".join((varint(number << 3 | DELIMITED), varint(size), content))


def encode_feature(kind: int, values: Any) -> bytes:
    """A serialized Feature: the inverse of what ``decode_features`` gives for one name."""
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
    """A serialized map from names to messages (Features, FeatureLists), sorted by the names' UTF-8."""
    named = sorted([(name.encode(), message) for name, message in entries.items()])
    return b"".join([delimited(1, delimited(1, name) + delimited(2, message)) for name, message in named])
