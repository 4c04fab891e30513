"""``MapInput``: a task that reads one file, and writes what a transform makes of its records.

A transform keeps the order, and gives the records of one part, or of several that become datasets of their
own. This module must not know what a transform does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

from ...container.frames import OVERHEAD
from ...processes.pool import Progress
from ...records import Records
from ...storage.compression import TFRecordOptions
from .inputs import FileSource, Input
from .shards import ShardWriter, shard_file
from .work_folder import WorkFolder


class Transformed(Protocol):
    """A transform at work on one file."""

    @property
    def facts(self) -> dict[str, Any]:
        """What it has to say at the end."""

    def apply(self, records: Records, first: int) -> Sequence[Records]:
        """What becomes of ``records``, for each part. The first one is number ``first`` of the file."""


class Transform(Protocol):
    """What is done to the records; it can be pickled."""

    @property
    def parts(self) -> int:
        """How many parts there are."""

    def begin(self, source: Input, folder: WorkFolder) -> Transformed:
        """Begin with a file."""


@dataclass(frozen=True)
class MapInput:
    """A task that transforms one file."""

    source: Input
    transform: Transform
    options: TFRecordOptions

    @property
    def name(self) -> str:
        """What it is called."""
        return f"mapped-{self.source.number:05d}"

    def file(self, part: int) -> str:
        """The file in the work folder that takes a part."""
        return shard_file(f"part-{part:03d}", self.source.number)

    def run(self, folder: WorkFolder, progress: Progress) -> None:
        """Transform it."""
        writers: list[ShardWriter] = []
        applied = self.transform.begin(self.source, folder)
        try:
            for part in range(self.transform.parts):
                writers.append(ShardWriter(folder, self.file(part), self.options))
            with closing(self.source.batches()) as reading:
                for batch in reading:
                    first = reading.records - len(batch)
                    for writer, records in zip(writers, applied.apply(batch, first), strict=True):
                        writer.write(records)
                    progress(batch.nbytes + OVERHEAD * len(batch), len(batch))
                facts = [writer.finish() for writer in writers]
                result = {"parts": facts, "records": reading.records, **reading.damage}
        except BaseException:
            for writer in writers:
                writer.abandon()
            raise
        folder.mark(self.name, {**result, "facts": applied.facts})

    def source_of(self, part: int, result: dict[str, Any], folder: WorkFolder) -> FileSource:
        """A part as a source, which must not be compressed."""
        facts = result["parts"][part]
        marks = tuple((record, offset) for record, offset in facts["marks"])
        return FileSource(folder.file(self.file(part)), "", "raise", facts["records"], marks)


@dataclass(frozen=True)
class Unchanged:
    """The transform that changes nothing."""

    parts = 1

    def begin(self, source: Input, folder: WorkFolder) -> Transformed:
        """Begin with a file."""
        return _Unchanged()


class _Unchanged:
    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}

    def apply(self, records: Records, first: int) -> Sequence[Records]:
        return (records,)
