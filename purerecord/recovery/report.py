"""Reports: the state of each file, as values, as JSON and as a table for people.

A report only holds facts; it opens no file. The shell prints ``to_dict()`` with ``--json`` and ``str()``
without. This module must not know how damage is found or repaired.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import public
from ..container.damage import NOT_A_TFRECORD, TRUNCATED_FOOTER, TRUNCATED_HEADER, TRUNCATED_PAYLOAD, Damage
from ..printable import printable, shell_words

# Damages listed per file in the text; ``to_dict()`` has all of them.
_DAMAGES_IN_TEXT = 10
_UNITS = ("kB", "MB", "GB", "TB", "PB")


@public
@dataclass(frozen=True)
class FileReport:
    """The state of one file.

    ``records`` and ``good_bytes`` count sound records and the bytes of sound frames. ``size`` is the size of
    the plain data: of the file itself, or for a compressed file of all that could be inflated. Offsets in
    ``damages`` are offsets in the plain data. Good bytes and damaged bytes always add up to ``size``.

    ``file_size`` is the size of the file itself. ``good_file_bytes`` and ``damaged_file_bytes`` add up to it;
    in a compressed file, the damaged ones are those that could not be inflated. ``error`` says why the
    operating system could not read the file to its end. ``checksum`` is that of a ``ManifestEntry``; None
    unless a manifest was given.
    """

    path: str
    records: int
    size: int
    damages: tuple[Damage, ...] = ()
    compression: str = ""
    error: str | None = None
    file_size: int | None = None  # ``size`` unless given
    checksum: str | None = None

    def __post_init__(self) -> None:
        if self.file_size is None:
            object.__setattr__(self, "file_size", self.size)

    @property
    def ok(self) -> bool:
        """Whether all of the file is sound."""
        return not self.damages and self.error is None

    @property
    def foreign(self) -> bool:
        """Whether the file could be read, but nothing in it is a record: it is a file of another kind."""
        return self.error is None and any(damage.kind == NOT_A_TFRECORD for damage in self.damages)

    @property
    def damaged_bytes(self) -> int:
        """How many bytes lie in damages."""
        return sum(damage.end - damage.begin for damage in self.damages)

    @property
    def good_bytes(self) -> int:
        """How many bytes lie in sound frames."""
        return self.size - self.damaged_bytes

    @property
    def damaged_file_bytes(self) -> int:
        """How many bytes of the file itself are damaged: in a compressed file, those that do not inflate."""
        if not self.compression:
            return self.damaged_bytes
        return sum(damage.compressed_size for damage in self.damages)

    @property
    def good_file_bytes(self) -> int:
        """How many bytes of the file itself are not damaged."""
        return (self.file_size or 0) - self.damaged_file_bytes

    @property
    def lost_records(self) -> int | None:
        """How many records were lost; None unless it is known for every damage, and the file was read."""
        return None if self.error is not None else _total(damage.records for damage in self.damages)

    def to_dict(self) -> dict[str, Any]:
        """The report in types that JSON has."""
        return {
            "path": self.path,
            "ok": self.ok,
            "records": self.records,
            "size": self.size,
            "compression": self.compression or "none",
            "good_bytes": self.good_bytes,
            "damaged_bytes": self.damaged_bytes,
            "lost_records": self.lost_records,
            "file_size": self.file_size,
            "good_file_bytes": self.good_file_bytes,
            "damaged_file_bytes": self.damaged_file_bytes,
            "damages": [damage.to_dict() for damage in self.damages],
            "error": self.error,
            **({} if self.checksum is None else {"checksum": self.checksum}),
        }

    def verdict(self) -> str:
        """What is wrong with the file, in a few words."""
        parts = [printable(self.error)] if self.error is not None else []
        if self.damages:
            size = human_size(self.damaged_bytes)
            if self.compression and self.damaged_file_bytes:
                size = f"{size} ({human_size(self.damaged_file_bytes)} of the compressed file)"
            where = f"{size} in {counted(len(self.damages), 'place')}"
            parts.append(f"{where}, {_lost(self.damages)}")
        return "; ".join(parts) or "none"

    def __str__(self) -> str:
        return str(Report((self,)))


@public
@dataclass(frozen=True)
class Report:
    """The state of many files, such as the shards of a dataset.

    ``warnings`` are sentences about sound files that do not fit together: mixed compression, missing shards.
    ``count_errors`` are sentences about numbers of records that are not as ``validate`` was told to expect,
    ``manifest_errors`` about files that are not as the manifest says.
    """

    files: tuple[FileReport, ...]
    warnings: tuple[str, ...] = ()
    count_errors: tuple[str, ...] = ()
    manifest_errors: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all files are sound, hold as many records as expected, and are as the manifest says."""
        return all(file.ok for file in self.files) and not self.count_errors and not self.manifest_errors

    @property
    def damaged(self) -> tuple[FileReport, ...]:
        """The files that are damaged and can be salvaged: none that are foreign or unreadable."""
        return tuple(file for file in self.files if file.damages and file.error is None and not file.foreign)

    @property
    def foreign(self) -> tuple[FileReport, ...]:
        """The files that are no TFRecord files."""
        return tuple(file for file in self.files if file.foreign)

    @property
    def unreadable(self) -> tuple[FileReport, ...]:
        """The files that are missing, or could not be read to their end."""
        return tuple(file for file in self.files if file.error is not None)

    @property
    def records(self) -> int:
        """How many sound records there are."""
        return sum(file.records for file in self.files)

    @property
    def size(self) -> int:
        """How many bytes of plain data there are."""
        return sum(file.size for file in self.files)

    @property
    def damaged_bytes(self) -> int:
        """How many bytes of plain data lie in damages."""
        return sum(file.damaged_bytes for file in self.files)

    @property
    def lost_records(self) -> int | None:
        """How many records were lost; None unless it is known for every file."""
        return _total(file.lost_records for file in self.files)

    def to_dict(self, *, only_damaged: bool = False) -> dict[str, Any]:
        """The report in types that JSON has; with ``only_damaged``, ``files`` lists no sound ones."""
        return {
            "ok": self.ok,
            "records": self.records,
            "size": self.size,
            "damaged_bytes": self.damaged_bytes,
            "lost_records": self.lost_records,
            "damaged_files": [file.path for file in self.damaged],
            "foreign_files": [file.path for file in self.foreign],
            "unreadable_files": [file.path for file in self.unreadable],
            "warnings": list(self.warnings),
            "count_errors": list(self.count_errors),
            "manifest_errors": list(self.manifest_errors),
            "files": [file.to_dict() for file in self.files if not (only_damaged and file.ok)],
        }

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from ..notebook import show_report  # noqa: PLC0415 - only a notebook asks for it

        return show_report(self)

    def text(self, *, only_damaged: bool = False) -> str:
        """A table with a line for each file, its damages below it, and at the end the files to repair."""
        lines = self.table(only_damaged=only_damaged)
        for what, files in (
            ("to be salvaged or made again", self.damaged),
            ("no TFRecord files", self.foreign),
            ("could not be read", self.unreadable),
        ):
            if files:
                lines.append(f"{what}: {shell_words(file.path for file in files)}")
        lines += [*self.count_errors, *self.manifest_errors]
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def table(self, *, only_damaged: bool = False, totals: bool = True) -> list[str]:
        """The lines of the table, totals last if there are several files."""
        files = [file for file in self.files if not (only_damaged and file.ok)]
        rows = [_row(file.path, file.records, file.size, file.verdict()) for file in files]
        if totals and len(self.files) != 1:
            rows.append(_row(counted(len(self.files), "file"), self.records, self.size, self._verdict()))
        if not rows:
            return []
        table = aligned([("file", "records", "size", "damage"), *rows])
        lines = [table[0]]
        for file, line in zip(files, table[1:], strict=False):
            lines += [line, *_listed(file.damages)]
        return lines + table[1 + len(files) :]

    def _verdict(self) -> str:
        parts = []
        if damaged := sum(bool(file.damages) for file in self.files):
            parts.append(f"{human_size(self.damaged_bytes)} in {counted(damaged, 'file')}")
        if self.unreadable:
            parts.append(f"{counted(len(self.unreadable), 'file')} could not be read")
        return ", ".join(parts) or "none"


