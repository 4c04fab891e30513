"""A plain, slow encoder of Examples and frames, one record at a time.

It writes the files of the benchmark instead of purerecord, so that a bug of purerecord cannot hide in
them. A writer may choose the order of the map entries; ``canonical`` sorts them, so that files of two
writers can be compared. This module knows the wire format, but not the workloads.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Union

import numpy as np
import numpy.typing as npt
from crc32c import crc32c

Array = npt.NDArray[np.generic]


class Jagged(NamedTuple):
    """A column of rows of different lengths: row ``i`` is ``values[splits[i]:splits[i + 1]]``."""

    values: Array
    splits: npt.NDArray[np.int64]


Column = Union[Array, "list[bytes]", Jagged]


def rows_of(column: Column) -> Sequence[Array | bytes]:
    """The rows of the column: arrays, or bytes."""
    if isinstance(column, Jagged):
        return _split_rows(column)
    return column if isinstance(column, list) else list(column)


def _split_rows(column: Jagged) -> list[Array]:
    return np.split(column.values, column.splits[1:-1])


def varint(value: int) -> bytes:
    """``value`` as a protobuf varint; negative numbers take ten bytes."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def delimited(tag: bytes, body: bytes) -> bytes:
    """A length-delimited field."""
    return tag + varint(len(body)) + body


def feature(value: Array | bytes) -> bytes:
    """One ``Feature`` message; the type of ``value`` decides its kind."""
    if isinstance(value, bytes):
        return delimited(b"\x0a", delimited(b"\x0a", value))
    if value.dtype.kind == "f":
        return delimited(b"\x12", delimited(b"\x0a", value.astype("<f4").tobytes()))
    packed = b"".join(map(varint, np.atleast_1d(value).ravel().tolist()))
    return delimited(b"\x1a", delimited(b"\x0a", packed))


def feature_list(steps: Iterable[Array | bytes]) -> bytes:
    """One ``FeatureList`` message, with a ``Feature`` per step."""
    return b"".join(delimited(b"\x0a", feature(step)) for step in steps)


def map_entries(name: str, messages: Iterable[bytes]) -> list[bytes]:
    """The map entries ``name: message``, one per record."""
    key = delimited(b"\x0a", name.encode())
    return [delimited(b"\x0a", key + delimited(b"\x12", message)) for message in messages]


def examples(columns: dict[str, Column], order: npt.NDArray[np.intp] | None = None) -> Iterator[bytes]:
    """Serialised Examples with sorted keys, or with the keys of record ``i`` in the order ``order[i]``."""
    entries = [map_entries(name, map(feature, rows_of(columns[name]))) for name in sorted(columns)]
    for index, record in enumerate(zip(*entries, strict=True)):
        parts = record if order is None else [record[place] for place in order[index]]
        yield delimited(b"\x0a", b"".join(parts))


def sequence_examples(context: dict[str, Column], steps: dict[str, Jagged]) -> Iterator[bytes]:
    """Serialised SequenceExamples with sorted keys."""
    contexts = [map_entries(name, map(feature, rows_of(context[name]))) for name in sorted(context)]
    lists = [map_entries(name, map(feature_list, _split_rows(steps[name]))) for name in sorted(steps)]
    for first, second in zip(zip(*contexts, strict=True), zip(*lists, strict=True), strict=True):
        yield delimited(b"\x0a", b"".join(first)) + delimited(b"\x12", b"".join(second))


def frame(payload: bytes) -> bytes:
    """The frame of the payload: length, CRC, payload, CRC."""
    length = struct.pack("<Q", len(payload))
    return b"%b%b%b%b" % (length, masked_crc(length), payload, masked_crc(payload))


def masked_crc(data: bytes) -> bytes:
    """TFRecord's masked CRC-32C of ``data``: rotated, plus a constant, as four bytes."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def payloads(path: Path) -> Iterator[bytes]:
    """The payloads of an undamaged, uncompressed file; checks nothing."""
    with path.open("rb") as file:
        while header := file.read(12):
            payload = file.read(struct.unpack_from("<Q", header)[0])
            file.read(4)
            yield payload


def canonical(example: bytes) -> bytes:
    """The sorted map entries of an Example, equal for Examples that differ only in their key order."""
    body, rest = _take(example)
    if rest:
        raise ValueError("an Example with something after its features")
    entries = []
    while body:
        entry, body = _take(body)
        entries.append(entry)
    return b"".join(sorted(entries))


def _take(data: bytes) -> tuple[bytes, bytes]:
    """Split off the first field, which must have number 1 and be length-delimited."""
    if not data.startswith(b"\x0a"):
        raise ValueError("not an Example")
    length = shift = 0
    position = 1
    while True:
        byte = data[position]
        length |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            break
    return data[position : position + length], data[position + length :]
