"""``FeatureEdit``: drops and renames the features of a serialized Example, and leaves every other byte alone.

The entries of the map are moved as they are; values are not decoded. What is no feature, such as a field that
this version does not know, is kept. In a SequenceExample the feature lists are features too. This module must
not know which records are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ...errors import SchemaError
from ...payload.varint import varint
from ...payload.wire import DELIMITED, fields, read_field

_KEY, _VALUE = 0x0A, 0x12  # the tags of an entry's key and value
_ONE_BYTE = 0x80  # lengths below it take one byte


@dataclass
class FeatureEdit:
    """What is done to the features: ``keep`` only these, None for all; ``drop`` these; ``rename`` the keys.

    ``seen`` are the names that were met.
    """

    keep: Collection[bytes] | None
    drop: Collection[bytes]
    rename: Mapping[bytes, bytes]
    seen: set[bytes] = field(default_factory=set)

    def __call__(self, payload: bytes) -> bytes:
        """The payload with the features that it is to have."""
        parts: list[bytes] = []
        names: dict[int, set[bytes]] = {1: set(), 2: set()}  # of features, and of feature lists
        position = 0
        while position < len(payload):
            part, after = read_field(payload, position, len(payload), 0)
            if part.type == DELIMITED and part.number in (1, 2):
                content = self._map(payload, part.begin, part.end, names[part.number])
                parts += [bytes([part.number << 3 | DELIMITED]), varint(len(content)), content]
            else:
                parts.append(payload[position:after])
            position = after
        for found in names.values():
            self._check(found)
            self.seen |= found
        return b"".join(parts)

    def _check(self, names: set[bytes]) -> None:
        """Raise a SchemaError if two features would have the same name."""
        for old, new in self.rename.items():
            if old in names and new in names and self._keeps(new) and new not in self.rename:
                reason = f"the record has it already, so {old.decode()!r} cannot be renamed to it"
                raise SchemaError(reason, feature=new.decode())

    def _keeps(self, key: bytes) -> bool:
        return key not in self.drop and (self.keep is None or key in self.keep)

    def _map(self, data: bytes, begin: int, end: int, names: set[bytes]) -> bytes:
        """The entries that remain of a map of features."""
        parts = []
        position = begin
        while position < end:
            plain = _plain_entry(data, position, end)
            if plain is not None:
                key, begin, after = plain
            else:
                entry, after = read_field(data, position, end, 1)
                if entry.type != DELIMITED or entry.number != 1:
                    parts.append(data[position:after])
                    position = after
                    continue
                begin = entry.begin
                key = _last_key(data, begin, after)
            names.add(key)
            kept = self._keeps(key)
            if kept and key in self.rename:
                parts.append(self._renamed(data, begin, after, self.rename[key]))
            elif kept:
                parts.append(data[position:after])
            position = after
        return b"".join(parts)

    def _renamed(self, data: bytes, begin: int, end: int, name: bytes) -> bytes:
        rest = []
        position = begin
        while position < end:
            part, after = read_field(data, position, end, 2)
            if part.type != DELIMITED or part.number != 1:
                rest.append(data[position:after])
            position = after
        content = b"".join([bytes([_KEY]), varint(len(name)), name, *rest])
        return b"".join([bytes([_KEY]), varint(len(content)), content])


def _plain_entry(data: bytes, position: int, end: int) -> tuple[bytes, int, int] | None:
    """The key of a short entry as every encoder writes it, where its content begins, and where it ends.

    None for any other, which the general path reads.
    """
    if end - position < 6 or data[position] != _KEY or data[position + 1] >= _ONE_BYTE:
        return None
    begin = position + 2
    after = begin + data[position + 1]
    if after > end or data[begin] != _KEY or data[begin + 1] >= _ONE_BYTE:
        return None
    stop = begin + 2 + data[begin + 1]
    if stop + 2 > after or data[stop] != _VALUE or stop + 2 + data[stop + 1] != after:
        return None
    return data[begin + 2 : stop], begin, after


def _last_key(data: bytes, begin: int, end: int) -> bytes:
    key = b""
    for part in fields(data, begin, end, 2):
        if part.type == DELIMITED and part.number == 1:
            key = data[part.begin : part.end]
    return key
