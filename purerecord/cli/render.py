"""Rendering for the shell: records as JSON lines or text, and the summary of a file.

Values that JSON lacks become an object with one member, whose name is the type: ``{"base64": ...}`` for bytes
that are no UTF-8 text, ``{"float": "nan"}`` for NaN and infinities. This module must not read files.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..container.looks_like import looks_like
from ..errors import DecodeError
from ..payload.example import decode_sequence_example
from ..payload.json_values import bytes_to_json, float_to_json
from ..printable import printable, printable_json
from ..records import Records
from ..recovery.report import counted, human_size

# The values of a feature, and the characters of a string, that text shows before it is cut short.
_SHOWN_VALUES, _SHOWN_CHARACTERS = 8, 60
# The feature names that a message about an unknown name lists.
_SHOWN_NAMES = 20
# Feature names that a selection remembers. With more, it no longer reports names as missing.
_MAX_SEEN = 10_000


# --- Records ----------------------------------------------------------------------------------------


class Selection:
    """The features to show: those with the given names, or all. It remembers which names it has seen."""

    def __init__(self, names: Collection[str] | None = None) -> None:
        self._names = names
        self._seen: dict[str, None] = {}

    def among(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        """The features of ``part`` to show."""
        if self._names is None:
            return part
        if len(self._seen) < _MAX_SEEN:
            self._seen.update(dict.fromkeys(part))
        return {name: part[name] for name in part if name in self._names}

    @property
    def found(self) -> bool:
        """Whether everything is selected, or a selected name has been seen."""
        return self._names is None or not self._seen.keys().isdisjoint(self._names)

    def missing(self) -> list[str]:
        """A sentence for each selected name that no record has."""
        sentences = []
        for name in self._names or ():
            if name not in self._seen and len(self._seen) < _MAX_SEEN:
                near = difflib.get_close_matches(name, self._seen, 3) or sorted(self._seen)
                more = f" and {len(near) - _SHOWN_NAMES:,} more" if len(near) > _SHOWN_NAMES else ""
                there = f"; there is {', '.join(map(repr, near[:_SHOWN_NAMES]))}{more}" if near else ""
                sentences.append(f"no record has a feature {name!r}{there}")
        return sentences


_ALL = Selection()


def as_json(payload: bytes, selection: Selection = _ALL) -> str:
    """One line of JSON: the features of an Example, or ``context`` and ``sequence`` of a SequenceExample.

    Each feature is a list. A payload that is neither becomes its text, or its base64.
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
    """A few lines for people. Long lists and strings are cut short, and bytes are only described."""
    lines = [f"record {number}: {counted(len(payload), 'byte')}"]
    decoded = _decoded(payload)
    if decoded is None:
        return "\n".join([*lines, f"  no Example; {_described(payload)}"])
    context, sequence = map(selection.among, decoded)
    lines += [f"  {printable(name)}: {_brief(value)}" for name, value in sorted(context.items())]
    for name, steps in sorted(sequence.items()):
        lines.append(f"  {printable(name)}: {counted(len(steps), 'step')}")
        lines += [f"    {_brief(step)}" for step in steps[:_SHOWN_VALUES]]
    return "\n".join(lines)


def _decoded(payload: bytes) -> tuple[Any, Any] | None:
    """The context and the sequence, which is empty for an Example; None for any other payload."""
    try:
        return decode_sequence_example(payload)
    except DecodeError:
        return None


