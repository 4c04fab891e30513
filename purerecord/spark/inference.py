"""The types that records have, when a program gives no schema.

Integers are Long and floats Float. Strings are String if all that were seen are UTF-8, else Binary. A feature
is one value if no record has more, or an empty list, else an array; a feature list is an array of arrays. The
first records of some files are seen, or all records. This module must not know Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ..arrow.tables import chunks_of, opened
from ..arrow.to_arrow import NotTextError, values_array
from ..errors import DecodeError, SchemaError
from ..payload.columns.gather import Column
from ..payload.parse.checked_columns import KIND_NAMES, lengths_of
from ..payload.parse.sequences import natural_batch
from ..payload.wire import BYTES, FLOAT, INT64, UNSET
from ..records import Records
from .options import ReadOptions
from .row_types import LIST, STEPS, VALUE

# So many files are looked into, at equal distances among all.
_SAMPLED_FILES = 8
_TYPES = {INT64: "long", FLOAT: "float"}


@dataclass
class _Feature:
    """What was seen of one feature. Its kind is UNSET until a record has one."""

    kind: int = UNSET
    depth: int = VALUE
    text: bool = True

    def see(self, name: str, column: Column, path: str | None) -> None:
        if column.kind == UNSET:
            return
        if self.kind not in (UNSET, column.kind):
            reason = (
                f"holds a list of {KIND_NAMES[column.kind]} where records before hold "
                f"{KIND_NAMES[self.kind]}, so it cannot be one column"
            )
            error = SchemaError(reason, feature=name, problem="kind")
            error.path = path
            raise error
        self.kind = column.kind
        if self.depth == VALUE and not _are_single(column):
            self.depth = LIST
        if self.kind == BYTES and self.text:
            self.text = _is_text(column.values)

    @property
    def type(self) -> Any:
        """Its type as the JSON of Spark's schemas; a feature of which no value was seen is a string."""
        found: Any = _TYPES.get(self.kind, "string" if self.text else "binary")
        for _ in range(self.depth):
            found = {"type": "array", "elementType": found, "containsNull": True}
        return found


def infer_schema(files: list[str], options: ReadOptions) -> dict[str, Any]:
    """The schema of ``files``, as the JSON of Spark's schemas."""
    if options.record_type == "ByteArray":
        return _schema({"byteArray": "binary"}, nullable=True)
    seen: dict[str, _Feature] = {}
    empty = True
    for records in _sample(files, options):
        empty = False
        _see(records, seen, options)
    if empty:
        raise SchemaError("there is no record to infer a schema from; give one with schema(...)")
    names = sorted(seen) if options.columns is None else options.columns
    for name in names:
        if name not in seen:
            raise SchemaError("none of the records seen has it; give a schema", feature=name)
    if not names:
        raise SchemaError("the records seen have no features; give a schema, or set recordType to ByteArray")
    return _schema({name: seen[name].type for name in names}, nullable=True)


def _schema(types: dict[str, Any], *, nullable: bool) -> dict[str, Any]:
    fields = [
        {"name": name, "type": found, "nullable": nullable, "metadata": {}} for name, found in types.items()
    ]
    return {"type": "struct", "fields": fields}


def _sample(files: list[str], options: ReadOptions) -> Iterator[Records]:
    if options.infer_all:
        yield from chain.from_iterable(_batches(file, options) for file in files)
        return
    count = min(len(files), _SAMPLED_FILES)
    chosen = [files[number * len(files) // count] for number in range(count)]
    found = False
    for file in chosen + [file for file in files if file not in chosen]:
        if found and file not in chosen:
            return  # the others matter only if these have no record
        for records in _batches(file, options):
            found = True
            yield records
            break


def _batches(file: str, options: ReadOptions) -> Iterator[Records]:
    with opened(file, None, compression=options.compression, on_error=options.on_error) as reader:
        yield from chunks_of(reader)


def _see(records: Records, seen: dict[str, _Feature], options: ReadOptions) -> None:
    try:
        columns, lists = natural_batch(records, options.columns)
    except DecodeError as error:
        error.reason += f"; if the records are no {options.record_type or 'Example'}s, set recordType"
        raise
    if lists and options.record_type == "Example":
        raise SchemaError(f"{records.path}: has SequenceExamples; set recordType to SequenceExample")
    for name, column in columns.items():
        seen.setdefault(name, _Feature()).see(name, column, records.path)
    for name, found in lists.items():
        feature = seen.setdefault(name, _Feature(depth=STEPS))
        if feature.depth != STEPS or name in columns:
            reason = "is a context feature and a feature list, but there is one column of that name"
            raise SchemaError(reason, feature=name)
        feature.see(name, found.column, records.path)
    for name in columns.keys() - lists.keys():
        if seen[name].depth == STEPS:
            reason = "is a feature list and a context feature, but there is one column of that name"
            raise SchemaError(reason, feature=name)


def _are_single(column: Column) -> bool:
    """Whether each record that has the feature has one value."""
    lengths = lengths_of(column)
    return bool((lengths == 1).all() if column.kinds is None else (lengths == 1)[column.kinds > UNSET].all())


def _is_text(values: Any) -> bool:
    try:
        values_array(values, text=True)
    except NotTextError:
        return False
    return True
