"""Validation: every byte of every file checked, by several processes if there are several files.

A file is sound if it consists of frames whose checksums hold; on request, each payload must also be an
Example, or fit a schema. Here container and payload meet: the walk over the frames is ``recovery``'s,
decoding that of ``columns`` and ``parse``. What is damage to a file is not decided here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from ..container.damage import Damage
from ..container.frame_stream import FrameStream
from ..container.frames import FOOTER, HEADER
from ..container.looks_like import open_source
from ..errors import CorruptionError, SchemaError
from ..payload.columns.gather import gather
from ..payload.parse.examples import parse_example
from ..payload.parse.sequences import parse_sequence_example
from ..processes.pool import Progress, no_progress
from ..records import Records
from ..storage.opened import Opened
from ..storage.paths import Named, is_url, resolve
from .fast_verify import sound_runs
from .report import FileReport, Report
from .scan import walk

NOT_AN_EXAMPLE = "not an Example"
NOT_OF_THE_SCHEMA = "not of the schema"


def validate(
    paths: Any,
    *,
    workers: int | None = None,
    decode: bool = False,
    schema: Mapping[str, Any] | tuple[Mapping[str, Any], Mapping[str, Any]] | None = None,
    compression: Any = "auto",
    progress: Progress | None = None,
) -> Report:
    """Check every byte of the files that ``paths`` names, and report all damage.

    ``decode`` asks each payload to be a valid Example, ``schema`` (feature specs by name, as
    ``infer_schema`` proposes them, for SequenceExamples a pair) also to fit these specs. With ``workers``,
    so many processes share the files; without, all is done here. Why a file could not be read to its end,
    or is not there at all, is the ``error`` in the report on it; only if none of them is there, that is a
    FileNotFoundError.
    ``progress`` is called with the bytes and the records gone through since.

    >>> report = validate("train-*.tfrecord", workers=4)
    >>> report.ok, report.records, [file.path for file in report.damaged]
    """
    files = resolve(paths, missing_ok=True)
    _check_any(files)
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be positive, not {workers}")
    check = PayloadCheck(schema) if decode or schema is not None else None
    job = Job(check, compression)
    if (workers or 1) > 1 and len(files) > 1 and all(isinstance(file, str) for file in files):
        from ..processes.pool import run_all  # noqa: PLC0415 - slow to import, seldom needed

        found = run_all(job, files, min(workers or 1, len(files)), progress)
        reports = (report or died(str(file)) for file, report in zip(files, found, strict=True))
        return Report(tuple(reports))
    return Report(tuple(job(file, progress) for file in files))


def _check_any(files: list[Named]) -> None:
    local = [file for file in files if isinstance(file, str) and not is_url(file)]
    if local and len(local) == len(files) and not any(map(os.path.lexists, local)):
        os.stat(local[0])


def died(path: str) -> FileReport:
    """The report on a file that a process did not live to check."""
    return FileReport(path, 0, 0, error="the process that checked it was killed; was memory short?")


@dataclass(frozen=True)
class PayloadCheck:
    """Looks into payloads: each must be an Example and, with a schema, fit that."""

    schema: Mapping[str, Any] | tuple[Mapping[str, Any], Mapping[str, Any]] | None

    def __call__(self, records: Records) -> list[tuple[int, str, str]]:
        """Which records are not as they should be: number, kind of damage, what is wrong."""
        try:
            self._decode(records)
            return []
        except (CorruptionError, SchemaError):
            pass
        found = []
        for i in range(len(records)):  # one by one, to find all that are at fault
            try:
                self._decode(records[i : i + 1])
            except CorruptionError as error:
                found.append((i, NOT_AN_EXAMPLE, error.reason))
            except SchemaError as error:
                found.append((i, NOT_OF_THE_SCHEMA, f"feature {error.feature!r}: {error.reason}"))
        return found

    def _decode(self, records: Records) -> None:
        if self.schema is None:
            gather(records, {})
        elif isinstance(self.schema, tuple):
            parse_sequence_example(records, *self.schema)
        else:
            parse_example(records, self.schema)


@dataclass(frozen=True)
class Job:
    """What is to be done with each file; can be sent to another process."""

    check: PayloadCheck | None
    compression: Any

    def __call__(self, file: Named, progress: Progress | None = None) -> FileReport:
        """The report on one file."""
        found = _Found(self.check)
        name, error = file if isinstance(file, str) else "", None
        compression, stored = "", None
        try:
            with closing(open_source(file, self.compression)) as opened:
                name = opened.name
                _examine(opened, found, progress or no_progress)
                compression = opened.compression or ""
                stored = opened.position if compression else None
        except OSError as refused:
            error = refused.strerror or str(refused)
        except MemoryError:
            error = "not enough memory"
        damages = tuple(found.damages)
        return FileReport(name, found.records, found.position, damages, compression, error, stored)


def _examine(opened: Opened, found: _Found, progress: Progress) -> None:
    told = 0
    if found.check is None:  # nobody needs the payloads
        for records, size in sound_runs(opened):
            found.add_sound(records, size)
            progress(opened.position - told, records)
            told = opened.position
    stream = FrameStream(opened, record=found.records, offset=found.position)
    for part in walk(opened, stream):
        before = found.records
        if isinstance(part, Damage):
            found.add_damage(part)
        else:
            found.add_records(part)
        progress(opened.position - told, found.records - before)
        told = opened.position


class _Found:
    """What has been found in a file so far."""

    def __init__(self, check: PayloadCheck | None) -> None:
        self.check = check
        self.records = 0
        self.damages: list[Damage] = []
        self.position = 0  # how many bytes of the plain data are accounted for

    def add_sound(self, records: int, size: int) -> None:
        self.records += records
        self.position += size

    def add_damage(self, damage: Damage) -> None:
        self.damages.append(damage)
        self.position = damage.end

    def add_records(self, records: Records) -> None:
        self.records += len(records)
        base = records.base or 0
        for number, kind, detail in self.check(records) if self.check is not None else ():
            self.records -= 1
            # Of a record whose header is damaged, that is accounted for already.
            begin = max(base + int(records.begins[number]) - HEADER, self.position)
            self._add_payload(begin, base + int(records.ends[number]) + FOOTER, kind, detail)
        self.position = base + int(records.ends[-1]) + FOOTER

    def _add_payload(self, begin: int, end: int, kind: str, detail: str) -> None:
        """A bad payload; neighbours that are bad in the same way become one damage."""
        last = self.damages[-1] if self.damages else None
        if last is not None and last.kind == kind and last.end == begin:
            self.damages[-1] = replace(last, end=end, records=(last.records or 0) + 1)
        else:
            self.damages.append(Damage(begin, end, kind, 1, detail))
