"""One Example at a time, for records that look like the ones before: the same features in the same order.

``RowLayout`` knows the headers of the entries of earlier records. An entry of one value needs one
comparison then, instead of a walk through its five lengths. Whatever deviates goes to the row decoder in
``wire``, which is the definition: this module never gives another result, and never an error. It does not
know what values are for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .values import Array
from .wire import BYTES, DELIMITED, FLOAT, INT64, Value, decode_features, plain_entry, read_size

# The bytes of a value and of its key, for which all lengths of an entry are single bytes.
_MOST_SHORT = 119
_MOST_VARINT = 9  # bytes; longer ones are negative
# By the number of bytes of a varint: which bits say whether it goes on, and what they must be.
_MORE = [sum(0x80 << 8 * i for i in range(n)) for n in range(_MOST_VARINT + 1)]
_LAST = [sum(0x80 << 8 * i for i in range(n - 1)) for n in range(_MOST_VARINT + 1)]

_OTHER = 0  # a step for an entry of any form
# The bytes that a single value of each kind can have.
_SIZES = {
    _OTHER: range(0),
    FLOAT: range(4, 5),
    INT64: range(1, _MOST_VARINT + 1),
    BYTES: range(_MOST_SHORT + 1),
}
_FILLER = {FLOAT: b"\0\0\0\0", INT64: 0, BYTES: b""}


class Row(NamedTuple):
    """A decoded record: the single values by kind, and whatever else it holds, by name.

    ``layout.places`` says which value belongs to which feature. ``others`` goes before it.
    """

    layout: RowLayout
    floats: Array
    integers: Array
    strings: list[bytes]
    others: dict[str, Value]

    def features(self) -> dict[str, Value]:
        """What ``decode_features`` gives."""
        return {name: self.feature(name) for name in self.layout.names}

    def singles(self) -> list[Any]:
        """The single values, as numpy scalars and ``bytes``. ``number`` says where each is."""
        return [*self.floats, *self.integers, *self.strings]

    def number(self, name: str) -> int:
        """The number of a feature among ``singles``."""
        kind, place = self.layout.places[name]
        before = {FLOAT: 0, INT64: len(self.floats), BYTES: len(self.floats) + len(self.integers)}
        return before[kind] + place

    def feature(self, name: str) -> Value:
        """The kind and the values of a feature."""
        if name in self.others:
            return self.others[name]
        kind, place = self.layout.places[name]
        if kind == BYTES:
            return kind, [self.strings[place]]
        return kind, (self.floats if kind == FLOAT else self.integers)[place : place + 1]


class RowLayout:
    """The entries of a record in their order; ``places`` are the kind and the number of each single value."""

    def __init__(self, features: dict[str, Value]) -> None:
        self.names = list(features)
        self.remembered: Any = None  # what a caller wants to know again of this layout
        self.places: dict[str, tuple[int, int]] = {}
        self._steps: list[tuple[int, _Headers, str]] = []
        counts = {FLOAT: 0, INT64: 0, BYTES: 0}
        for name, (kind, values) in features.items():
            single = kind in counts and len(values) == 1
            if single:
                self.places[name] = kind, counts[kind]
                counts[kind] += 1
            step = kind if single else _OTHER
            self._steps.append((step, _Headers(name, step), name))

    def decode(self, data: bytes) -> Row | None:
        """The record if it has this layout, else None."""
        try:
            if data[0] != 0x0A:
                return None
            size, position = read_size(data, 1)
            return self._decode(data, position) if position + size == len(data) else None
        except IndexError:
            return None

    def _decode(self, data: bytes, position: int) -> Row | None:
        floats: list[bytes] = []
        integers: list[int] = []
        strings: list[bytes] = []
        others: dict[str, Value] = {}
        for kind, headers, name in self._steps:
            header = headers[data[position + 1]]
            if header is not None:
                expected, size, length = header
                begin = position + size
                end = begin + length
                if data[position:begin] == expected:
                    if kind == INT64:
                        if length == 1:
                            value = data[begin]
                            good = value < 0x80
                        else:
                            word = int.from_bytes(data[begin:end], "little")
                            good = word & _MORE[length] == _LAST[length]
                            value = (
                                word & 0x7F
                                | word >> 1 & 0x3F80
                                | word >> 2 & 0x1FC000
                                | word >> 3 & 0xFE00000
                            )
                            for place in range(4, length):
                                value |= word >> place & 0x7F << 7 * place
                        if good:
                            integers.append(value)
                            position = end
                            continue
                    else:
                        (floats if kind == FLOAT else strings).append(data[begin:end])
                        position = end
                        continue
            plain = plain_entry(data, position, len(data))
            if plain is None or plain[0] != name:
                return None
            others[name], position = (plain[1], plain[2]), plain[3]
            if kind:
                fill: list[Any] = floats if kind == FLOAT else integers if kind == INT64 else strings
                fill.append(_FILLER[kind])
        if position != len(data):
            return None
        # Copied, so that callers can change it.
        numbers = np.frombuffer(b"".join(floats), "<f4").astype(np.float32)
        return Row(self, numbers, np.array(integers, np.int64), strings, others)


class _Headers(dict[int, "tuple[bytes, int, int] | None"]):
    """For the second byte of an entry of one value: its header, the size of that, and that of the value.

    None if no entry of the feature has this second byte.
    """

    def __init__(self, name: str, kind: int) -> None:
        self._key = name.encode()
        self._kind = kind

    def __missing__(self, entry: int) -> tuple[bytes, int, int] | None:
        key = self._key
        size = entry - len(key) - 8
        sizes = _SIZES[self._kind]
        self[entry] = None
        if size in sizes and size + len(key) <= _MOST_SHORT:
            tag = self._kind << 3 | DELIMITED
            lengths = (size + 4, tag, size + 2, 0x0A, size)
            header = b"\x0a%c\x0a%c%b\x12%c%c%c%c%c" % (entry, len(key), key, *lengths)
            self[entry] = header, len(header), size
        return self[entry]


# The latest layouts, newest first. They decide what is tried first, and have no influence on results.
_remembered: tuple[RowLayout, ...] = ()
_MOST_REMEMBERED = 2
# The names of the features of the latest record that had none of these layouts.
_latest: list[str] = []


def decode_row(data: bytes) -> Row | dict[str, Value]:
    """The features of a serialized Example: a Row if it looks like earlier ones, else the row decoder's."""
    global _remembered, _latest  # noqa: PLW0603 - a cache
    for layout in _remembered:
        row = layout.decode(data)
        if row is not None:
            return row
    features = decode_features(data)
    names = list(features)
    # A layout is made for the second record of its kind: keys may come in another order in every record.
    if names == _latest:
        _remembered = (RowLayout(features), *_remembered)[:_MOST_REMEMBERED]
    _latest = names
    return features
