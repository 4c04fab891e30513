"""``parse``: serialized Examples parsed by their feature specs; batches of them column by column.

Here the container side meets the payload side. ``parse`` resumes where its parent resumes. Without specs, it
infers them when the chain is built, so they travel with the chain to all workers. This module must not know
the wire format of a message.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import DecodeError, PureRecordError, SchemaError
from ...payload.columns.gather_sequences import has_feature_lists
from ...payload.images import ImageForm
from ...payload.parse.decode import parse_and_decode
from ...payload.parse.examples import parse_example, parse_single_example, request_of
from ...payload.parse.rows import gains_from_others, parse_each
from ...payload.parse.schema import infer_schema, schema_from_text
from ...payload.specs import FeatureSpec, FixedLenFeature, RaggedFeature
from ...printable import printable
from ...records import Records
from ...storage.paths import is_stream
from ..engine.lookahead import LookaheadCursor
from ..engine.node import Context, Cursor, Elements, Node, State, Table, Transform
from ..engine.origins import AheadOriginsCursor, Locator, apply_each, attempt
from .batch import Batch, Unbatch
from .cache import Cache
from .files import Files
from .filter import Filter
from .map import MapCursor, MappedTable
from .prefetch import Prefetch
from .repeat import Repeat
from .shuffle import GlobalShuffle, Shuffle
from .slice import Slice

# Small batches are parsed together, up to this many records and bytes, because most of the cost of a call
# does not depend on the number of records.
_RECORDS_PER_CALL, _BYTES_PER_CALL = 1024, 1 << 20
# Specs are inferred from this many records and bytes.
_RECORDS_TO_INFER, _BYTES_TO_INFER = 1000, 1 << 26


# With these transforms between the files and ``parse``, what comes to ``parse`` are the records of the files.
_KEEP_RECORDS = (Batch, Cache, Filter, GlobalShuffle, Prefetch, Repeat, Shuffle, Slice, Unbatch)


def inferred(node: Node) -> dict[str, FeatureSpec]:
    """Specs for the elements of ``node``, made from the first records of the files below it."""
    source = node
    while isinstance(source, _KEEP_RECORDS):
        source = source.parent
    if not isinstance(source, Files) or any(map(is_stream, source.paths)):
        raise ValueError(
            f"parse() infers specs from the records of files that it can read twice, and what comes here is "
            f"from {source.label()}; give the specs, such as {{'label': 'int64'}}"
        )
    records = source.first_records(_RECORDS_TO_INFER, _BYTES_TO_INFER)
    if not len(records):
        raise ValueError(f"parse() infers specs from records, and {source.label()} has none; give the specs")
    if has_feature_lists(records):
        raise ValueError(
            f"parse() infers specs of Examples, and {source.label()} holds SequenceExamples, whose feature "
            "lists would be lost; use map with parse_single_sequence_example"
        )
    return infer_schema(records)


def from_file(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """The specs in a file: JSON, or a ``schema.pbtxt``."""
    try:
        with open(path, encoding="utf-8") as file:
            features = schema_from_text(file.read())
    except ValueError as error:
        raise ValueError(f"{printable(os.fsdecode(path))}: {error}") from None
    if isinstance(features, tuple):
        raise ValueError(
            f"{printable(os.fsdecode(path))}: this schema is of SequenceExamples; parse is for Examples"
        )
    return features  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Parse(Transform):
    """Serialized Examples parsed by ``features``: a batch becomes columns, a single one a dict of values.

    The images that ``forms`` names become pixels.
    """

    parent: Node
    features: Mapping[str, Any]
    forms: Mapping[str, ImageForm] = field(default_factory=dict)
    bytes_columns: bool | tuple[str, ...] = False

    def open(self, context: Context) -> Cursor:
        parent = self.parent.open(context)
        if self._parses_together:
            return _ParseTogetherCursor(self, parent, context)
        return _ParseEachCursor(self, parent, context)

    def origins(self, context: Context) -> Cursor:
        parent = self.parent.origins(context)
        return AheadOriginsCursor(parent) if self._parses_together else parent

    @property
    def keeps_rows(self) -> bool:  # type: ignore[override]
        """Whether the parent's rows are elements of a parent."""
        return self.parent.keeps_rows

    @property
    def _parses_together(self) -> bool:
        """Whether several batches may be parsed in one call.

        With these specs a row of the result depends on no other record, so that a parsed batch can be cut.
        Images take much more memory as pixels, so they are decoded batch by batch.
        """
        if self.forms:
            return False
        kinds = map(type, self.features.values())
        return isinstance(self.parent, Batch) and all(
            kind in (FixedLenFeature, RaggedFeature) for kind in kinds
        )

    def parsed(self, element: Any) -> Any:
        """One element, parsed; of a tuple, such as a path and a record, the last member."""
        if isinstance(element, tuple):
            return (*element[:-1], self.parsed(element[-1]))
        if self.forms:
            return parse_and_decode(element, self.features, self.forms, self.bytes_columns)
        if isinstance(element, bytes):
            return parse_single_example(element, self.features)
        return parse_example(element, self.features, bytes_columns=self.bytes_columns)

    def table(self) -> Table | None:
        table = self.parent.table()
        return None if table is None else MappedTable(table, self.parsed, "parse")

    def label(self) -> str:
        return f"parse({{{', '.join(map(repr, self.features))}}})"


