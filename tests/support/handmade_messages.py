"""Builds payloads field by field, in any legal form, for the tests of the decoders.

Entries keep their order, names may repeat, and lists may be unpacked. Neither our encoder nor protobuf's
writes such forms.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

from purerecord.payload.wire import BYTES, FLOAT, INT64, delimited, varint


def feature(kind: int | None, values: Sequence[Any] = (), *, packed: bool = True) -> bytes:
    """A Feature message; kind None leaves its kind unset."""
    if kind is None:
        return b""
    if kind == BYTES:
        content = b"".join(delimited(1, value) for value in values)
    elif packed:
        encode = varint if kind == INT64 else lambda value: struct.pack("<f", value)
        content = delimited(1, b"".join(map(encode, values))) if len(values) else b""
    elif kind == INT64:
        content = b"".join(b"\x08" + varint(value) for value in values)
    else:
        assert kind == FLOAT
        content = b"".join(b"\x0d" + struct.pack("<f", value) for value in values)
    return delimited(kind, content)


def entry(name: str, message: bytes) -> bytes:
    """A map entry: the name, then the Feature or FeatureList."""
    return delimited(1, delimited(1, name.encode()) + delimited(2, message))


def example(entries: Iterable[tuple[str, bytes]]) -> bytes:
    """An Example of (name, Feature) pairs."""
    return delimited(1, b"".join(entry(name, message) for name, message in entries))


def examples_of(name: str, *messages: bytes | None) -> list[bytes]:
    """Examples that hold one Feature each under ``name``; None stands for an Example without it."""
    return [example([] if message is None else [(name, message)]) for message in messages]


def sequence_example(
    context: Iterable[tuple[str, bytes]], lists: Iterable[tuple[str, Sequence[bytes]]]
) -> bytes:
    """A SequenceExample of (name, Feature) and (name, [Feature]) pairs."""
    joined = [entry(name, b"".join(delimited(1, step) for step in steps)) for name, steps in lists]
    return delimited(1, b"".join(entry(n, m) for n, m in context)) + delimited(2, b"".join(joined))


def ints(*values: int, packed: bool = True) -> bytes:
    return feature(INT64, values, packed=packed)


def floats(*values: float, packed: bool = True) -> bytes:
    return feature(FLOAT, values, packed=packed)


def strings(*values: bytes) -> bytes:
    return feature(BYTES, values)


UNSET_FEATURE = feature(None)
