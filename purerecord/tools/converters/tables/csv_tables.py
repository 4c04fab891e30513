"""CSV and TSV, as RFC 4180 has them: a line of column names, then a row for each Example.

Types are those of all cells, of a stream those of its first rows. An empty cell is a missing feature, ``""``
an empty string. A list is JSON in its cell. Strings are UTF-8; the columns that ``base64`` names are base64,
and so is, in a file that is written, every column with a string that is not UTF-8. This module must not know
what a cell holds.
"""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from ....errors import EncodeError, SchemaError
from ....payload.columns.gather import Column
from ....payload.encode.examples import encode_examples
from ....payload.parse.sequences import natural_batch
from ....payload.values import Mask
from ....payload.wire import BYTES, UNSET
from ....printable import printable
from ....records import Records
from ..column_types import NAMES, FeatureType, types_of
from ..inputs import open_plain
from ..job import Job
from ..outputs import name_of, new_plain_file
from ..row_lists import plain_values, row_lists
from ..survey import Survey, survey, survey_of
from .csv_cells import Block, CellColumn, CsvFile
from .csv_types import ColumnForm, Converter

_SAMPLE = 10_000  # rows of a stream from which types are inferred
_TABS = re.compile(r"\.(tsv|tab)(\.[a-z0-9]+)?$", re.IGNORECASE)
_NAMED = {"tab": "\t", "\\t": "\t"}


def _delimiter(job: Job, path: Any) -> str | None:
    """The delimiter that was asked for, or that a name tells."""
    given = job.options["delimiter"]
    if given is None:
        return "\t" if _TABS.search(name_of(path)) else None
    given = _NAMED.get(given, given)
    if len(given) != 1 or not given.isascii() or given in '"\r\n':
        raise ValueError(
            f"the delimiter must be one ASCII character, and no quote or line end, not {given!r}"
        )
    return str(given)


# --- Reading ----------------------------------------------------------------------------------------


def read(job: Job) -> Iterable[Records]:
    """The records of rows."""
    if job.options["encoding"] is not None:
        try:
            "".encode(job.options["encoding"])
        except LookupError:
            raise ValueError(f"the encoding {job.options['encoding']!r} is not known") from None
    table = _Table(job)
    blocks = _blocks(job, table, quiet=job.read_again)
    sample: list[_Part] = []
    rows = 0
    for part in blocks:
        table.see(part)
        rows += len(part.block)
        if not job.read_again:
            sample.append(part)
            if rows >= _SAMPLE:
                job.report.note(f"a stream: the types are those of the first {rows:,} rows")
                break
    table.decide(rows)
    job.report.types, job.report.records = table.words(), rows
    if not job.read_again:
        return table.records(chain(sample, blocks))
    return table.records(_blocks(job, table))


@dataclass
class _Part:
    """A block of rows of a file."""

    file: CsvFile
    block: Block

    def column(self, name: str) -> CellColumn:
        return self.block.column(self.file.columns.index(name))


def _blocks(job: Job, table: _Table, *, quiet: bool = False) -> Iterator[_Part]:
    names, encoding = job.options["names"], job.options["encoding"]
    for source in job.sources:
        progress = (lambda size, records: None) if quiet else job.progress
        with closing(open_plain(source, progress)) as opened:
            file = CsvFile(opened, name_of(source), _delimiter(job, source), names, encoding)
            table.check_names(file)
            for block in file.blocks():
                yield _Part(file, block)


@dataclass
class _Table:
    """The columns of all files, and their types."""

    job: Job
    names: list[str] = field(default_factory=list)  # those that are taken
    types: dict[str, FeatureType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._given = None if self.job.schema is None else types_of(self.job.schema)
        self._base64 = set(self.job.options["base64"] or ())
        self._missing = {mark.encode() for mark in self.job.options["missing"] or ()}
        self._forms: dict[str, ColumnForm] = {}
        self._columns: list[str] | None = None

    def check_names(self, file: CsvFile) -> None:
        """Check the names of a file's columns, which are the same in all."""
        if self._columns is None:
            self._columns = file.columns
            self.names = self._taken(file)
            self._forms = {name: ColumnForm(base64=name in self._base64) for name in self.names}
        elif sorted(file.columns) != sorted(self._columns):
            names = ", ".join(sorted(set(file.columns) ^ set(self._columns))) or "a column is there twice"
            raise EncodeError(
                f"{file.name}: the columns differ from those of the first file: {printable(names)}"
            )

    def _taken(self, file: CsvFile) -> list[str]:
        asked = self.job.options["columns"]
        names = file.columns if asked is None else asked
        required = [name for name, kept in (self._given or {}).items() if kept.required]
        for name in (*(asked or ()), *self._base64, *required):
            if name not in file.columns:
                raise EncodeError(f"{file.name}: there is no column {name!r}; it has {_some(file.columns)}")
        if self._given is not None:
            names = [name for name in names if name in self._given]
        for name in names:
            if file.columns.count(name) > 1:
                raise EncodeError(f"{file.name}: there are several columns {name!r}; rename one")
            if not name:
                reason = "has no name, as the index that pandas writes; name it, or choose others (--columns)"
                raise EncodeError(f"{file.name}: column {file.columns.index(name) + 1} {reason}")
        return list(names)

    def see(self, part: _Part) -> None:
        """Take rows into account."""
        for name, form in self._forms.items():
            column = part.column(name)
            form.add(column, self._is_missing(column))

    def _is_missing(self, column: CellColumn) -> Mask:
        missing: Mask = column.bare & (column.strings.lengths == 0)
        if self._missing:
            marked = [cell in self._missing for cell in column.strings.tolist()]
            missing |= column.bare & np.array(marked, bool)
        return missing

    def decide(self, rows: int) -> None:
        """No type changes any more."""
        for name in self.names:
            self.types[name] = self._forms[name].type if self._given is None else self._given[name]

    def words(self) -> dict[str, str]:
        """Each feature in a few words."""
        if self._given is None:
            return {name: form.words() for name, form in self._forms.items()}
        return {name: str(feature) for name, feature in self.types.items()}

    def records(self, parts: Iterable[_Part]) -> Iterator[Records]:
        """The records of rows, which are checked."""
        made = {
            name: Converter(
                name,
                feature,
                given=self._given is not None,
                base64=name in self._base64,
                floats=self.job.floats,
            )
            for name, feature in self.types.items()
        }
        for part in parts:
            cells = {}
            for name, converter in made.items():
                column = part.column(name)
                cells[name] = converter.cells(part.file, column, self._is_missing(column))
            yield encode_examples(cells) if cells else Records.of([b""] * len(part.block))


def _some(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:10]))
    return printable(shown) + (", ..." if len(names) > 10 else "")


