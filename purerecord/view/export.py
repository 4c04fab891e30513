"""Exports: all records that match, as a stream of TFRecords, JSON lines or CSV.

TFRecords keep the bytes of each record. Lines of JSON are as ``purerecord cat`` prints them. CSV has the
columns that are named, or those of the first records and a last one for everything else, as JSON. Damaged
records are left out. This module does not know HTTP.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import numpy as np

from ..container.frames import encode_many
from ..payload.json_values import float_to_json, string_to_json
from ..payload.wire import BYTES, UNSET
from .catalog import Catalog
from .decoded import Decoded, Value, decoded
from .parameters import RefusedError
from .rows import Cursor
from .search import Query, Step, batches

FORMATS = {
    "tfrecord": "application/octet-stream",
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
}
_AT_ONCE = 2  # exports
_FIRST = 1_000  # records whose features become the columns of CSV
OTHER = "other features"

Payloads = list[tuple[int, int, bytes]]  # the file, the row, the record


class Exports:
    """Makes exports, a few at a time."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._turns = threading.BoundedSemaphore(_AT_ONCE)

    def of(
        self, form: str, query: Query | None, start: Cursor, columns: Sequence[str], *, whole: bool
    ) -> Iterator[bytes]:
        """The parts of an export; the first one comes when the first records have been searched."""
        if form not in FORMATS:
            raise RefusedError(f"format must be one of {', '.join(FORMATS)}")
        if not self._turns.acquire(blocking=False):
            raise RefusedError(f"{_AT_ONCE} exports are under way; try again when one has ended", 503)
        parts = self._parts(form, query, start, columns, whole=whole)
        try:
            first = next(parts, b"")
        except BaseException:
            parts.close()
            raise
        return _after(first, parts)

    def _parts(
        self, form: str, query: Query | None, start: Cursor, columns: Sequence[str], *, whole: bool
    ) -> Generator[bytes, None, None]:
        try:
            found = _matching(self._catalog, query, start, whole=whole)
            encode: Callable[[Iterator[Payloads]], Iterator[bytes]]
            if form == "csv":
                encode = _Csv(columns).parts
            else:
                encode = _tfrecords if form == "tfrecord" else _json_lines
            yield from encode(found)
        finally:
            self._turns.release()


def _after(first: bytes, parts: Generator[bytes, None, None]) -> Iterator[bytes]:
    try:
        yield first
        yield from parts
    finally:
        parts.close()


def _matching(catalog: Catalog, query: Query | None, start: Cursor, *, whole: bool) -> Iterator[Payloads]:
    """The records that match, batch by batch; some batches are empty."""
    step = Step(start, start)
    while not catalog.closed:
        step.pending = False
        for file, _, fetched in batches(catalog, step, whole=whole):
            good = (n for n in range(len(fetched.lengths)) if fetched.begin + n not in fetched.problems)
            places = good if query is None else query.matches(fetched)
            yield [(file.number, fetched.begin + n, fetched.records[n]) for n in places]
            if catalog.closed:
                break
        if not step.pending:
            return
    raise RefusedError("the viewer was closed", 503)


def _tfrecords(found: Iterator[Payloads]) -> Iterator[bytes]:
    for some in found:
        yield b"".join(encode_many([payload for _, _, payload in some]))


def _json_lines(found: Iterator[Payloads]) -> Iterator[bytes]:
    for some in found:
        yield b"".join(f"{_dumps(as_json(payload))}\n".encode() for _, _, payload in some)


def as_json(payload: bytes) -> Any:
    """A record as JSON: the features, or ``context`` and ``sequence``; else its text, or its base64."""
    one = decoded(payload)
    if one.problem is not None:
        return string_to_json(payload)
    context = {name: plain(value) for name, value in one.features.items()}
    if not one.lists:
        return context
    steps = {name: [plain(step) for step in steps] for name, steps in one.lists.items()}
    return {"context": context, "sequence": steps}


def plain(value: Value) -> list[Any]:
    """The values of a list in types that JSON has, without loss."""
    kind, values = value
    if kind == UNSET:
        return []
    if kind == BYTES:
        return [string_to_json(string) for string in values]
    if values.dtype == np.float32:  # the shortest text that reads back as the same float32
        return [float_to_json(float(text)) for text in values.astype(str).tolist()]
    listed: list[Any] = values.tolist()
    return listed


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


class _Csv:
    """Writes CSV with the ``columns``, or with those of the first records."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = list(dict.fromkeys(columns))
        self._chosen = bool(columns)

    def parts(self, found: Iterator[Payloads]) -> Iterator[bytes]:
        """The header and the lines."""
        waiting: Payloads = []
        begun = False
        for some in found:
            waiting += some
            if not begun and not self._chosen and len(waiting) < _FIRST:
                yield b""
                continue
            yield self._lines(waiting, header=not begun)
            waiting, begun = [], True
        if waiting or not begun:
            yield self._lines(waiting, header=not begun)

    def _lines(self, some: Payloads, *, header: bool) -> bytes:
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        rows = [(file, row, payload, decoded(payload)) for file, row, payload in some]
        if header:
            if not self._chosen:
                names = (name for _, _, _, one in rows[:_FIRST] for name in (*one.features, *one.lists))
                self._columns = list(dict.fromkeys(names))
            writer.writerow(["file", "row", *self._columns, *([] if self._chosen else [OTHER])])
        for file, row, payload, one in rows:
            writer.writerow([file, row, *self._cells(payload, one)])
        return text.getvalue().encode("utf-8", "surrogatepass")

    def _cells(self, payload: bytes, one: Decoded) -> list[str]:
        if one.problem is not None:
            return [*[""] * len(self._columns), *([] if self._chosen else [_dumps(string_to_json(payload))])]
        cells = []
        for name in self._columns:
            if name in one.features:
                cells.append(_cell(one.features[name]))
            elif name in one.lists:
                cells.append(_dumps([plain(step) for step in one.lists[name]]))
            else:
                cells.append("")
        if self._chosen:
            return cells
        known = set(self._columns)
        rest: dict[str, Any] = {n: plain(value) for n, value in one.features.items() if n not in known}
        rest |= {n: [plain(step) for step in steps] for n, steps in one.lists.items() if n not in known}
        return [*cells, _dumps(rest) if rest else ""]


def _cell(value: Value) -> str:
    """One value as it is, more as JSON; bytes that are no text as base64."""
    listed = plain(value)
    if len(listed) != 1:
        return _dumps(listed)
    if value[0] == BYTES:
        return value[1][0].decode() if isinstance(listed[0], str) else base64.b64encode(value[1][0]).decode()
    return listed[0]["float"] if isinstance(listed[0], dict) else str(listed[0])
