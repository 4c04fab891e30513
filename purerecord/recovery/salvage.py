"""``salvage``: copies every sound record of a damaged file to a new file, and verifies the copy.

The source is only read. The copy appears under its name when it is complete and has been read back.
``scan`` finds the damage. This module must not know what a payload means.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from .. import public
from ..container.checksum import crc32c
from ..container.damage import Damage
from ..container.frame_stream import FrameStream
from ..container.looks_like import open_source
from ..container.writer import TFRecordWriter
from ..errors import CorruptionError, PureRecordError
from ..printable import printable
from ..processes.pool import Progress, Workers, check_workers, no_progress
from ..storage.compression import READ_ONLY, TFRecordOptions
from ..storage.opened import Opened
from ..storage.paths import Named, replace, temporary_name, writing
from ..storage.stores import Upload, same_file
from ..storage.url import Url, local_path, stored
from .quarantine import Quarantine, Rereadable, check_folder
from .report import FileReport, SalvageReport
from .scan import one_file, records_and_damage

# Bytes that are copied to a store at once.
_UPLOADED_AT_ONCE = 1 << 22
# The size of the blocks in the copy of a file that was GZIP in blocks.
_BLOCK_SIZE = 1 << 20


@public
def salvage(
    src: Any,
    dst: Any,
    *,
    quarantine: Any = None,
    options: Any = None,
    compression: Any = "auto",
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> SalvageReport:
    """Write all sound records of the file ``src`` to a new file ``dst``, and report what was lost.

    ``dst`` is compressed as ``src`` is, unless ``options`` (as for ``TFRecordWriter``) say otherwise; BZ2, XZ
    and ZSTD become GZIP. It appears only when it is complete and has been read back and verified. If a folder
    ``quarantine`` is named, it takes the damaged ranges: each in a file named by its offset, and a list of
    them in ``damages.json``. If no record is sound, nothing is written and a ``CorruptionError`` is raised.
    ``compression`` is that of ``src``; ``progress`` is called as by ``validate``. ``storage_options`` and
    ``filesystem`` open those of ``src`` and ``dst`` that are URLs, as in ``read_records``; the quarantine is
    local.
    """
    places = stored([src, dst], storage_options, filesystem)
    file, target = one_file(places[0]), local_path(places[1])
    folder = None if quarantine is None else os.fsdecode(quarantine)
    check_places([(file, target, folder)])
    temporary = _temporary(target)
    kept = None if folder is None else Quarantine(folder)
    try:
        with closing(Rereadable(file, compression)) as opened:
            source, crc = _copy(opened, temporary, options, kept, progress or no_progress)
        written = _verified(temporary, source.records, crc)
        quarantined = kept is not None and kept.finish(source.path)
        if isinstance(target, Url):
            _upload(temporary, target)
            os.unlink(temporary)
        else:
            replace(temporary, target)
    except BaseException as error:
        if kept is not None:
            kept.abandon()
        with suppress(OSError):  # it may not exist
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            error.filename = target  # the name that the caller knows
        raise
    return SalvageReport(
        (source,), output=target, compression=written, quarantine=folder if quarantined else None
    )


@public
def salvage_all(
    jobs: Iterable[tuple[Any, Any, Any]],
    *,
    workers: Workers = 1,
    options: Any = None,
    compression: Any = "auto",
    progress: Progress | None = None,
) -> list[SalvageReport | Exception]:
    """``salvage`` many files: each job is a source, its target, and its folder of quarantine or None.

    The result is a report for each file, or the error because of which it was not saved. ``workers`` is that
    of ``validate``; the other arguments are those of ``salvage``.

    >>> salvage_all([("a.tfrecord", "new/a.tfrecord", None), ...], workers=4)
    """
    check_workers(workers)
    places: list[tuple[Named, str, str | None]] = [
        (_named(source), local_path(target), None if kept is None else os.fsdecode(kept))
        for source, target, kept in jobs
    ]
    check_places(places)
    job = _SalvageJob(options, compression)
    if workers == 1 or not all(isinstance(source, str) for source, _, _ in places):
        return [job(place, progress or no_progress) for place in places]
    from ..processes.pool import run_all  # noqa: PLC0415 - slow to import, seldom needed

    killed = "the process that salvaged it was killed; was memory short?"
    return [
        ChildProcessError(errno.ECHILD, killed, str(place[0])) if result is None else result
        for place, result in zip(places, run_all(job, places, workers, progress), strict=True)
    ]


def _named(source: Any) -> Named:
    """A path as text; whether there is such a file is seen when it is salvaged."""
    return local_path(source) if isinstance(source, (str, bytes, os.PathLike)) else one_file(source)


@dataclass(frozen=True)
class _SalvageJob:
    """Salvages one of many files; can be pickled and sent to a worker process."""

    options: Any
    compression: Any

    def __call__(self, place: tuple[Named, str, str | None], progress: Progress) -> SalvageReport | Exception:
        source, target, quarantine = place
        how: dict[str, Any] = {"options": self.options, "compression": self.compression}
        try:
            return salvage(source, target, quarantine=quarantine, progress=progress, **how)
        except (PureRecordError, OSError, ValueError, ImportError, MemoryError) as error:
            return error.with_traceback(None)


def _temporary(target: str) -> str:
    """The name of the local file that is written and verified before ``target`` appears."""
    if not isinstance(target, Url):
        return temporary_name(target)
    import tempfile  # noqa: PLC0415 - slow to import, seldom needed

    return temporary_name(os.path.join(tempfile.gettempdir(), os.path.basename(target) or "salvaged"))


def _upload(path: str, target: Url) -> None:
    upload = Upload(target)
    try:
        with open(path, "rb") as file:
            while data := file.read(_UPLOADED_AT_ONCE):
                upload.write(data)
        upload.commit()
    except BaseException:
        upload.discard()
        raise


def check_places(jobs: Sequence[tuple[Named, str, str | None]]) -> None:
    """Raise an error if a target or quarantine would overwrite a source, another target or a quarantine.

    Each job is a source, its target, and its quarantine or None.
    """
    targets: dict[str, Named] = {}
    for file, target, quarantine in jobs:
        _check_target(file, target)
        if quarantine is not None:
            check_folder(quarantine)
        other = targets.setdefault(_whole(target), file)
        if other is not file:
            first, second, place = (printable(str(name)) for name in (other, file, target))
            raise ValueError(f"{first} and {second} would both be written to {place}; salvage one by one")
    for target in targets:
        for _, _, quarantine in jobs:
            if quarantine is not None and _lies_in(target, os.path.realpath(quarantine)):
                raise ValueError(
                    f"{printable(quarantine)} is the quarantine; what is saved cannot be written there too"
                )


def _whole(target: str) -> str:
    return target if isinstance(target, Url) else os.path.realpath(target)


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _check_target(file: Named, target: str) -> None:
    if isinstance(target, Url):
        if isinstance(file, Url) and (file == target or same_file(file, target)):
            raise ValueError(f"{printable(target)} is the file to be salvaged itself, which is never changed")
        return
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, "it is a folder; name the file to be written", target)
    both_exist = isinstance(file, str) and os.path.exists(file) and os.path.exists(target)
    if both_exist and os.path.samefile(str(file), target):
        raise ValueError(f"{printable(target)} is the file to be salvaged itself, which is never changed")


def _copy(
    opened: Rereadable, target: str, options: Any, kept: Quarantine | None, progress: Progress
) -> tuple[FileReport, int]:
    """Write the sound records to ``target``; the report, and the CRC of all payloads joined together."""
    stream = FrameStream(opened)
    damages: list[Damage] = []
    records = crc = reported = 0
    writer: TFRecordWriter | None = None
    try:
        for part in records_and_damage(opened, stream):
            if isinstance(part, Damage):
                damages.append(part)
                if kept is not None:
                    kept.add(part, opened)
                continue
            with writing(target):
                if writer is None:  # the compression of the source is known only now
                    writer = TFRecordWriter(target, _like(opened) if options is None else options)
                writer.write_many(part)
            records += len(part)
            for payload in part.views():
                crc = crc32c(payload, crc)
            opened.forget((part.base or 0) + int(part.ends[-1]))
            progress(opened.position - reported, len(part))
            reported = opened.position
        if writer is None and damages:
            raise CorruptionError(f"it holds no sound record: {damages[0]}", path=opened.name)
        with writing(target):
            (writer or TFRecordWriter(target, options)).close()
    except BaseException:
        if writer is not None:
            writer.abandon()
        raise
    size = stream.good + sum(damage.size for damage in damages)
    compression = opened.compression or ""
    stored = opened.position if compression else size
    return FileReport(opened.name, records, size, tuple(damages), compression, file_size=stored), crc


def _like(opened: Opened) -> TFRecordOptions:
    """Options that compress a file as ``opened`` is compressed; with GZIP, where we cannot."""
    compression = "GZIP" if opened.compression in READ_ONLY else opened.compression
    return TFRecordOptions(compression, block_size=_BLOCK_SIZE if opened.blocked else None)


def _verified(path: str, records: int, crc: int) -> str:
    """The compression of the file at ``path``, after it has been read back and flushed to disk.

    An OSError if it does not hold ``records`` payloads with this CRC.
    """
    found = found_crc = 0
    with closing(FrameStream(opened := open_source(path))) as stream, suppress(CorruptionError):
        while (batch := stream.next()) is not None:
            found += len(batch)
            for payload in batch.views():
                found_crc = crc32c(payload, found_crc)
    if (found, found_crc) != (records, crc):
        raise OSError(errno.EIO, "what was read back is not what was written; is the disk sound?", path)
    with open(path, "r+b") as file:  # Windows syncs only what is open for writing
        os.fsync(file.fileno())
    return opened.compression or ""
