"""``ConvertReport``: what a conversion has done, as values, as JSON and as text.

A report only holds facts. This module must not know the formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ... import public
from ...printable import printable
from ...recovery.report import counted, human_size

_LISTED = 20  # types, and files, that the text lists
_NAMED = 1000  # things left out for one reason whose names are kept


@dataclass
class Skipped:
    """Things that were left out for one reason: how many, and the names of the first thousand."""

    count: int = 0
    names: list[str] = field(default_factory=list)

    @property
    def first(self) -> str:
        """The name of the first."""
        return self.names[0] if self.names else ""


@public
@dataclass
class ConvertReport:
    """What ``convert`` has done, or with ``dry_run`` would do.

    ``types`` tells for each feature what it holds, in words: "int64", "float list (rounded from double)".
    ``skipped`` maps a reason to how many things were left out for it; ``lost`` says whether there are any.
    ``notes`` are sentences about what was changed in ways that the docs promise. ``size`` is that of the
    files in ``outputs``.
    """

    from_format: str
    to_format: str
    sources: list[str]
    outputs: list[str] = field(default_factory=list)
    records: int = 0
    size: int = 0
    types: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, Skipped] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    dry_run: bool = False

    @property
    def lost(self) -> bool:
        """Whether something in the sources is not in the outputs, and nobody has asked for that."""
        return bool(self.skipped)

    def skip(self, reason: str, name: str = "", count: int = 1) -> None:
        """Count what was left out for a reason; ``name`` says which it is."""
        skipped = self.skipped.setdefault(reason, Skipped())
        if name and len(skipped.names) < _NAMED:
            skipped.names.append(name)
        skipped.count += count

    def note(self, text: str) -> None:
        """Add a sentence, once."""
        if text not in self.notes:
            self.notes.append(text)

    def as_json(self) -> dict[str, Any]:
        """The report as values that JSON can hold."""
        return {
            "from": self.from_format,
            "to": self.to_format,
            "sources": self.sources,
            "outputs": self.outputs,
            "records": self.records,
            "size": self.size,
            "types": self.types,
            "skipped": {
                reason: {"count": skipped.count, "names": skipped.names}
                for reason, skipped in self.skipped.items()
            },
            "notes": self.notes,
            "dry_run": self.dry_run,
        }

    def text(self, *, types: bool = True) -> str:
        """The report in a few lines for people; ``types`` tells whether the features are listed."""
        lines = [*type_lines(self.types)] if types else []
        where = _listed(self.outputs)
        if self.dry_run:
            known = counted(self.records, "record") if self.records else "the records"
            lines.append(f"would write {known} of {_listed(self.sources)} to {where}")
        else:
            size = f", {human_size(self.size)}" if self.size else ""
            lines.append(f"{where}: {counted(self.records, 'record')}{size}")
        lines += [f"  note: {printable(note)}" for note in self.notes]
        for reason, skipped in self.skipped.items():
            first = f", first {printable(skipped.first)}" if skipped.first else ""
            lines.append(f"  left out: {skipped.count:,} ({printable(reason)}{first})")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from ...notebook import show_facts  # noqa: PLC0415 - only a notebook asks for it

        return show_facts(self, self.as_json())


def type_lines(types: Mapping[str, str]) -> list[str]:
    """A line for each feature, of its name and what it holds."""
    names = {printable(name): what for name, what in types.items()}
    width = max(map(len, names), default=0)
    lines = [f"  {name.ljust(width)}  {what}" for name, what in list(names.items())[:_LISTED]]
    return lines + ([f"  and {len(names) - _LISTED:,} more"] if len(names) > _LISTED else [])


def _listed(paths: list[str]) -> str:
    if len(paths) == 1:
        return printable(paths[0])
    return f"{counted(len(paths), 'file')} from {printable(paths[0])} on" if paths else "nothing"
