"""Files against their manifest: what is missing, too much, swapped or stale though each file is sound.

A record that is lost with its whole frame leaves no trace in the file; the manifest knows how many there
were, and which. This module reads no file; it compares reports.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ..container.manifest import Manifest, ManifestEntry
from ..printable import printable
from ..storage.url import Url
from .report import FileReport, counted


def differences(files: Sequence[FileReport], manifest: Manifest) -> Iterator[str]:
    """A sentence for each file that is not as the manifest says, or that only one of both has."""
    listed = {_place(path): entry for path, entry in zip(manifest.paths(), manifest.files, strict=True)}
    known = {entry.checksum: entry.name for entry in manifest.files if entry.checksum and entry.records}
    found = {_place(file.path): file for file in files}
    for place, file in found.items():
        name = printable(file.path)
        if place not in listed:
            yield f"{name}: the manifest does not list it"
        elif file.error is None:
            yield from (f"{name}: {reason}" for reason in _compared(file, listed[place], known))
    for place, entry in listed.items():
        if place not in found:
            yield f"{printable(entry.name)}: the manifest lists it, but it is not among the files"


def _place(path: str) -> str:
    return str(path) if isinstance(path, Url) else os.path.normcase(os.path.abspath(path))


def _compared(file: FileReport, entry: ManifestEntry, known: dict[str, str]) -> Iterator[str]:
    same = entry.checksum is None or file.checksum == entry.checksum
    if same and file.records == entry.records:
        return
    other = known.get(file.checksum or "")
    if other is not None and not same:
        yield f"it holds the records of {printable(other)}; the files are swapped, or one is there twice"
    elif file.records < entry.records:
        missing = counted(entry.records - file.records, "record")
        yield f"{missing} missing: it has {file.records:,}, the manifest says {entry.records:,}"
    elif file.records > entry.records:
        more = counted(file.records - entry.records, "record")
        yield f"{more} too many: it has {file.records:,}, the manifest says {entry.records:,}"
    else:
        yield "it holds other records than the manifest says, or in another order; one of both is stale"
