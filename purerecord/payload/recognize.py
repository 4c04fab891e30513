"""Tells other messages from Examples: what a payload may be in which an Example's decoder finds nothing.

Bytes do not say which message they are. Protobuf, and the decoders of this package, take a payload that holds
only unknown fields for an empty Example. Whoever shows or checks records asks this module first.
It reads the wire format; it does not know the messages' classes, nor files.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ..bytes_column import BytesLike
from ..errors import DecodeError
from .wire import DELIMITED, FIXED32, FIXED64, UNSET, VARINT, Field, decode_features, decode_sequence, fields

EVENT = "tensorflow.Event"
EXAMPLE_LIST = "tensorflow.serving.ExampleListWithContext"

_WRITTEN_BY = {EVENT: "as TensorBoard reads it", EXAMPLE_LIST: "as TensorFlow Ranking reads it"}
_WALL_TIME, _STEP = (1, FIXED64), (2, VARINT)
_EVENT_CONTENTS = {(number, DELIMITED) for number in range(3, 11)}
_FILE_VERSION, _SUMMARY = 3, 5
_SUMMARY_VALUE = {(2, FIXED32), *((number, DELIMITED) for number in (1, 3, 4, 5, 6, 7, 8, 9))}
_EARLIEST, _LATEST = 1e9, 1e10  # seconds: from 2001 on
_TYPE_NAMES = ("varint", "fixed64", "length-delimited", "group", "", "fixed32")
_MOST_FIELDS_NAMED = 8


def check_example(payload: BytesLike) -> None:
    """Raise a DecodeError if ``payload`` is a message, but neither an Example nor a SequenceExample."""
    other = other_message(payload)
    if other is not None:
        raise DecodeError(f"no Example, but {other}")


def other_message(payload: BytesLike) -> str | None:
    """In a few words the message in ``payload``, if it has content but nothing of an Example.

    None for Examples, SequenceExamples and empty messages, and for bytes that are no message.
    """
    data = bytes(payload)
    try:
        found = {(field.number, field.type) for field in fields(data, 0, len(data), 0)}
    except DecodeError:
        return None
    known = recognize(data)
    if known is not None:
        return f"{known}, {_WRITTEN_BY[known]}"
    return None if _may_be_example(data) else f"another message, with {_in_words(found)}"


def recognize(payload: bytes) -> str | None:
    """The full name of the message in ``payload``: EVENT, EXAMPLE_LIST, or None for any other.

    A message is named only if all fields of the payload fit.
    """
    try:
        found = {(field.number, field.type) for field in fields(payload, 0, len(payload), 0)}
    except DecodeError:
        return None
    if _WALL_TIME in found:
        contents = found - {_WALL_TIME, _STEP}
        return EVENT if contents and contents <= _EVENT_CONTENTS and _is_event(payload) else None
    if found and found <= {(1, DELIMITED), (2, DELIMITED)} and _is_example_list(payload):
        return EXAMPLE_LIST
    return None


def _is_event(payload: bytes) -> bool:
    """Whether the fields of an event hold what they should hold, as far as that is easy to see."""
    try:
        for field in fields(payload, 0, len(payload), 0):
            if field.number == _FILE_VERSION:
                return payload.startswith(b"brain.Event:", field.begin)
            if field.number == _SUMMARY:
                return all(
                    value.number == 1 and value.type == DELIMITED and _is_summary_value(payload, value)
                    for value in fields(payload, field.begin, field.end, 1)
                )
    except DecodeError:
        return False
    (seconds,) = struct.unpack("<d", next(_wall_times(payload)))
    return bool(_EARLIEST <= seconds < _LATEST)


def _is_summary_value(payload: bytes, value: Field) -> bool:
    inner = fields(payload, value.begin, value.end, 2)
    return {(field.number, field.type) for field in inner} <= _SUMMARY_VALUE


def _wall_times(payload: bytes) -> Iterator[bytes]:
    for field in fields(payload, 0, len(payload), 0):
        if (field.number, field.type) == _WALL_TIME:
            yield payload[field.begin : field.end]


def _may_be_example(data: bytes) -> bool:
    """Whether ``data`` has a feature or a feature list, or has no content at all."""
    try:
        if decode_features(data):
            return True
        context, lists = decode_sequence(data)
    except DecodeError:  # field 2 of an Example is unknown and may hold anything, but then it is content
        return False
    empty = {(field.number, field.type, field.end - field.begin) for field in fields(data, 0, len(data), 0)}
    return bool(context or lists) or empty <= {(1, DELIMITED, 0), (2, DELIMITED, 0)}


def _is_example_list(payload: bytes) -> bool:
    """Whether all fields are Examples, at least one with features, and the whole is no Example itself."""
    try:
        examples = [
            decode_features(payload[field.begin : field.end]) for field in fields(payload, 0, len(payload), 0)
        ]
    except DecodeError:
        return False
    return any(examples) and not _has_values(payload)


def _has_values(payload: bytes) -> bool:
    """Whether ``payload`` is an Example or a SequenceExample, and not just readable as one.

    Read as an Example, the features of a list of Examples are names: serialized entries, each of which
    begins with the tag of its key, a line feed. They have no values.
    """
    try:
        context, lists = decode_sequence(payload)
    except DecodeError:
        return False
    valued = any(kind != UNSET for kind, _ in context.values()) or any(lists.values())
    return valued or not all(name.startswith("\n") for name in (*context, *lists))


def _in_words(found: set[tuple[int, int]]) -> str:
    """Field numbers and wire types: "the fields 1 (fixed64), 2 (varint)"."""
    named = [f"{number} ({_TYPE_NAMES[kind]})" for number, kind in sorted(found)[:_MOST_FIELDS_NAMED]]
    more = ["..."] if len(found) > len(named) else []
    return f"the field{'s' if len(found) > 1 else ''} {', '.join(named + more)}"
