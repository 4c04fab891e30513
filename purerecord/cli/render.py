"""Show: records as JSON lines or text, and what a file holds, for the shell.

What JSON lacks is an object with one member whose name says what it is: ``{"base64": ...}`` for bytes that
are no UTF-8 text, ``{"float": "nan"}`` for numbers that JSON cannot write. This module reads no files.
"""

from __future__ import annotations

import base64
import difflib
import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..container.looks_like import looks_like
from ..errors import DecodeError
from ..payload.example import decode_sequence_example
from ..records import Records
from ..recovery.report import human_size

# A text line shows so many values of a feature, and so many characters of a string.
_VALUES, _CHARACTERS = 8, 60
# Of more different features than these it is not known which have been met.
_MET = 10_000


# --- Records ----------------------------------------------------------------------------------------


class Selection:
    """Which features are shown: those that are named, or all; and which of them have been met."""

    def __init__(self, names: Collection[str] | None = None) -> None:
        self._names = names
        self._met: dict[str, None] = {}

    def among(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        """Those of ``part`` that are shown."""
        if self._names is None:
            return part
        if len(self._met) < _MET:
            self._met.update(dict.fromkeys(part))
        return {name: part[name] for name in part if name in self._names}

    def unmet(self) -> list[str]:
        """A sentence for each feature that was named but is in no record."""
        said = []
        for name in self._names or ():
            if name not in self._met and len(self._met) < _MET:
                near = difflib.get_close_matches(name, self._met, 3) or list(self._met)[:5]
                there = f"; there is {', '.join(map(repr, near))}" if near else ""
                said.append(f"no record has a feature {name!r}{there}")
        return said


_ALL = Selection()


def as_json(payload: bytes, selection: Selection = _ALL) -> str:
    """One line: the features of an Example, each a list; of a SequenceExample, ``context`` and ``sequence``.

    What is neither is its text, or its base64.
    """
    decoded = _decoded(payload)
    if decoded is None:
        return _dumps(_string(payload))
    context, sequence = map(selection.among, decoded)
    listed = {name: _values(value) for name, value in context.items()}
    if not sequence:
        return _dumps(listed)
    steps = {name: [_values(step) for step in value] for name, value in sequence.items()}
    return _dumps({"context": listed, "sequence": steps})


def as_text(number: int, payload: bytes, selection: Selection = _ALL) -> str:
    """A few lines for people: long lists and strings are cut short, and bytes only described."""
    lines = [f"record {number}: {len(payload):,} bytes"]
    decoded = _decoded(payload)
    if decoded is None:
        return "\n".join([*lines, f"  no Example; {_described(payload)}"])
    context, sequence = map(selection.among, decoded)
    lines += [f"  {name}: {_brief(value)}" for name, value in sorted(context.items())]
    for name, steps in sorted(sequence.items()):
        lines.append(f"  {name}: {len(steps):,} steps")
        lines += [f"    {_brief(step)}" for step in steps[:_VALUES]]
    return "\n".join(lines)


def _decoded(payload: bytes) -> tuple[Any, Any] | None:
    """Context and sequence; an Example is a SequenceExample without a sequence. None if it is neither."""
    try:
        return decode_sequence_example(payload)
    except DecodeError:
        return None


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _values(values: Any) -> list[Any]:
    if isinstance(values, np.ndarray) and values.dtype == np.float32:
        # The shortest text that stands for the same float32, not for the same float64.
        return [_number(float(text)) for text in values.astype(str).tolist()]
    return [_string(value) if isinstance(value, bytes) else value for value in _listed(values)]


def _listed(values: Any) -> list[Any]:
    listed: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return listed


def _number(value: float) -> Any:
    return value if math.isfinite(value) else {"float": str(value)}


def _string(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _brief(values: Any) -> str:
    shown = [_described(v) if isinstance(v, bytes) else _plain(v) for v in values[:_VALUES]]
    more = f", ... ({len(values):,} values)" if len(values) > _VALUES else ""
    return f"[{', '.join(shown)}{more}]" if len(values) != 1 else shown[0]


def _plain(value: Any) -> str:
    return str(value)


def _described(value: bytes) -> str:
    text = value[: 4 * _CHARACTERS].decode(errors="replace")
    if "\ufffd" in text or not (text.isprintable() or not text):
        what = looks_like(value[:256])
        return f"<{len(value):,} bytes{', ' + what if what and what != 'text' else ''}>"
    return json.dumps(text[:_CHARACTERS] + ("..." if len(value) > _CHARACTERS else ""), ensure_ascii=False)


# --- Files ------------------------------------------------------------------------------------------


@dataclass
class Summary:
    """What a file holds: gathered batch by batch, features from the first records only."""

    sample: int  # how many records are decoded, at the most
    records: int = 0
    payload_bytes: int = 0
    shortest: int | None = None
    longest: int | None = None
    decoded: int = 0
    undecodable: int = 0
    features: dict[str, _Feature] = field(default_factory=dict)

    def add(self, records: Records) -> None:
        """Take account of some more records."""
        lengths = records.lengths
        low, high = int(lengths.min()), int(lengths.max())
        self.shortest = low if self.shortest is None else min(low, self.shortest)
        self.longest = high if self.longest is None else max(high, self.longest)
        self.records += len(records)
        self.payload_bytes += records.nbytes
        for payload in records[: max(0, self.sample - self.decoded - self.undecodable)]:
            self._decode(payload)

    def _decode(self, payload: bytes) -> None:
        decoded = _decoded(payload)
        if decoded is None:
            self.undecodable += 1
            return
        self.decoded += 1
        context, sequence = decoded
        for name, values in context.items():
            self.features.setdefault(name, _Feature()).add(values)
        for name, steps in sequence.items():
            self.features.setdefault(name, _Feature(stepped=True)).add_steps(steps)

    def to_dict(self) -> dict[str, Any]:
        """The summary in types that JSON has."""
        return {
            "records": self.records,
            "payload_bytes": self.payload_bytes,
            "shortest": self.shortest,
            "longest": self.longest,
            "decoded": self.decoded,
            "undecodable": self.undecodable,
            "features": {name: feature.to_dict() for name, feature in sorted(self.features.items())},
        }

    def lines(self) -> list[str]:
        """The summary in lines for people."""
        lines = [f"  records      {self.records:,}"]
        if self.records:
            mean = self.payload_bytes / self.records
            lines.append(
                f"  record size  {human_size(self.shortest or 0)} to {human_size(self.longest or 0)}, "
                f"{human_size(mean)} on average"
            )
        if self.undecodable:
            looked = self.decoded + self.undecodable
            lines.append(
                f"  content      {self.undecodable:,} of the first {looked:,} records are no Examples"
            )
        if self.features:
            lines.append(f"  features     in the first {self.decoded:,} records")
        width = max(map(len, self.features), default=0)
        for name, feature in sorted(self.features.items()):
            lines.append(f"    {name:<{width}}  {feature.describe(self.decoded)}")
        return lines


@dataclass
class _Feature:
    """One feature over the records that were decoded."""

    stepped: bool = False
    kinds: set[str] = field(default_factory=set)
    present: int = 0
    fewest: int | None = None
    most: int | None = None

    def add(self, values: Any) -> None:
        self.kinds.add(_kind(values))
        self._count(len(values))

    def add_steps(self, steps: Any) -> None:
        self.kinds.update(map(_kind, steps))
        self._count(len(steps))

    def _count(self, number: int) -> None:
        self.present += 1
        self.fewest = number if self.fewest is None else min(number, self.fewest)
        self.most = number if self.most is None else max(number, self.most)

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "kind": "/".join(sorted(self.kinds)),
            "present": self.present,
            "fewest": self.fewest,
            "most": self.most,
            "sequence": self.stepped,
        }

    def describe(self, records: int) -> str:
        what = "step" if self.stepped else "value"
        count = f"{self.fewest}" if self.fewest == self.most else f"{self.fewest} to {self.most}"
        missing = f", missing in {records - self.present:,}" if self.present < records else ""
        return f"{'/'.join(sorted(self.kinds))}, {count} {what}{'' if count == '1' else 's'}{missing}"


def _kind(values: Any) -> str:
    if not isinstance(values, np.ndarray):
        return "empty"
    return "bytes" if values.dtype == object else str(values.dtype)