# --- Writing ----------------------------------------------------------------------------------------


def write(job: Job) -> Callable[[], None]:
    """Rows of text: a value where no record has more than one, else lists."""
    delimiter = _delimiter(job, job.out) or ","
    batches: Iterator[Records] = job.batches()
    if job.read_again:
        found = survey(job, job.options["columns"])
    else:
        first = next(batches, None)
        batches = chain([] if first is None else [first], batches)
        found = survey_of([] if first is None else [first], job.options["columns"])
        job.report.note(f"a stream: the columns are those of its first {found.rows:,} records")
    if job.read_again:
        job.report.records = found.rows
    layout = _Layout(job, found, delimiter)
    job.report.types = layout.words()

    def work() -> None:
        with new_plain_file(job.out) as file:
            text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
            text.write(delimiter.join(map(layout.quoted, layout.names)) + "\n")
            done = 0
            for records in batches:
                text.write(layout.rows(records, done))
                done += len(records)
            text.detach()

    return work


class _Layout:
    """How each feature is written."""

    def __init__(self, job: Job, found: Survey, delimiter: str) -> None:
        asked = set(job.options["base64"] or ())
        self.names = list(found.features)
        self._found, self._delimiter = found, delimiter
        self._chosen = job.options["columns"] is not None
        strings = {name for name, seen in found.features.items() if seen.kind == BYTES}
        self._base64 = {name for name in strings if name in asked or not found.features[name].text}
        for name in asked - strings:
            raise ValueError(f"{printable(name)!r} is no feature of bytes, so it is not written as base64")
        self._lists = {name for name, seen in found.features.items() if seen.width not in (None, 1)}
        self._special = re.compile(f'[{re.escape(delimiter)}"\r\n]')
        if not self.names:
            raise SchemaError("no record has a feature, so there are no columns to write")

    def words(self) -> dict[str, str]:
        words = self._found.types()
        return words | {name: f"{words[name]} (as base64)" for name in self.names if name in self._base64}

    def quoted(self, text: str) -> str:
        """A string as a cell."""
        if not text or self._special.search(text):
            return '"' + text.replace('"', '""') + '"'
        return text

    def rows(self, records: Records, before: int) -> str:
        """The lines of records, before which there were so many."""
        columns, steps = natural_batch(records, self.names if self._chosen else None)
        later = (columns.keys() | steps.keys()) - set(self.names)
        if later:
            raise SchemaError(
                "comes after the first records of a stream; name the columns (--columns)",
                feature=min(later),
                record=before,
            )
        cells = []
        for name in self.names:
            if name not in columns:
                cells.append([""] * len(records))
                continue
            self._check_kind(name, columns[name].kind, before)
            cells.append(self._cells(name, columns[name], before))
        return "".join([self._delimiter.join(row) + "\n" for row in zip(*cells, strict=True)])

    def _cells(self, name: str, column: Column, before: int) -> list[str]:
        if (
            name not in self._lists
            and name not in self._base64
            and column.kinds is None
            and column.uniform == 1
        ):
            values = plain_values(column.values)
            if column.kind != BYTES:
                return list(map(str, values))
            with suppress(UnicodeDecodeError):  # below, it becomes an error that tells the record
                return [self.quoted(value.decode()) for value in values]
        rows = row_lists(column)
        return [self._cell(name, row, before + place) for place, row in enumerate(rows)]

    def _check_kind(self, name: str, kind: int, record: int) -> None:
        known = self._found.features[name].kind
        if kind not in (UNSET, known):
            reason = f"holds {NAMES[kind]}, where the first records of the stream have {NAMES[known]}"
            raise SchemaError(reason, feature=name, record=record)

    def _cell(self, name: str, values: list[Any] | None, record: int) -> str:
        if values is None:
            return ""
        if values and isinstance(values[0], bytes):
            values = self._texts(name, values, record)
        if name in self._lists:
            return self.quoted(json.dumps(values, ensure_ascii=False))
        if len(values) != 1:
            reason = f"has {len(values)} values, where the first records have one; a stream keeps their form"
            raise SchemaError(reason, feature=name, record=record)
        return self.quoted(values[0]) if isinstance(values[0], str) else str(values[0])

    def _texts(self, name: str, values: list[bytes], record: int) -> list[str]:
        if name in self._base64:
            return [base64.b64encode(value).decode() for value in values]
        try:
            return [value.decode() for value in values]
        except UnicodeDecodeError:
            reason = "holds bytes that are not UTF-8; write it as base64 (--base64)"
            raise SchemaError(reason, feature=name, record=record) from None