def _dumps(value: Any) -> str:
    return printable_json(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _values(values: Any) -> list[Any]:
    if isinstance(values, np.ndarray) and values.dtype == np.float32:
        # The shortest text that reads back as the same float32; for the same float64 it would be longer.
        return [float_to_json(float(text)) for text in values.astype(str).tolist()]
    return [_string(value) if isinstance(value, bytes) else value for value in _listed(values)]


def _listed(values: Any) -> list[Any]:
    listed: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return listed


def _string(value: bytes) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return bytes_to_json(value)


def _brief(values: Any) -> str:
    shown = [_described(v) if isinstance(v, bytes) else str(v) for v in values[:_SHOWN_VALUES]]
    more = f", ... ({len(values):,} values)" if len(values) > _SHOWN_VALUES else ""
    return f"[{', '.join(shown)}{more}]" if len(values) != 1 else shown[0]


def _described(value: bytes) -> str:
    text = value[: 4 * _SHOWN_CHARACTERS].decode(errors="replace")
    if "\ufffd" in text or not (text.isprintable() or not text):
        what = looks_like(value[:256])
        return f"<{counted(len(value), 'byte')}{', ' + what if what and what != 'text' else ''}>"
    return json.dumps(
        text[:_SHOWN_CHARACTERS] + ("..." if len(value) > _SHOWN_CHARACTERS else ""), ensure_ascii=False
    )


# --- Files ------------------------------------------------------------------------------------------


@dataclass
class Summary:
    """The summary of a file, collected batch by batch. Features are those of the first records."""

    sample: int  # the number of records to decode, at most
    records: int = 0
    payload_bytes: int = 0
    shortest: int | None = None
    longest: int | None = None
    decoded: int = 0
    undecodable: int = 0
    features: dict[str, _Feature] = field(default_factory=dict)
    files: int = 1

    def add(self, records: Records) -> None:
        """Add records to the summary."""
        lengths = records.lengths
        self.shortest = _either(min, int(lengths.min()), self.shortest)
        self.longest = _either(max, int(lengths.max()), self.longest)
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
        """The summary in the types of JSON."""
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
        """The summary as lines for people."""
        lines = [f"  records      {self.records:,}"]
        if self.records:
            mean = self.payload_bytes / self.records
            lines.append(
                f"  record size  {human_size(self.shortest or 0)} to {human_size(self.longest or 0)}, "
                f"{human_size(mean)} on average"
            )
        if self.undecodable:
            looked = counted(self.decoded + self.undecodable, "record")
            lines.append(f"  content      of the first {looked}, {self.undecodable:,} no Examples")
        if self.features:
            each = f", at most {self.sample:,} of each file" if self.files > 1 else ""
            lines.append(f"  features     in the first {counted(self.decoded, 'record')}{each}")
        width = max((len(printable(name)) for name in self.features), default=0)
        for name, feature in sorted(self.features.items()):
            lines.append(f"    {printable(name):<{width}}  {feature.describe(self.decoded)}")
        return lines


def merged(summaries: list[Summary]) -> Summary:
    """One summary of several files, all with the same ``sample``."""
    whole = Summary(summaries[0].sample, files=len(summaries))
    for summary in summaries:
        whole.records += summary.records
        whole.payload_bytes += summary.payload_bytes
        whole.shortest = _either(min, whole.shortest, summary.shortest)
        whole.longest = _either(max, whole.longest, summary.longest)
        whole.decoded += summary.decoded
        whole.undecodable += summary.undecodable
        for name, feature in summary.features.items():
            whole.features.setdefault(name, _Feature()).merge(feature)
    return whole


@dataclass
class _Feature:
    """One feature in all decoded records."""

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
        self.fewest = _either(min, number, self.fewest)
        self.most = _either(max, number, self.most)

    def _kinds(self) -> str:
        return "/".join(sorted(self.kinds)) or "empty"

    def merge(self, other: _Feature) -> None:
        self.stepped |= other.stepped
        self.kinds |= other.kinds
        self.present += other.present
        self.fewest = _either(min, self.fewest, other.fewest)
        self.most = _either(max, self.most, other.most)

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "kind": self._kinds(),
            "present": self.present,
            "fewest": self.fewest,
            "most": self.most,
            "sequence": self.stepped,
        }

    def describe(self, records: int) -> str:
        what = "step" if self.stepped else "value"
        count = f"{self.fewest}" if self.fewest == self.most else f"{self.fewest} to {self.most}"
        missing = f", missing in {records - self.present:,}" if self.present < records else ""
        return f"{self._kinds()}, {count} {what}{'' if count == '1' else 's'}{missing}"


def _either(choose: Callable[[int, int], int], one: int | None, other: int | None) -> int | None:
    """The chosen one of two numbers; the other one if one is None."""
    return other if one is None else one if other is None else choose(one, other)


def _kind(values: Any) -> str:
    if not isinstance(values, np.ndarray):
        return "empty"
    return "bytes" if values.dtype == object else str(values.dtype)
