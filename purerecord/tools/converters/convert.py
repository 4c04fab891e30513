"""``convert``: files of another format to TFRecords, or TFRecords to another format.

It finds out the direction and the format, lets the format's module do the work, and reports. This module
must not know how a format is read or written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ... import public
from ...errors import SchemaError
from ...payload.exact_floats import is_exact
from ...payload.parse.schema import schema_from_text
from ...payload.specs import FeatureSpec, as_features
from ...printable import printable
from ...records import Records
from ...storage.opened import read_whole
from ...storage.paths import resolve
from ...storage.url import is_url, local_path, stored, stored_some
from . import formats
from .formats import TFRECORD, Format
from .job import Job
from .outputs import name_of, size_of, write_records
from .report import ConvertReport


def _nothing(*_: object) -> None:
    """Called where the caller wants no calls."""


@public
def convert(
    source: Any,
    out: Any,
    *,
    from_format: str | None = None,
    to_format: str | None = None,
    style: str | None = None,
    schema: Any = None,
    floats: str = "round",
    options: Any = None,
    shards: int | None = None,
    max_bytes: int | None = None,
    max_records: int | None = None,
    compression: Any = "auto",
    on_error: str = "raise",
    dry_run: bool = False,
    progress: Callable[[int, int], None] = _nothing,
    types_known: Callable[[ConvertReport], None] = _nothing,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
    **format_options: Any,
) -> ConvertReport:
    """Convert ``source`` to ``out``, of which one is TFRecords and the other CSV, Parquet, ...

    Names tell the direction and the format: ``convert("table.csv", "train@10.tfrecord")``; where they do
    not, ``from_format`` and ``to_format`` do. ``source`` is a path, URL, glob, shard pattern, a list of
    these, or an open binary file; ``out`` is one path, URL or open binary file. A file appears when it is
    complete, and shards when all are.

    The types of features are inferred, or given by ``schema``: a mapping of specs, or the path of a JSON
    schema. What an Example cannot hold is an ``EncodeError`` that says where it stands. ``floats="exact"``
    refuses doubles that float32 would change. ``style`` names a convention for the names of features.
    ``options``, ``shards``, ``max_bytes`` and ``max_records`` are those of ``ShardedWriter``, for TFRecords
    that are written; ``compression`` and ``on_error`` those of ``read_records``, for ones that are read.

    With ``dry_run`` only the report is made. ``types_known`` gets it before the work begins, ``progress``
    the bytes and records done since its last call. All other arguments are options of the format;
    docs/tools.md lists them.
    """
    is_exact(floats)  # a ValueError before there is a file
    if isinstance(source, Iterator) and not hasattr(source, "read"):
        source = list(source)  # what it gives is looked at more than once
    given, target = stored_some([source, out], storage_options, filesystem)
    found, inwards = _direction(given, target, from_format, to_format)
    _check_style(found, style)
    names = (found.name, TFRECORD) if inwards else (TFRECORD, found.name)
    limits = {"shards": shards, "max_bytes": max_bytes, "max_records": max_records}
    job = Job(
        resolve(given),
        target,
        ConvertReport(*names, [], [name_of(target)], dry_run=dry_run),
        options=_checked_options(found, format_options, inwards=inwards),
        schema=_as_specs(schema, storage_options),
        style=style,
        floats=floats,
        compression=compression,
        on_error=on_error,
        written={"options": options, **limits},
        dry_run=dry_run,
        progress=progress,
    )
    job.report.sources = [name_of(file) for file in job.sources]
    _check_files(job)
    if inwards:
        _read(found, job, options, limits, types_known)
    else:
        if options is not None or any(limit is not None for limit in limits.values()):
            raise ValueError("shards and their compression are for TFRecords that are written")
        _write(found, job, types_known)
    return job.report


def _check_files(job: Job) -> None:
    """Raise ValueError if there is no source, or if the new file would replace one."""
    if not job.sources:
        raise ValueError("there is nothing to convert: no source is named")
    out = name_of(job.out)
    if hasattr(job.out, "write") or is_url(out) or not os.path.exists(out):
        return
    for source in job.sources:
        name = name_of(source)
        if isinstance(source, str) and not is_url(name) and os.path.samefile(name, out):
            raise ValueError(f"{printable(out)} is read, so it cannot be written; choose another name")


def _read(
    found: Format,
    job: Job,
    options: Any,
    limits: dict[str, Any],
    types_known: Callable[[ConvertReport], None],
) -> None:
    """Other files to TFRecords."""
    batches = found.load().read(job)
    job.report.outputs = [name_of(job.out)]
    types_known(job.report)
    if job.dry_run:
        return
    if options is None and name_of(job.out).endswith(".gz"):
        options = "GZIP"
    job.report.records = 0
    paths = write_records(job.out, _counted(batches, job.report), options, limits)
    for action in job.at_end:
        action(paths)
    job.report.outputs = paths
    job.report.size = sum(map(size_of, paths))


def _counted(batches: Iterable[Records], report: ConvertReport) -> Iterator[Records]:
    for records in batches:
        report.records += len(records)
        yield records


def _write(found: Format, job: Job, types_known: Callable[[ConvertReport], None]) -> None:
    """TFRecords to other files."""
    if formats.is_sharded(job.out):
        raise ValueError(f"{printable(name_of(job.out))}: only TFRecords are written in shards")
    try:
        work = found.load().write(job)
    except SchemaError as error:
        if error.path is None and len(job.sources) == 1:
            error.path = name_of(job.sources[0])
        raise
    types_known(job.report)
    if job.dry_run:
        job.report.records *= job.read_again  # nobody knows how many a stream has
        return
    if job.read_again:  # else the first records were read already, and are counted
        job.report.records = 0
    work()
    job.report.size = job.report.size or sum(map(size_of, job.report.outputs))


def _direction(source: Any, out: Any, from_format: str | None, to_format: str | None) -> tuple[Format, bool]:
    """The format that is no TFRecord, and whether it is the one that is read."""
    if from_format == TFRECORD and to_format == TFRECORD:
        raise ValueError("convert is for other formats; both are TFRecords here")
    first = _first(source)
    if to_format not in (None, TFRECORD):
        return _written(formats.by_name(str(to_format)), first, from_format), False
    if from_format not in (None, TFRECORD):
        return _able(formats.by_name(str(from_format)), inwards=True), True
    if to_format is None and (written := formats.of_output(out)) is not None:
        return _written(written, first, from_format), False
    if from_format is None and (to_format == TFRECORD or formats.names_tfrecord(out)):
        return _source_format(first), True
    if from_format == TFRECORD or formats.names_tfrecord(first):
        raise ValueError(
            f"{printable(name_of(out))}: the name does not tell which format to write; say to_format (--to)"
        )
    return _source_format(first), True


def _written(found: Format, first: Any, from_format: str | None) -> Format:
    """The format that is written; ValueError if what is read is no TFRecord either."""
    other = from_format
    if other is None and not formats.names_tfrecord(first):
        other = formats.of_suffix(first)
    if other not in (None, TFRECORD):
        raise ValueError(
            f"{other} to {found.name}: one of both must be TFRecords; convert to these first, and then on"
        )
    return _able(found, inwards=False)


def _source_format(first: Any) -> Format:
    found = formats.of_source(first)
    if found is None:
        name = printable(name_of(first))
        if formats.names_tfrecord(first):
            raise ValueError(f"{name}: convert is for other formats; both are TFRecords here")
        if isinstance(first, str) and not os.path.lexists(first) and not resolve(first):
            raise FileNotFoundError(2, os.strerror(2), first)
        raise ValueError(f"{name}: the name does not tell the format; say from_format (--from)")
    return found


def _able(found: Format, *, inwards: bool) -> Format:
    if (found.reads if inwards else found.writes) is None:
        raise ValueError(f"{found.name} is only {'written' if inwards else 'read'}")
    return found


def _first(source: Any) -> Any:
    """The first of the sources as it was named."""
    while not isinstance(source, (str, bytes, os.PathLike)) and not hasattr(source, "read"):
        source = next(iter(source), "")
    return source if hasattr(source, "read") else local_path(source)


def _check_style(found: Format, style: str | None) -> None:
    if style is not None and style not in found.styles:
        known = f"it has {', '.join(found.styles)}" if found.styles else "it has none"
        raise ValueError(f"style {style!r} is none of {found.name}; {known}")


def _checked_options(found: Format, given: Mapping[str, Any], *, inwards: bool) -> dict[str, Any]:
    """The options of a format and direction; None for those that are not given."""
    known = {option.name: option for option in (found.reads if inwards else found.writes) or ()}
    for name, value in given.items():
        if name not in known:
            direction = "reading" if inwards else "writing"
            there = f"there is {', '.join(sorted(known))}" if known else "there is none"
            kind = ValueError if name in {option.name for option in formats.options()} else TypeError
            raise kind(f"{name!r} is no option of {direction} {found.name}; {there}")
        if known[name].choices and value not in known[name].choices:
            raise ValueError(f"{name} must be one of {', '.join(known[name].choices)}, not {value!r}")
    return {name: given.get(name) for name in known}


def _as_specs(schema: Any, storage_options: Mapping[str, Any] | None) -> dict[str, FeatureSpec] | None:
    """The argument ``schema``: specs, or the path or URL of a schema."""
    if schema is None:
        return None
    if isinstance(schema, (str, os.PathLike)):
        name = os.fspath(schema)
        data = read_whole(stored(name, storage_options) if is_url(name) else name)
        try:
            schema = schema_from_text(data)
        except ValueError as error:
            raise ValueError(f"{printable(name)}: {error}") from None
    if not isinstance(schema, Mapping):
        raise ValueError("the schema is of SequenceExamples; converters take the features of Examples")
    return as_features(schema)