@public
@dataclass(frozen=True)
class SalvageReport(Report):
    """The result of salvaging a file: its state, and where its records and damaged ranges went.

    ``files`` holds the report on the source. ``output`` is the file with all its sound records, which has
    been read back and verified; ``compression`` is its compression. ``quarantine`` is the folder with the
    damaged ranges, if one was named. If nothing could be saved, ``output`` is "".
    """

    output: str = ""
    compression: str = ""
    quarantine: str | None = None

    def to_dict(self, *, only_damaged: bool = False) -> dict[str, Any]:
        """The report in types that JSON has; with ``only_damaged``, ``files`` lists no sound ones."""
        return {
            **super().to_dict(only_damaged=only_damaged),
            "output": self.output or None,
            "output_compression": (self.compression or "none") if self.output else None,
            "quarantine": self.quarantine,
        }

    def text(self, *, only_damaged: bool = False) -> str:
        """The report on the source, and how many records were saved."""
        lines = self.table(only_damaged=only_damaged)
        lines.append(f"{counted(self.records, 'record')} saved and verified: {printable(self.output)}")
        if self.quarantine is not None:
            ranges = counted(len(self.files[0].damages), "damaged range")
            lines.append(f"{ranges} kept: {printable(self.quarantine)}")
        return "\n".join(lines)


