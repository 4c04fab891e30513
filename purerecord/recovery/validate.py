"""``validate``: checks every byte of every file, in several processes if there are several files.

A file is sound if it consists of frames whose checksums match. On request, each payload must also be an
Example, or fit a schema. Here container and payload meet: ``scan`` reads the frames, ``payload`` decodes
them. This module must not decide what is damage to a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from .. import public
from ..container.damage import Damage
from ..container.frame_stream import FrameStream
from ..container.frames import FOOTER, HEADER, crcs_of
from ..container.looks_like import open_source
from ..container.manifest import Manifest, load_manifest
from ..container.record_digest import RecordDigest
from ..errors import CorruptionError, SchemaError
from ..payload.columns.block_decoder import decode_row
from ..payload.columns.gather import rows_to_recognize
from ..payload.parse.examples import parse_example
from ..payload.parse.sequences import parse_sequence_example
from ..payload.recognize import check_example
from ..processes.pool import Progress, Workers, check_workers, no_progress
from ..records import Records
from ..storage.opened import Opened
from ..storage.paths import Named, resolve
from ..storage.url import is_url, stored
from . import consistency
from .against_manifest import differences
from .fast_verify import count_sound_frames
from .report import FileReport, Report
from .scan import records_and_damage

NOT_AN_EXAMPLE = "not an Example"
NOT_OF_THE_SCHEMA = "not of the schema"


@public
def validate(
    paths: Any,
    *,
    workers: Workers | None = None,
    decode: bool = False,
    schema: Mapping[str, Any] | tuple[Mapping[str, Any], Mapping[str, Any]] | None = None,
    compression: Any = "auto",
    expect: int | None = None,
    min_records: int | None = None,
    manifest: Any = None,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Report:
    """Check every byte of the files that ``paths`` names, and report all damage.

    With ``decode``, each payload must be a valid Example. With ``schema`` (feature specs by name, as
    ``infer_schema`` returns them, a pair of them for SequenceExamples), it must also fit these specs.
    ``workers`` is the number of processes that share the files, or a ``purerecord.ray.Cluster``; without it,
    this process checks them all. A script that names a number needs its main guard where processes are not
    forked.
    If a file is missing or cannot be read to its end, the ``error`` in its report says why; only if all
    files are missing, a FileNotFoundError is raised. ``expect`` is the number of sound records that all files
    together must hold, ``min_records`` the least that each must hold. ``manifest`` is a ``Manifest``, or the
    path of one or of a ``dataset_info.json`` of tensorflow-datasets; ``manifest_errors`` in the report say
    where the files differ from it. ``warnings`` in the report are about
    sound files that do not fit together. ``progress`` is called with the number of bytes and of records that
    were checked since its last call. ``storage_options`` and ``filesystem`` open URLs, as by
    ``read_records``.

    >>> report = validate("train-*.tfrecord", workers=4)
    >>> report.ok, report.records, [file.path for file in report.damaged]
    """
    files = resolve(stored(paths, storage_options, filesystem), missing_ok=True)
    _check_any(files)
    workers = 1 if workers is None else workers
    check_workers(workers)
    if manifest is not None and not isinstance(manifest, Manifest):
        manifest = load_manifest(manifest, storage_options=storage_options, filesystem=filesystem)
    check = _PayloadCheck(schema) if decode or schema is not None else None
    job = _CheckFile(check, compression, manifest is not None)
    shared = not isinstance(workers, int) or (workers > 1 and len(files) > 1)
    if shared and all(isinstance(file, str) for file in files):
        from ..processes.pool import run_all  # noqa: PLC0415 - slow to import, seldom needed

        reports = run_all(job, files, workers, progress)
        checked = [report or _killed(str(file)) for file, report in zip(files, reports, strict=True)]
    else:
        checked = [job(file, progress) for file in files]
    return Report(
        tuple(checked),
        tuple(consistency.warnings(checked)),
        tuple(consistency.wrong_counts(checked, expect, min_records)),
        () if manifest is None else tuple(differences(checked, manifest)),
    )


def _check_any(files: list[Named]) -> None:
    """Raise a FileNotFoundError if no file exists."""
    local = [file for file in files if isinstance(file, str) and not is_url(file)]
    if local and len(local) == len(files) and not any(map(os.path.lexists, local)):
        os.stat(local[0])


def _killed(path: str) -> FileReport:
    """The report on a file whose worker process was killed."""
    return FileReport(path, 0, 0, error="the process that checked it was killed; was memory short?")


@dataclass(frozen=True)
class _PayloadCheck:
    """Decodes payloads: each must be an Example and, with a schema, fit it."""

    schema: Mapping[str, Any] | tuple[Mapping[str, Any], Mapping[str, Any]] | None

    def __call__(self, records: Records) -> list[tuple[int, str, str]]:
        """The number, kind of damage and reason of each payload that is not valid."""
        try:
            self._decode(records)
            return []
        except (CorruptionError, SchemaError):
            pass
        faults = []
        for i in range(len(records)):  # one by one, to find all that are not valid
            try:
                self._decode(records[i : i + 1])
            except CorruptionError as error:
                faults.append((i, NOT_AN_EXAMPLE, error.reason))
            except SchemaError as error:
                faults.append((i, NOT_OF_THE_SCHEMA, f"feature {error.feature!r}: {error.reason}"))
        return faults

    def _decode(self, records: Records) -> None:
        if isinstance(self.schema, tuple):
            parse_sequence_example(records, *self.schema)
            return
        for row in rows_to_recognize(records):
            decode_row(records, row, check_example)
        if self.schema is not None:
            parse_example(records, self.schema)


@dataclass(frozen=True)
class _CheckFile:
    """Checks one file; can be pickled and sent to a worker process."""

    check: _PayloadCheck | None
    compression: Any
    digested: bool = False

    def __call__(self, file: Named, progress: Progress | None = None) -> FileReport:
        """The report on one file."""
        totals = _FileTotals(self.check, RecordDigest() if self.digested else None)
        name, error = file if isinstance(file, str) else "", None
        compression, stored = "", None
        try:
            with closing(open_source(file, self.compression)) as opened:
                name = opened.name
                _examine(opened, progress or no_progress, totals)
                compression = opened.compression or ""
                stored = opened.position if compression else None
        except OSError as refused:
            error = refused.strerror or str(refused)
        except ImportError as missing:  # the library that decompresses it
            error = str(missing)
        except MemoryError:
            error = "not enough memory"
        damages = tuple(totals.damages)
        checksum = None if totals.digest is None else str(totals.digest)
        return FileReport(
            name, totals.records, totals.position, damages, compression, error, stored, checksum
        )


def _examine(opened: Opened, progress: Progress, totals: _FileTotals) -> None:
    """Add all frames and all damage of ``opened`` to ``totals``."""
    reported = 0
    if totals.check is None and totals.digest is None:  # the payloads are not needed
        for records, size in count_sound_frames(opened):
            totals.add_sound(records, size)
            progress(opened.position - reported, records)
            reported = opened.position
    stream = FrameStream(opened, record=totals.records, offset=totals.position)
    for part in records_and_damage(opened, stream):
        before = totals.records
        if isinstance(part, Damage):
            totals.add_damage(part)
        else:
            totals.add_records(part)
        progress(opened.position - reported, totals.records - before)
        reported = opened.position


class _FileTotals:
    """The sound records and the damage of a file so far."""

    def __init__(self, check: _PayloadCheck | None, digest: RecordDigest | None = None) -> None:
        self.check = check
        self.digest = digest
        self.records = 0
        self.damages: list[Damage] = []
        self.position = 0  # the plain bytes before it are accounted for

    def add_sound(self, records: int, size: int) -> None:
        self.records += records
        self.position += size

    def add_damage(self, damage: Damage) -> None:
        self.damages.append(damage)
        self.position = damage.end

    def add_records(self, records: Records) -> None:
        self.records += len(records)
        if self.digest is not None:
            self.digest.add(crcs_of(records))
        base = records.base or 0
        for number, kind, detail in self.check(records) if self.check is not None else ():
            self.records -= 1
            # If the header of the record is damaged, it is accounted for already.
            begin = max(base + int(records.begins[number]) - HEADER, self.position)
            self._add_payload(begin, base + int(records.ends[number]) + FOOTER, kind, detail)
        self.position = base + int(records.ends[-1]) + FOOTER

    def _add_payload(self, begin: int, end: int, kind: str, detail: str) -> None:
        """Add a bad payload; neighbours with the same kind of damage become one damage."""
        last = self.damages[-1] if self.damages else None
        if last is not None and last.kind == kind and last.end == begin:
            self.damages[-1] = replace(last, end=end, records=(last.records or 0) + 1)
        else:
            self.damages.append(Damage(begin, end, kind, 1, detail))
