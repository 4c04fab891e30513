"""``open_reader``: files as a stream of Arrow record batches, of which few are in memory at a time.

The type of a column must be known before the first batch is handed out. Specs tell it, or else the first
batch of records does; a later record that does not fit is an error. This module must not know how a column
is converted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .. import public
from ..container.byte_range import RangeReader
from ..container.reader import RecordReader
from ..errors import SchemaError
from ..payload.columns.gather import Column
from ..payload.parse.checked_columns import CheckedColumns, Origin
from ..payload.parse.chosen_columns import ChosenColumns
from ..payload.parse.sequences import natural_batch
from ..records import Records
from ..storage.url import stored
from .growing_column import GrowingColumn, GrowingFeatureList
from .tables import (
    Specs,
    as_names,
    as_specs,
    check_text,
    chunks_of,
    opened,
    parsed_batch,
    unknown_column,
)
from .types import pa


@public
def open_reader(
    paths: Any,
    features: Any = None,
    *,
    columns: Iterable[str] | None = None,
    text: bool | Iterable[str] = False,
    compression: Any = "auto",
    verify: bool = True,
    on_error: str = "raise",
    byte_range: tuple[int, int | None] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Any:
    """The Examples or SequenceExamples of files as a ``pyarrow.RecordBatchReader``.

    The arguments are those of ``read_table``, and so are the columns, but a stream has its types from the
    beginning: without ``features``, those of the first batch of records (8 MiB). A later record with another
    number of values where all had the same, or with a feature that none of these had, is a ``SchemaError``;
    name the ``columns`` that you want, or give ``features``.

    >>> for batch in open_reader("train-*.tfrecord"):
    ...     print(batch.num_rows)
    """
    specs, names, strings = as_specs(features), as_names(columns), ChosenColumns("text", text)
    if specs is not None and names is not None:
        raise ValueError("the columns are those of features; columns= chooses among all features")
    source = stored(paths, storage_options, filesystem)
    reader = opened(source, byte_range, compression=compression, verify=verify, on_error=on_error)
    if specs is not None:
        schema = parsed_batch(Records.of([]), specs, strings).schema
        tables = _parsed(reader, specs, strings)
    else:
        form = _Form(next(chunks_of(reader), Records.of([])), names, strings)
        schema, tables = form.first.schema, form.tables(reader)
    check_text(schema.empty_table(), strings)
    batches = (batch for table in tables for batch in table.combine_chunks().to_batches())
    return pa.RecordBatchReader.from_batches(schema, batches)


def _parsed(reader: RecordReader | RangeReader, specs: Specs, text: ChosenColumns) -> Iterator[Any]:
    with reader:
        for records in chunks_of(reader):
            yield parsed_batch(records, specs, text)


class _Form:
    """The columns of the first batch of records, whose form all the others must have."""

    def __init__(self, records: Records, names: list[str] | None, text: ChosenColumns) -> None:
        self._names = names
        columns, lists = natural_batch(records, names)
        self._grown: dict[str, GrowingColumn | GrowingFeatureList] = {}
        for name in sorted(columns.keys() | lists.keys()) if names is None else names:
            if name in columns and name in lists:
                reason = "is a context feature and a feature list, but a table has one column of that name"
                raise SchemaError(f"{reason}; name the features that you want by specs", feature=name)
            if name in columns:
                column = self._grown[name] = GrowingColumn(name, 0, text=name in text)
                column.add(columns[name], records)
            elif name in lists:
                found = self._grown[name] = GrowingFeatureList(name, 0, text=name in text)
                found.add(lists[name], records)
            else:
                raise unknown_column(name)
        self.first = self._table(len(records), {name: grown.finish() for name, grown in self._grown.items()})

    def _table(self, rows: int, arrays: Mapping[str, Any]) -> Any:
        """A table, which has its rows also without columns."""
        return pa.table(arrays) if arrays else pa.table({"": pa.nulls(rows)}).select([])

    def tables(self, reader: RecordReader | RangeReader) -> Iterator[Any]:
        """The tables of all batches, the first one included."""
        with reader:
            yield self.first
            for records in chunks_of(reader):
                columns, lists = natural_batch(records, self._names)
                for name in columns.keys() | lists.keys():
                    if name not in self._grown:
                        raise _came_later(name, columns.get(name), records)
                made = {}
                for name, grown in self._grown.items():
                    found: Any = columns.get(name) if isinstance(grown, GrowingColumn) else lists.get(name)
                    made[name] = grown.like(records, found)
                yield self._table(len(records), made)


def _came_later(name: str, column: Column | None, records: Records) -> SchemaError:
    row = 0 if column is None or column.kinds is None else int((column.kinds > 0).argmax())
    batch = CheckedColumns({}, len(records), Origin(records))
    reason = (
        "none of the first records has it, so the stream has no such column; name the columns that you want"
    )
    return batch.mismatch(name, row, "unknown", reason, expected=None, found=name)
