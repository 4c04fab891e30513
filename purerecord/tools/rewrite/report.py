"""``Rewritten``: what a run has read, written and lost, or what it would read and write.

This module must not know how that came about.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ... import public
from ...printable import printable
from ...recovery.report import counted, human_size


@public
@dataclass(frozen=True)
class Rewritten:
    """The result of rewriting files.

    ``paths`` are the new shards, ``lengths`` the numbers of their records, ``size`` their bytes. ``read``
    counts the records of the input, ``skipped`` its damaged places, of which ``damage`` names the last in
    each file. ``manifests`` are those that were written, one for each dataset. ``facts`` are counts of the
    command's own. ``others`` are shards of the same names but another number that lie beside the new ones.
    After a dry run, ``inputs`` is what would be read and ``paths`` what would be written.
    """

    paths: tuple[str, ...]
    lengths: tuple[int, ...] = ()
    size: int = 0
    read: int = 0
    skipped: int = 0
    damage: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    facts: dict[str, int] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    input_size: int = 0
    dry_run: bool = False
    others: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no damage was skipped."""
        return not self.skipped

    @property
    def manifest(self) -> str | None:
        """The manifest that was written, if there is one."""
        return self.manifests[0] if self.manifests else None

    @property
    def records(self) -> int:
        """How many records were written."""
        return sum(self.lengths)

    def to_dict(self) -> dict[str, Any]:
        """The report in types that JSON has."""
        return {
            "dry_run": self.dry_run,
            "inputs": list(self.inputs),
            "input_size": self.input_size,
            "read": self.read,
            "skipped": self.skipped,
            "damage": list(self.damage),
            "paths": list(self.paths),
            "lengths": list(self.lengths),
            "records": self.records,
            "size": self.size,
            "manifests": list(self.manifests),
            "facts": self.facts,
            "others": list(self.others),
        }

    def __str__(self) -> str:
        if self.dry_run:
            files = f"{counted(len(self.inputs), 'file')} ({human_size(self.input_size)})"
            return f"would read {files}, would write {counted(len(self.paths), 'file')}: {self._names()}"
        lines = [f"{counted(self.read, 'record')} read, {self.records:,} written and verified"]
        lines[0] += "".join(f", {number:,} {what}" for what, number in self.facts.items())
        lines.append(f"{counted(len(self.paths), 'file')}, {human_size(self.size)}: {self._names()}")
        lines += [f"manifest: {printable(manifest)}" for manifest in self.manifests]
        if self.others:
            what = f"{counted(len(self.others), 'shard')} of another number, first {self.others[0]}"
            lines.append(f"note: there {'is' if len(self.others) == 1 else 'are'} also {printable(what)}")
        if self.skipped:
            lines.append(f"{counted(self.skipped, 'damaged place')} skipped: {printable(self.damage[0])}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from ...notebook import show_facts  # noqa: PLC0415 - only a notebook asks for it

        return show_facts(self, self.to_dict())

    def _names(self) -> str:
        if len(self.paths) < 3:
            return printable(" ".join(self.paths))
        return printable(f"{self.paths[0]} ... {self.paths[-1]}")
