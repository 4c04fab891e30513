"""Filtered rows: the records that match an expression and hold a text, found in bounded steps.

A step reads and searches a bounded number of records and bytes and takes about a second at most. It says
where the next one begins; who wants more asks again. This module does not know HTTP.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DecodeError, SchemaError
from ..records import Records
from ..tools.expression import Expression
from ..tools.inspect.content import TEXT, content_of
from .catalog import Catalog, ShownFile
from .decoded import Decoded, decoded, one_at_a_time
from .fetch import fetch
from .parameters import RefusedError
from .rows import Cursor, FoundRow, Shape, found_row, next_page
from .source import Fetched, Source

_BATCH_ROWS, _BATCH_BYTES = 1 << 14, 1 << 23


@dataclass(frozen=True)
class Query:
    """What to search for; upper and lower case of ASCII letters are the same in ``text``."""

    where: Expression | None
    text: bytes

    @classmethod
    def of(cls, where: str, text: str) -> Query | None:
        """The query of a request; None if everything matches."""
        try:
            expression = Expression(where) if where.strip() else None
        except ValueError as error:
            raise RefusedError(str(error)) from None
        needle = text.strip().encode("utf-8", "replace").lower()
        return cls(expression, needle) if expression or needle else None

    def matches(self, fetched: Fetched) -> list[int]:
        """The rows that match, as numbers from the first one that was fetched."""
        good = [n for n in range(len(fetched.lengths)) if fetched.begin + n not in fetched.problems]
        places = np.array(good, np.int64)
        records = fetched.records
        if self.text:
            places = places[self._with_text(records.take(places))]
        if self.where is not None and len(places):
            with one_at_a_time(records.nbytes):
                places = places[_holds(self.where, records.take(places))]
        found: list[int] = places.tolist()
        return found

    def _with_text(self, records: Records) -> Any:
        """Which records hold the text in a name or a string that is text."""
        found = np.zeros(len(records), bool)
        for row in _rows_with(self.text, records):
            found[row] = self._holds_text(decoded(records[row]), records[row])
        return found

    def _holds_text(self, one: Decoded, payload: bytes) -> bool:
        if one.problem is not None:
            return content_of(payload) == TEXT
        names = [*one.features, *one.lists]
        if any(self.text in name.encode().lower() for name in names):
            return True
        steps = [value for steps in one.lists.values() for value in steps]
        return any(
            self.text in string.lower() and content_of(string) == TEXT
            for kind, values in (*one.features.values(), *steps)
            if kind == 1
            for string in values
        )


def _rows_with(needle: bytes, records: Records) -> Iterator[int]:
    """The records in which these bytes occur anywhere."""
    data = bytes(memoryview(records.buffer).cast("B")).lower()
    ends = records.ends.tolist()
    row, at = 0, int(records.begins[0]) if len(records) else 0
    while row < len(ends) and (at := data.find(needle, at)) >= 0:
        while row < len(ends) and ends[row] <= at:
            row += 1
        if row < len(ends):
            if int(records.begins[row]) <= at and at + len(needle) <= ends[row]:
                yield row
                at = ends[row]
                row += 1
            else:
                at += 1


def _holds(where: Expression, records: Records) -> Any:
    """For which records an expression holds; for none that is no Example."""
    try:
        return where.matches(records)
    except SchemaError as error:
        raise RefusedError(str(error)) from None
    except DecodeError:
        if len(records) == 1:
            return np.zeros(1, bool)
    half = len(records) // 2
    return np.concatenate([_holds(where, records[:half]), _holds(where, records[half:])])


@dataclass
class Step:
    """What one step has searched."""

    begin: Cursor
    end: Cursor
    records: int = 0
    nbytes: int = 0
    pending: bool = False


def batches(catalog: Catalog, step: Step, *, whole: bool) -> Iterator[tuple[ShownFile, Source, Fetched]]:
    """Records from ``step.end`` on, in batches; ``step`` is kept up to date.

    With ``whole``, they go on in the next file. Ends at the end, or where records are not counted yet.
    """
    number, row = step.end
    while number < len(catalog.files):
        file = catalog.files[number]
        source = catalog.reach(file, row)
        if source is not None and row < source.count:
            fetched = fetch(source, row, row + _BATCH_ROWS, _BATCH_BYTES, catalog.limits)
            row = fetched.end
            step.end = (number, row)
            step.records += len(fetched.lengths)
            step.nbytes += sum(fetched.lengths)
            yield file, source, fetched
            continue
        if source is not None and not (source.exact or file.ended):
            step.pending = True
            return
        if not whole:
            return
        number, row = number + 1, 0
        step.end = (number, row)


def search(
    catalog: Catalog,
    query: Query,
    cursor: Cursor,
    limit: int,
    show: Callable[[FoundRow], Shape],
    *,
    whole: bool,
) -> tuple[list[Shape], dict[str, Any]]:
    """What ``show`` makes of the next records that match, and what is known about the search."""
    limits = catalog.limits
    step = Step(cursor, cursor)
    found: list[Shape] = []
    until = time.monotonic() + limits.search_time
    for file, _, fetched in batches(catalog, step, whole=whole):
        for place in query.matches(fetched):
            row = fetched.begin + place
            if len(found) == limit:  # the next step begins at this one
                step.end = (file.number, row)
                step.records -= fetched.end - row
                step.nbytes -= sum(fetched.lengths[place:])
                break
            found.append(show(found_row(file, fetched, place)))
        full = len(found) == limit
        spent = step.records >= limits.search_records or step.nbytes >= limits.search_bytes
        if full or spent or time.monotonic() > until:
            break
    after = next_page(catalog, *step.end, whole=whole)
    searched: dict[str, Any] = {"records": step.records, "bytes": step.nbytes, "done": after is None}
    searched |= {"from": _text(step.begin), "to": _text(step.end)}
    return found, {"next": after, "pending": step.pending and not found, "searched": searched}


def _text(cursor: Cursor) -> str:
    return f"{cursor[0]}:{cursor[1]}"