class _ParseLocator(Locator):
    """Fills in the file and the record of an error that does not know them."""

    def note_at(
        self, error: Exception, begin: State, ahead: int, position: int | None = None, row: int | None = None
    ) -> None:
        if not isinstance(error, (SchemaError, DecodeError)):
            super().note_at(error, begin, ahead, position, row)
        elif error.path is None:
            row = error.row if isinstance(error, SchemaError) else error.record
            origins = self.find(begin, ahead)
            if (row or 0) < len(origins):
                error.path, error.record = origins[row or 0].path, origins[row or 0].record


class _ParseEachCursor(MapCursor):
    """Parses records that come one by one, some at a time; their batch is then a part of the columns."""

    def __init__(self, node: Parse, parent: Cursor, context: Context) -> None:
        super().__init__(parent, node.parsed, _ParseLocator("parse", node.parent, context))
        self._node = node
        # Foreign records are skipped, not parsed.
        self.cheap_lookahead = parent.cheap_lookahead if context.pattern.takes_all else 1

    def take(self, count: int) -> Elements:
        self._locator.before_take(self._parent)
        elements = self._parent.take(min(count, _RECORDS_PER_CALL))
        rows = self._parsed_together(elements)
        if rows is None:
            return apply_each(self._function, elements, self._locator)
        self._locator.moved(len(rows))
        return rows

    def _parsed_together(self, elements: Elements) -> Elements | None:
        if self._node.forms or not gains_from_others(elements):
            return None
        try:
            request = request_of(self._node.features)
        except (TypeError, ValueError):
            return None  # every element raises it
        return parse_each(elements, request)


class _ParseTogetherCursor(LookaheadCursor):
    """Parses several small batches in one call and hands them out one by one."""

    def __init__(self, node: Parse, parent: Cursor, context: Context) -> None:
        super().__init__(parent, context)
        self._node = node
        self._locator = _ParseLocator("parse", node.parent, context)
        self._batches_per_call = 1  # until the size of a batch is known

    def _fill(self, count: int) -> None:
        if self._runs:
            return
        left = self._batches_per_call
        while left > 0:
            run = self._puller.pull(left)
            self._runs.append(run)
            left -= len(run.elements) or left
        batches = [batch for run in self._runs for batch in run.elements]
        if len(batches) > 1 and all(isinstance(batch, Records) for batch in batches):
            self._parse_together(batches)
        if batches and isinstance(batches[0], Records):
            rows, size = len(batches[0]), batches[0].nbytes
            self._batches_per_call = max(1, min(_RECORDS_PER_CALL // rows, _BYTES_PER_CALL // (size + 1)))

    def _parse_together(self, batches: list[Records]) -> None:
        """Replace the batches in the runs by their columns."""
        try:
            columns = self._node.parsed(Records.concat(batches))
        except PureRecordError:
            return  # ``_result`` parses them one by one: batches before the error come first
        ends = np.cumsum([len(batch) for batch in batches]).tolist()
        slices = iter([slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)])
        for run in self._runs:
            run.elements = [
                {name: column[rows] for name, column in columns.items()}
                for _, rows in zip(run.elements, slices, strict=False)
            ]

    def _result(self, value: Any) -> Any:
        if isinstance(value, dict):
            return value
        run = self._runs[0]
        place = next(number for number, element in enumerate(run.elements) if element is value)
        return attempt(self._node.parsed, value, self._locator.note_at, run.begin, place)
