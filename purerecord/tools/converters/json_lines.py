"""JSON lines: an object with the features of a record on each line, as ``purerecord cat`` prints it.

A value is a number, a string, ``{"base64": ...}`` for bytes, ``{"float": "nan"}``, or a list of these; a
boolean is the int64 0 or 1, and null a missing feature. An object with ``context`` and ``sequence`` is a
SequenceExample. Anything else is an error that names the line. This module must not know the command line.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from ...errors import EncodeError
from ...payload.encode.examples import encode_examples
from ...payload.example import encode_sequence_example
from ...payload.json_values import FROM_JSON, float_to_json, string_to_json
from ...payload.parse.sequences import natural_batch
from ...payload.wire import BYTES, FLOAT, INT64, UNSET
from ...printable import printable_json
from ...records import Records
from .column_types import (
    GREATEST_INT,
    LEAST_INT,
    NAMES,
    Collected,
    FeatureType,
    float32_values,
    loses_digits,
    misfit,
    types_of,
)
from .inputs import open_plain
from .job import Job
from .outputs import name_of, new_plain_file
from .row_lists import RowLists, row_lists
from .survey import Survey, survey

_BATCH_LINES, _BATCH_BYTES = 4096, 1 << 22
_SAMPLE = 10_000  # lines of a stream from which types are shown
_DTYPES: dict[int, Any] = {BYTES: object, FLOAT: np.float32, INT64: np.int64}
# The values of a feature, and their kind.
_Feature = tuple[int, list[Any]]


class _Line(NamedTuple):
    """A line, parsed: where it stands, its features, and its feature lists if it is a SequenceExample."""

    place: str
    size: int
    features: dict[str, _Feature | None]
    steps: dict[str, list[_Feature]] | None = None


# --- Reading ----------------------------------------------------------------------------------------


def read(job: Job) -> Iterable[Records]:
    """The records of lines of JSON."""
    types = _Types(None if job.schema is None else types_of(job.schema), job.options["columns"])
    if job.read_again:
        for line in _lines(job, quiet=True):
            types.see(line)
            job.report.records += 1
        lines = _lines(job)
    else:
        stream = _lines(job)
        sample = list(islice(stream, _SAMPLE))
        for line in sample:
            types.see(line)
        lines = chain(sample, stream)
        job.report.note(f"a stream: the types are those of the first {len(sample):,} lines")
    types.check_seen()
    types.closed = True
    job.report.types = types.words()
    return _records(job, lines, types)


def _lines(job: Job, *, quiet: bool = False) -> Iterator[_Line]:
    for source in job.sources:
        name = name_of(source)
        progress = (lambda size, records: None) if quiet else job.progress
        with closing(open_plain(source, progress)) as file:
            for number, text in enumerate(file, 1):
                if not text.isspace():
                    yield _parsed(f"{name}: line {number}", text)


def _records(job: Job, lines: Iterator[_Line], types: _Types) -> Iterator[Records]:
    while batch := _some(lines):
        for line in batch:
            types.see(line)
        sequences = [line.steps is not None for line in batch]
        if not any(sequences):
            yield _examples(batch, types, job)
        elif all(sequences):
            yield Records.of([_sequence_example(line, types, job.floats) for line in batch])
        else:
            odd = batch[sequences.index(sequences[0] is False)]
            raise EncodeError(f"{odd.place}: Examples and SequenceExamples cannot be in one file")


def _some(lines: Iterator[_Line]) -> list[_Line]:
    """The next lines, as many as are encoded together."""
    batch: list[_Line] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += line.size
        if len(batch) >= _BATCH_LINES or size >= _BATCH_BYTES:
            break
    return batch


def _examples(batch: list[_Line], types: _Types, job: Job) -> Records:
    columns: dict[str, Any] = {}
    for name, feature in types.features.items():
        collected = Collected(name, feature)
        for line in batch:
            found = line.features.get(name)
            try:
                collected.add(None if found is None else found[1])
            except EncodeError as error:
                raise misfit(line.place, name, error.reason) from None
        columns[name] = collected
    cells = {}
    for name, collected in columns.items():
        try:
            cells[name] = collected.cells(job.floats)
        except EncodeError as error:
            raise misfit(batch[error.record or 0].place, name, error.reason) from None
    if not cells:
        return Records.of([b""] * len(batch))
    return encode_examples(cells)


def _sequence_example(line: _Line, types: _Types, floats: str) -> bytes:
    try:
        return _encoded_sequence(line, types, floats)
    except EncodeError as error:
        raise misfit(line.place, error.feature or "", error.reason) from None


def _encoded_sequence(line: _Line, types: _Types, floats: str) -> bytes:
    context = {
        name: _vector(name, types.features[name].kind, found[1], floats)
        for name, found in line.features.items()
        if found is not None and name in types.features
    }
    steps = {
        name: [_vector(name, types.steps[name], values, floats) for _, values in found]
        for name, found in (line.steps or {}).items()
        if name in types.steps
    }
    return encode_sequence_example(context, steps)


def _vector(name: str, kind: int, values: list[Any], floats: str) -> Any:
    if kind == UNSET:
        return []
    if kind == FLOAT:
        return float32_values(name, np.array(values, np.float64), floats)
    vector = np.empty(len(values), _DTYPES[kind])
    vector[:] = values
    return vector


class _Types:
    """The type of each feature, and the kind of each feature list, as the lines so far tell them.

    A feature of integers and floats is one of floats. When it is ``closed``, no type may change any more.
    """

    def __init__(self, schema: dict[str, FeatureType] | None, names: list[str] | None) -> None:
        self.features: dict[str, FeatureType] = dict(schema or {})
        self.steps: dict[str, int] = {}
        self.closed = False
        self._given = schema
        self._names = names
        self._first: dict[str, str] = {}  # where the kind of a feature was seen first
        self._widths: dict[str, set[int]] = {}
        self._seen: set[str] = set()
        self._has: dict[str, int] = {}
        self._rounded: set[str] = set()  # features with numbers that float32 does not bring back
        self._unseen: dict[str, list[Any]] = {}  # numbers of which that is not known yet
        self._lines = 0

    def see(self, line: _Line) -> None:
        """Take a line into account; EncodeError if a value does not fit the others."""
        self._lines += not self.closed
        for name, found in line.features.items():
            if not self._takes(name) or found is None:
                continue
            kind = self._merged(line.place, name, self._kind(name), found)
            if name not in self.features or self.features[name].kind != kind:
                self.features[name] = FeatureType(kind, None)
            if not self.closed:
                self._widths.setdefault(name, set()).add(min(len(found[1]), 1 << 20))
                self._has[name] = self._has.get(name, 0) + 1
                self._see_rounding(name, *found)
        for name, steps in (line.steps or {}).items():
            if self._takes(name):
                for step in steps:
                    kind = self.steps.get(name, UNSET)
                    self.steps[name] = self._merged(line.place, name, kind, step)
                self.steps.setdefault(name, UNSET)

    def _see_rounding(self, name: str, kind: int, values: list[Any]) -> None:
        if name not in self._rounded and kind in (FLOAT, INT64):
            unseen = self._unseen.setdefault(name, [])
            unseen += values
            if len(unseen) >= _BATCH_LINES:
                self._look_at_digits(name)

    def _look_at_digits(self, name: str) -> None:
        if loses_digits(self._unseen.pop(name, ())):
            self._rounded.add(name)

    def _takes(self, name: str) -> bool:
        self._seen.add(name)
        if self._given is not None and name not in self._given:
            return False
        return self._names is None or name in self._names

    def _kind(self, name: str) -> int:
        return self.features[name].kind if name in self.features else UNSET

    def _merged(self, place: str, name: str, known: int, found: _Feature) -> int:
        """The kind of a feature that was ``known`` so far."""
        kind = found[0]
        if kind in (UNSET, known):
            return known
        fixed = self.closed or (self._given is not None and name in self._given)
        if {kind, known} == {INT64, FLOAT} and (known == FLOAT or not fixed):
            return FLOAT
        if known == UNSET and not (self._given is not None and name in self._given):
            self._first[name] = place
            return kind
        where = self._first.get(name, "")
        there = f"{where.rpartition(': ')[2]} holds" if where else "the schema says"
        raise misfit(place, name, f"{NAMES[kind]}, where {there} {NAMES[known]}")

    def check_seen(self) -> None:
        """Raise an error for a name that was asked for and that no line has."""
        required = [name for name, feature in (self._given or {}).items() if feature.required]
        for name in (*(self._names or ()), *required):
            if name not in self._seen:
                raise EncodeError("no line has it", feature=name)
        if self._names is not None:
            self.features = {name: self.features[name] for name in self._names if name in self.features}

    def words(self) -> dict[str, str]:
        """Each feature in a few words."""
        words = {}
        for name, feature in self.features.items():
            self._look_at_digits(name)
            widths = self._widths.get(name, set())
            shown = feature
            if len(widths) == 1 and widths != {0} and self._given is None:
                shown = FeatureType(feature.kind, next(iter(widths)))
            rule = " (rounded to float32)" if feature.kind == FLOAT and name in self._rounded else ""
            missing = self._lines - self._has.get(name, 0)
            words[name] = f"{shown}{rule}{f', missing in {missing:,}' if missing else ''}"
        return words | {name: f"{NAMES[kind]} steps" for name, kind in self.steps.items()}


def _parsed(place: str, text: bytes) -> _Line:
    try:
        value = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_distinct, parse_float=_float)
        if not isinstance(value, dict):
            raise ValueError("an object with the features of a record is needed")
        if value.keys() == {"context", "sequence"} and all(isinstance(v, dict) for v in value.values()):
            steps = {name: _steps(found) for name, found in value["sequence"].items()}
            return _Line(place, len(text), _features(value["context"]), steps)
        return _Line(place, len(text), _features(value))
    except RecursionError:
        raise EncodeError(f"{place}: nested too deeply") from None
    except EncodeError as error:
        raise misfit(place, error.feature or "", error.reason) from None
    except json.JSONDecodeError as error:
        reason = f"{error.msg}, at column {error.colno}; each line is an object of its own"
        raise EncodeError(f"{place}: it is no JSON: {reason}") from None
    except UnicodeDecodeError as error:
        raise EncodeError(f"{place}: byte 0x{text[error.start]:02x} is not UTF-8, as JSON is") from None
    except ValueError as error:
        raise EncodeError(f"{place}: {error}") from None


def _features(members: dict[str, Any]) -> dict[str, _Feature | None]:
    found = {}
    for name, value in members.items():
        try:
            found[name] = None if value is None else _feature(value)
        except ValueError as error:
            raise EncodeError(str(error), feature=name) from None
    return found


def _steps(value: Any) -> list[_Feature]:
    if not isinstance(value, list):
        raise ValueError("a feature list is a list of steps")
    return [_feature(step) for step in value]


def _feature(value: Any) -> _Feature:
    if not isinstance(value, list):
        kind, one = _value(value)
        return kind, [one]
    pairs = [_value(item) for item in value]
    kinds = {kind for kind, _ in pairs}
    values = [item for _, item in pairs]
    if kinds == {INT64, FLOAT}:
        return FLOAT, values
    if len(kinds) > 1:
        raise ValueError(f"a list of {' and '.join(sorted(NAMES[kind] for kind in kinds))}")
    return (kinds.pop() if kinds else UNSET), values


def _value(value: Any) -> tuple[int, Any]:
    if isinstance(value, str):
        try:
            return BYTES, value.encode()
        except UnicodeEncodeError:
            raise ValueError("a string that is half of a character, which UTF-8 cannot hold") from None
    if isinstance(value, int):  # a boolean too
        if not LEAST_INT <= value <= GREATEST_INT:
            raise ValueError("an integer that int64 cannot hold; write it as a string")
        return INT64, int(value)
    if isinstance(value, float):
        return FLOAT, value
    if isinstance(value, dict) and len(value) == 1 and (key := next(iter(value))) in FROM_JSON:
        restored = FROM_JSON[key](value[key])
        return (BYTES if isinstance(restored, bytes) else FLOAT), restored
    if value is None:
        raise ValueError("a null in a list cannot be stored; only a whole feature can be missing")
    if isinstance(value, list):
        raise ValueError("a list in a list cannot be stored in an Example; flatten it")
    raise ValueError("an object cannot be stored in an Example; give its members features of their own")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} is there twice")
    return members


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:20]} is too large for a float")
    return value


# --- Writing ----------------------------------------------------------------------------------------


def write(job: Job) -> Callable[[], None]:
    """Lines of JSON: a scalar where every record that has the feature has one value, else lists."""
    names = job.options["columns"]
    found: Survey | None = None
    if job.read_again and not job.options["lists"]:
        found = survey(job, names, lists=True)
        job.report.types = found.types()
        job.report.records = found.rows
    scalars = {name for name, seen in found.features.items() if seen.width == 1} if found else set()

    def work() -> None:
        with new_plain_file(job.out) as file:
            text = io.TextIOWrapper(file, "utf-8", newline="\n", write_through=True)
            for records in job.batches():
                text.write("".join(_written(records, names, scalars)))
            text.detach()

    return work


def _written(records: Records, names: list[str] | None, scalars: set[str]) -> Iterator[str]:
    columns, lists = natural_batch(records, names)
    order = sorted(columns) if names is None else [name for name in names if name in columns]
    listed = {name: _json_rows(row_lists(columns[name]), one=name in scalars) for name in order}
    steps = {name: _step_rows(found) for name, found in lists.items()}
    for row in range(len(records)):
        features = {name: rows[row] for name, rows in listed.items() if rows[row] is not None}
        sequence = {name: rows[row] for name, rows in steps.items() if rows[row] is not None}
        value: Any = {"context": features, "sequence": sequence} if steps else features
        yield printable_json(json.dumps(value, ensure_ascii=False, allow_nan=False)) + "\n"


def _json_rows(rows: RowLists, *, one: bool) -> list[Any]:
    made = [None if row is None else [_to_json(value) for value in row] for row in rows]
    return [row[0] if row else None for row in made] if one else made


def _step_rows(found: Any) -> list[list[Any] | None]:
    steps = _json_rows(row_lists(found.column), one=False)
    begins, ends = found.splits[:-1].tolist(), found.splits[1:].tolist()
    return [
        [step or [] for step in steps[begin:end]] if present else None
        for begin, end, present in zip(begins, ends, found.present.tolist(), strict=True)
    ]


def _to_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return string_to_json(value)
    return float_to_json(value) if isinstance(value, float) else value