def salvaged_together(reports: Sequence[SalvageReport], *, only_damaged: bool = False) -> str:
    """One table of several files to be salvaged, and a summary in a few lines."""
    files = tuple(file for report in reports for file in report.files)
    lines = Report(files).table(only_damaged=only_damaged, totals=False)
    saved = [report for report in reports if report.output]
    records = sum(report.records for report in saved)
    lines.append(f"{len(saved):,} of {counted(len(reports), 'file')} saved, {counted(records, 'record')}")
    if damaged := [file.path for report in saved for file in report.damaged]:
        lines.append(f"with damage: {shell_words(damaged)}")
    if lost := [file.path for report in reports if not report.output for file in report.files]:
        lines.append(f"not saved: {shell_words(lost)}")
    return "\n".join(lines)


def _total(numbers: Iterable[int | None]) -> int | None:
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


def human_size(size: float) -> str:
    """``size`` bytes in a suitable unit: 999 bytes, 1.0 kB, 4.2 GB."""
    if size < 999.5:
        return counted(round(size), "byte")
    size /= 1000
    unit = 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size /= 1000
        unit += 1
    return f"{size:.1f} {_UNITS[unit]}"


def counted(number: int, what: str) -> str:
    """A number and what it counts: 1 record, 2,000 records."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _lost(damages: tuple[Damage, ...]) -> str:
    """What is known about the number of lost records."""
    cut = damages[-1].kind in (TRUNCATED_HEADER, TRUNCATED_PAYLOAD, TRUNCATED_FOOTER)
    records = _total(damage.records for damage in (damages[:-1] if cut else damages))
    if records is None:
        return "records lost: unknown"
    if not cut:
        return f"{counted(records, 'record')} lost"
    before = f"{counted(records, 'record')} lost, " if records else ""
    return f"{before}1 record cut, and what came after it: unknown"


def _listed(damages: tuple[Damage, ...]) -> list[str]:
    lines = [f"  {damage}" for damage in damages[:_DAMAGES_IN_TEXT]]
    if len(damages) > _DAMAGES_IN_TEXT:
        lines.append(f"  and {len(damages) - _DAMAGES_IN_TEXT:,} more")
    return lines


def _row(name: str, records: int, size: int, verdict: str) -> tuple[str, str, str, str]:
    return printable(name), f"{records:,}", human_size(size), verdict


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """The rows as lines: the first and the last column to the left, and the numbers between to the right."""
    name, *numbers, last = zip(*rows, strict=True)
    columns = [[cell.ljust(max(map(len, name))) for cell in name]]
    columns += [[cell.rjust(max(map(len, column))) for cell in column] for column in numbers]
    return ["  ".join(cells) for cells in zip(*columns, last, strict=True)]
