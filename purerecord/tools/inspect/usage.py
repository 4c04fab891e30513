"""``du``: the bytes that each feature takes in the records.

They come from the statistics of the files, which count them anyway. This module does not know how.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ... import public
from ...container.frames import OVERHEAD
from ...printable import printable
from ...processes.pool import Progress
from ...recovery.report import counted, human_size
from .stats import Stats, stats
from .stats_text import share_text

_FULL, _PARTS = "█", " ▏▎▍▌▋▊▉"
_WIDEST_BAR = 40
_LONGEST_NAME = 60


@public
@dataclass(frozen=True)
class FeatureUsage:
    """The bytes that one feature takes in all records, and in how many it is."""

    name: str
    sequence: bool
    size: int
    records: int


@public
@dataclass(frozen=True)
class Usage:
    """What takes how many bytes.

    ``features`` are sorted by size, the largest first. ``record_bytes`` are those of all records,
    ``frame_bytes`` those of the frames around them; ``size`` is what the files take on disk, which may be
    compressed. ``found`` holds the statistics from which all that comes.

    >>> du("train-*.tfrecord").features[0]
    """

    features: tuple[FeatureUsage, ...]
    records: int
    record_bytes: int
    size: int
    files: int
    found: Stats = field(repr=False)

    @property
    def frame_bytes(self) -> int:
        """The bytes of the frames around the records."""
        return self.records * OVERHEAD

    @property
    def other_bytes(self) -> int:
        """The bytes of records that belong to no feature: those of the messages around them."""
        return self.record_bytes - sum(feature.size for feature in self.features)

    def to_dict(self) -> dict[str, Any]:
        """The numbers in types that JSON has."""
        return {
            "records": self.records,
            "record_bytes": self.record_bytes,
            "frame_bytes": self.frame_bytes,
            "other_bytes": self.other_bytes,
            "size": self.size,
            "files": self.files,
            "features": [
                {
                    "name": feature.name,
                    "sequence": feature.sequence,
                    "size": feature.size,
                    "share": feature.size / self.record_bytes if self.record_bytes else 0.0,
                    "per_record": feature.size / self.records if self.records else 0.0,
                    "records": feature.records,
                }
                for feature in self.features
            ],
        }

    def text(self, width: int = 80) -> str:
        """A table with a bar for each feature, as wide as there is room."""
        whole = self.record_bytes + self.frame_bytes
        sizes = [(printable(feature.name)[:_LONGEST_NAME], feature.size) for feature in self.features]
        sizes += [("(messages)", self.other_bytes), ("(frames)", self.frame_bytes)]
        sizes = [(name, size) for name, size in sizes if size > 0]
        rows = [("feature", "size", "share", "per record")]
        rows += [self._cells(name, size, whole) for name, size in [*sizes, ("all", whole)]]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        room = min(_WIDEST_BAR, width - sum(widths) - 2 * len(widths))
        most = max((size for _, size in sizes), default=0)
        drawn = ["", *(_bar(size / most, room) for _, size in sizes), ""]
        lines = [f"{_row(row, widths)}  {bar}".rstrip() for row, bar in zip(rows, drawn, strict=True)]
        where = f"{counted(self.records, 'record')} in {counted(self.files, 'file')}"
        lines.append(f"{where}, {human_size(self.size)} on disk")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from ...notebook import show_usage  # noqa: PLC0415 - only a notebook asks for it

        return show_usage(self)

    def _cells(self, name: str, size: int, whole: int) -> tuple[str, str, str, str]:
        each = human_size(size / self.records) if self.records else ""
        return name, human_size(size), share_text(size / whole) if whole else "", each


@public
def du(
    paths: Any,
    *,
    workers: int | None = None,
    on_error: str = "raise",
    compression: Any = "auto",
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Usage:
    """The bytes that each feature takes in the records of the files. The keywords are those of ``stats``."""
    found = stats(
        paths,
        workers=workers,
        on_error=on_error,
        compression=compression,
        most_distinct=1,
        progress=progress,
        storage_options=storage_options,
        filesystem=filesystem,
    )
    features = [FeatureUsage(one.name, one.sequence, one.size, one.present) for one in found.features]
    features.sort(key=lambda feature: (-feature.size, feature.sequence, feature.name))
    return Usage(tuple(features), found.records, found.record_bytes, found.size, len(found.files), found)


def _row(cells: tuple[str, ...], widths: list[int]) -> str:
    numbers = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return "  ".join([cells[0].ljust(widths[0]), *numbers])


def _bar(share: float, room: int) -> str:
    eighths = round(share * room * 8)
    return (_FULL * (eighths // 8) + _PARTS[eighths % 8]).rstrip() if room > 0 else ""
