"""Writing shards: the records of some segments to a file, which is then read back.

A shard is done when what was read back, CRC by CRC, is what was written, and the disk has it. This module
must not know why the records come in this order.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ...container.frame_stream import FrameStream
from ...container.frames import OVERHEAD, crcs_of
from ...container.looks_like import open_source
from ...container.record_digest import RecordDigest
from ...container.writer import TFRecordWriter
from ...errors import CorruptionError
from ...printable import printable
from ...processes.pool import Progress
from ...records import Records
from ...storage.compression import TFRecordOptions
from ...storage.paths import writing
from .inputs import MARKED
from .outputs import Segment
from .work_folder import WorkFolder


class ShardWriter:
    """Writes one file of the work folder, and then reads it back."""

    def __init__(self, folder: WorkFolder, name: str, options: TFRecordOptions) -> None:
        self.path = folder.file(name)
        self._digest = RecordDigest()
        self._position = 0  # in the plain data
        self._marks = [(0, 0)]  # records, and where they begin
        with writing(self.path):
            self._writer = TFRecordWriter(self.path, options)
        self._writer.digest = self._digest

    def write(self, records: Records) -> None:
        """Add records."""
        with writing(self.path):
            self._writer.write_many(records)
        self._position += records.nbytes + OVERHEAD * len(records)
        if self._position - self._marks[-1][1] >= MARKED:
            self._marks.append((self._digest.records, self._position))

    def finish(self) -> dict[str, Any]:
        """Close the file, read it back and flush it to disk; the facts about it."""
        with writing(self.path):
            self._writer.close()
        self._check()
        with open(self.path, "r+b") as file:  # Windows syncs only what is open for writing
            os.fsync(file.fileno())
        size = os.path.getsize(self.path)
        checksum = str(self._digest)
        return {"records": self._digest.records, "size": size, "checksum": checksum, "marks": self._marks}

    def _check(self) -> None:
        found = RecordDigest()
        try:
            with closing(FrameStream(open_source(self.path))) as stream:
                while (batch := stream.next()) is not None:
                    found.add(crcs_of(batch))
        except CorruptionError as error:
            self._fail(str(error))
        if (found.records, str(found)) != (self._digest.records, str(self._digest)):
            self._fail("")

    def _fail(self, reason: str) -> None:
        text = f"what was read back is not what was written; is the disk sound? {reason}"
        raise OSError(errno.EIO, text.rstrip(), self.path)

    def abandon(self) -> None:
        """Close the file as it is."""
        self._writer.abandon()


class _SegmentReader:
    """The records of segments that mostly follow one another: a source is then read on, and not again."""

    def __init__(self) -> None:
        self._source: Any = None
        self._position = 0
        self._batches: Iterator[Records] = iter(())
        self._rest: Records | None = None

    def batches(self, segment: Segment) -> Iterator[Records]:
        """The records of a segment."""
        source, begin, end = segment
        if source is not self._source or begin != self._position:
            self._source, self._position = source, begin
            self._batches, self._rest = source.batches(begin), None
        while self._position < end:
            batch = next(self._batches, None) if self._rest is None else self._rest
            if batch is None:
                name = printable(str(getattr(source, "path", "the input")))
                reason = f"it ends after {self._position} of {source.records} records; has it changed?"
                raise OSError(errno.ESTALE, reason, name)
            used = batch[: end - self._position]
            self._rest = batch[len(used) :] if len(used) < len(batch) else None
            self._position += len(used)
            yield used


@dataclass(frozen=True)
class WriteShards:
    """A task that writes shards which follow one another: ``segments`` of each number."""

    numbers: tuple[int, ...]
    segments: tuple[tuple[Segment, ...], ...]
    options: TFRecordOptions
    prefix: str = "shard"

    @property
    def name(self) -> str:
        """What it is called."""
        return shard_file(self.prefix, self.numbers[0])

    def run(self, folder: WorkFolder, progress: Progress) -> None:
        """Write them, one after the other."""
        reader = _SegmentReader()
        for number, segments in zip(self.numbers, self.segments, strict=True):
            name = shard_file(self.prefix, number)
            batches = (batch for segment in segments for batch in reader.batches(segment))
            folder.mark(name, write_shard(folder, name, batches, self.options, progress))


def shard_file(prefix: str, number: int) -> str:
    """The name of a shard in the work folder."""
    return f"{prefix}-{number:05d}"


def write_shard(
    folder: WorkFolder, name: str, batches: Iterable[Records], options: TFRecordOptions, progress: Progress
) -> dict[str, Any]:
    """Write a file of the work folder, and give the facts about it."""
    writer = ShardWriter(folder, name, options)
    try:
        for batch in batches:
            writer.write(batch)
            progress(batch.nbytes + OVERHEAD * len(batch), len(batch))
        return writer.finish()
    except BaseException:
        writer.abandon()
        raise


def grouped(
    shards: Sequence[tuple[Segment, ...]], missing: Sequence[int], options: TFRecordOptions, prefix: str
) -> list[WriteShards]:
    """Tasks that write the ``missing`` ones of ``shards``.

    Shards that begin in the same source are written by one task if that source can only be read from its
    beginning: it is then read once, and not once for each of them.
    """
    tasks: list[WriteShards] = []
    last: tuple[int, Any] | None = None  # the number and first source of the shard before
    for number in missing:
        first = shards[number][0].source if shards[number] else None
        joins = first is not None and not first.seekable
        if tasks and joins and last is not None and last == (number - 1, id(first)):
            before = tasks[-1]
            numbers, segments = (*before.numbers, number), (*before.segments, shards[number])
            tasks[-1] = WriteShards(numbers, segments, options, prefix)
        else:
            tasks.append(WriteShards((number,), (shards[number],), options, prefix))
        last = (number, id(first))
    return tasks
