"""Rendering for the shell: records as JSON lines or text, and the summary of a file.

Values that JSON lacks become an object with one member, whose name is the type: ``{"base64": ...}`` for bytes
that are no UTF-8 text, ``{"float": "nan"}`` for NaN and infinities. A message of ``--proto`` is as protobuf
shows it. This module must not read files.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..container.looks_like import looks_like
from ..errors import DecodeError
from ..payload.example import decode_example, decode_sequence_example
from ..payload.json_values import float_to_json, string_to_json
from ..payload.recognize import other_message
from ..printable import printable, printable_json
from ..records import Records
from ..recovery.report import counted, human_size
from .known_messages import read_event, read_example_list, time_in_words

if TYPE_CHECKING:
    from .message_type import MessageType

# The values of a feature, and the characters of a string, that text shows before it is cut short.
_SHOWN_VALUES, _SHOWN_CHARACTERS = 8, 60
_SHOWN_LINE = 120
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


def as_json(payload: bytes, selection: Selection = _ALL, kind: MessageType | None = None) -> str:
    """One line of JSON: the features of an Example, or ``context`` and ``sequence`` of a SequenceExample.

    Each feature is a list. Events and lists of Examples have their own form. Any other payload becomes its
    text, or its base64. With ``kind``, it is a message of that type, or a DecodeError.
    """
    if kind is not None:
        return _dumps(selection.among(kind.to_json(payload)))
    decoded = _decoded(payload)
    if decoded is None:
        known = _event(payload, selection) or _example_list(payload, selection)
        return _dumps(string_to_json(payload) if known is None else known)
    context, sequence = map(selection.among, decoded)
    listed = _features(context)
    if not sequence:
        return _dumps(listed)
    steps = {name: [_values(step) for step in value] for name, value in sequence.items()}
    return _dumps({"context": listed, "sequence": steps})


def _features(features: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _values(value) for name, value in features.items()}


def _event(payload: bytes, selection: Selection) -> dict[str, Any] | None:
    """An event with the values of the selected tags; None if ``payload`` is no event."""
    event = read_event(payload)
    if event is not None and "values" in event:
        tags = selection.among({value["tag"]: None for value in event["values"]})
        event["values"] = [value for value in event["values"] if value["tag"] in tags]
    return event


def _example_list(payload: bytes, selection: Selection) -> dict[str, Any] | None:
    """The context and the Examples of a list of Examples; None if ``payload`` is none."""
    parts = read_example_list(payload)
    if parts is None:
        return None
    context, *examples = (_features(selection.among(decode_example(part))) for part in (parts[0], *parts[1]))
    return {"context": context, "examples": examples}


def as_text(number: int, payload: bytes, selection: Selection = _ALL, kind: MessageType | None = None) -> str:
    """A few lines for people. Long lists and strings are cut short, and bytes are only described."""
    lines = [f"record {number}: {counted(len(payload), 'byte')}"]
    if kind is not None:
        shown = (printable(line) for line in kind.to_lines(payload))
        return "\n".join([*lines, *(f"  {_shortened(line, _SHOWN_LINE)}" for line in shown)])
    decoded = _decoded(payload)
    if decoded is None and (event := _event(payload, selection)):
        return "\n".join([*lines, *_event_lines(event)])
    if decoded is None and (parts := read_example_list(payload)):
        lines += _example_lines("context", parts[0], selection)
        for place, part in enumerate(parts[1]):
            lines += _example_lines(f"example {place}", part, selection)
        return "\n".join(lines)
    if decoded is None:
        return "\n".join([*lines, f"  no Example; {other_message(payload) or _described(payload)}"])
    context, sequence = map(selection.among, decoded)
    lines += [f"  {printable(name)}: {_brief(value)}" for name, value in sorted(context.items())]
    for name, steps in sorted(sequence.items()):
        lines.append(f"  {printable(name)}: {counted(len(steps), 'step')}")
        lines += [f"    {_brief(step)}" for step in steps[:_SHOWN_VALUES]]
    return "\n".join(lines)


def as_values(payload: bytes, selection: Selection, kind: MessageType | None = None) -> dict[str, Any]:
    """All features of a record by name, as values of JSON; another message is a DecodeError."""
    if kind is not None:
        return dict(selection.among(kind.to_json(payload)))
    context, sequence = map(selection.among, _example(payload))
    steps = {name: [_values(step) for step in value] for name, value in sequence.items()}
    return {**_features(context), **steps}


def as_cells(payload: bytes, selection: Selection, kind: MessageType | None = None) -> dict[str, str]:
    """The same as short texts for people. They may hold control characters."""
    if kind is not None:
        return {name: _dumps(value) for name, value in selection.among(kind.to_json(payload)).items()}
    context, sequence = map(selection.among, _example(payload))
    steps = {name: counted(len(value), "step") for name, value in sequence.items()}
    return {**{name: _cell(value) for name, value in context.items()}, **steps}


def _cell(values: Any) -> str:
    if len(values) != 1 or not isinstance(values[0], bytes):
        return _brief(values) if len(values) else ""
    text = _described(values[0])
    return text if text.startswith("<") else str(json.loads(text))


def _example(payload: bytes) -> tuple[Any, Any]:
    decoded = _decoded(payload)
    if decoded is None:
        raise DecodeError(f"no Example; {other_message(payload) or _described(payload)}")
    return decoded


def _event_lines(event: dict[str, Any]) -> list[str]:
    lines = [f"  step {event['step']}, {time_in_words(event['wall_time'])}"]
    for value in event.get("values", ()):
        text = value["value"] if value["kind"] in ("scalar", "text") else None
        shown = _dumps(text) if text is not None else f"{value['kind']} {_dumps(value['value'])}"
        lines.append(f"  {printable(value['tag'])}: {_shortened(shown, _SHOWN_LINE)}")
    rest = {name: event[name] for name in event if name not in ("wall_time", "step", "values")}
    return lines + [f"  {name}: {_shortened(_dumps(value), _SHOWN_LINE)}" for name, value in rest.items()]


def _example_lines(title: str, payload: bytes, selection: Selection) -> list[str]:
    features = selection.among(decode_example(payload))
    return [f"  {title}", *(f"    {printable(name)}: {_brief(features[name])}" for name in sorted(features))]


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + "..."


def as_base64(text: str, payload: bytes) -> str | None:
    """In a few words the message in ``payload``, if its JSON ``text`` is only its base64."""
    shown = text.startswith('{"base64": ') and _decoded(payload) is None
    return other_message(payload) if shown else None


def _decoded(payload: bytes) -> tuple[Any, Any] | None:
    """The context and the sequence, which is empty for an Example; None for any other payload."""
    try:
        decoded = decode_sequence_example(payload)
    except DecodeError:
        return None
    context, sequence = decoded
    # A feature without a kind is a plain list.
    filled = any(isinstance(value, np.ndarray) for value in context.values()) or any(sequence.values())
    return decoded if filled or other_message(payload) is None else None


def _dumps(value: Any) -> str:
    return printable_json(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _values(values: Any) -> list[Any]:
    if isinstance(values, np.ndarray) and values.dtype == np.float32:
        # The shortest text that reads back as the same float32; for the same float64 it would be longer.
        return [float_to_json(float(text)) for text in values.astype(str).tolist()]
    return [string_to_json(value) if isinstance(value, bytes) else value for value in _listed(values)]


def _listed(values: Any) -> list[Any]:
    listed: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return listed


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
    kind: MessageType | None = None  # what they are, if not Examples
    records: int = 0
    payload_bytes: int = 0
    shortest: int | None = None
    longest: int | None = None
    decoded: int = 0
    undecodable: int = 0
    other: str | None = None  # what the first record is that is another message
    reason: str = ""  # why the first record that is not of ``kind`` is not
    features: dict[str, _Feature] = field(default_factory=dict)
    events: int = 0
    tags: dict[str, _Tag] = field(default_factory=dict)
    files: int = 1

    def add(self, records: Records) -> None:
        """Add records to the summary."""
        lengths = records.lengths
        self.shortest = _either(min, int(lengths.min()), self.shortest)
        self.longest = _either(max, int(lengths.max()), self.longest)
        self.records += len(records)
        self.payload_bytes += records.nbytes
        for number, payload in enumerate(records[: max(0, self.sample - self.decoded - self.undecodable)]):
            if self.kind is not None:
                self._decode_message(self.kind, payload, records.first + number)
            else:
                self._decode(payload)

    def _decode_message(self, kind: MessageType, payload: bytes, number: int) -> None:
        try:
            counts = kind.field_counts(payload)
        except DecodeError as error:
            self.undecodable += 1
            self.reason = self.reason or f"record {number}: {error.reason}"
            return
        self.decoded += 1
        for name, (type_name, count) in counts.items():
            self.features.setdefault(name, _Feature()).add_counted(type_name, count)

    def _decode(self, payload: bytes) -> None:
        decoded = _decoded(payload)
        if decoded is None:
            self._decode_known(payload)
            return
        self.decoded += 1
        context, sequence = decoded
        for name, values in context.items():
            self.features.setdefault(name, _Feature()).add(values)
        for name, steps in sequence.items():
            self.features.setdefault(name, _Feature(stepped=True)).add_steps(steps)

    def _decode_known(self, payload: bytes) -> None:
        """Add an event, a list of Examples, or a payload that is not decoded."""
        if event := read_event(payload):
            self.decoded += 1
            self.events += 1
            for value in event.get("values", ()):
                self.tags.setdefault(value["tag"], _Tag()).add(value["kind"], event["step"])
        elif parts := read_example_list(payload):
            self.decoded += 1
            for name, values in decode_example(parts[0]).items():
                self.features.setdefault(f"context/{name}", _Feature()).add(values)
            items: dict[str, list[Any]] = {}
            for part in parts[1]:
                for name, values in decode_example(part).items():
                    items.setdefault(name, []).append(values)
            for name, steps in items.items():
                self.features.setdefault(f"examples/{name}", _Feature(stepped=True)).add_steps(steps)
        else:
            self.undecodable += 1
            self.other = self.other or other_message(payload)

    def to_dict(self) -> dict[str, Any]:
        """The summary in the types of JSON."""
        return {
            "records": self.records,
            "payload_bytes": self.payload_bytes,
            "shortest": self.shortest,
            "longest": self.longest,
            "decoded": self.decoded,
            "undecodable": self.undecodable,
            "other_message": self.other,
            "message": self.kind and self.kind.name,
            "features": {name: feature.to_dict() for name, feature in sorted(self.features.items())},
            "events": self.events,
            "tags": {name: tag.to_dict() for name, tag in sorted(self.tags.items())},
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
            lines.append(f"  content      of the first {looked}, {self.undecodable:,} no {self._what}")
        if self.other:
            lines.append(f"               the first of these: {self.other}")
        if self.features:
            each = f", at most {self.sample:,} of each file" if self.files > 1 else ""
            title = "features" if self.kind is None else "fields"
            of = "" if self.kind is None else f" of {self.kind.name}"
            lines.append(f"  {title:<11}  in the first {counted(self.decoded, 'record')}{of}{each}")
        width = max((len(printable(name)) for name in self.features), default=0)
        for name, feature in sorted(self.features.items()):
            lines.append(f"    {printable(name):<{width}}  {feature.describe(self.decoded)}")
        if self.events:
            lines.append(f"  events       {self.events:,} in the first {counted(self.decoded, 'record')}")
        width = max((len(printable(name)) for name in self.tags), default=0)
        for name, tag in sorted(self.tags.items()):
            lines.append(f"    {printable(name):<{width}}  {tag.describe()}")
        return lines

    @property
    def _what(self) -> str:
        return "Examples" if self.kind is None else self.kind.name


def merged(summaries: list[Summary]) -> Summary:
    """One summary of several files, all with the same ``sample``."""
    whole = Summary(summaries[0].sample, summaries[0].kind, files=len(summaries))
    for summary in summaries:
        whole.records += summary.records
        whole.payload_bytes += summary.payload_bytes
        whole.shortest = _either(min, whole.shortest, summary.shortest)
        whole.longest = _either(max, whole.longest, summary.longest)
        whole.decoded += summary.decoded
        whole.undecodable += summary.undecodable
        whole.other = whole.other or summary.other
        for name, feature in summary.features.items():
            whole.features.setdefault(name, _Feature()).merge(feature)
        whole.events += summary.events
        for name, tag in summary.tags.items():
            whole.tags.setdefault(name, _Tag()).merge(tag)
    return whole


@dataclass
class _Tag:
    """One tag in all events."""

    kinds: set[str] = field(default_factory=set)
    count: int = 0
    first: int | None = None
    last: int | None = None

    def add(self, kind: str, step: int) -> None:
        self.merge(_Tag({kind}, 1, step, step))

    def merge(self, other: _Tag) -> None:
        self.kinds |= other.kinds
        self.count += other.count
        self.first = _either(min, self.first, other.first)
        self.last = _either(max, self.last, other.last)

    def to_dict(self) -> Mapping[str, Any]:
        kind = "/".join(sorted(self.kinds))
        return {"kind": kind, "values": self.count, "first_step": self.first, "last_step": self.last}

    def describe(self) -> str:
        steps = f"step {self.first}" if self.first == self.last else f"steps {self.first} to {self.last}"
        return f"{'/'.join(sorted(self.kinds))}, {counted(self.count, 'value')}, {steps}"


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

    def add_counted(self, kind: str, count: int) -> None:
        self.kinds.add(kind)
        self._count(count)

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
