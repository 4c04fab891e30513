"""Spark sources that lose their process once, as a cluster does; Spark's workers import them from here."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

from purerecord.spark.source import DefaultSource, _Reader, _Writer


def _killed_at_first(batches: Iterator[Any]) -> Iterator[Any]:
    """``batches``; the first attempt of task 1 is killed after its first one."""
    from pyspark import TaskContext  # noqa: PLC0415

    task = TaskContext.get()
    for batch in batches:
        yield batch
        if task is not None and (task.partitionId(), task.attemptNumber()) == (1, 0):
            os.kill(os.getpid(), signal.SIGKILL)


class KilledReader(_Reader):
    def read(self, partition: Any) -> Iterator[Any]:
        return _killed_at_first(super().read(partition))


class KilledWriter(_Writer):
    def write(self, iterator: Iterator[Any]) -> Any:
        return super().write(_killed_at_first(iterator))


class KilledSource(DefaultSource):
    @classmethod
    def name(cls) -> str:
        return "tfrecord_killed"

    def reader(self, schema: Any) -> Any:
        made = super().reader(schema)
        made.__class__ = KilledReader
        return made

    def writer(self, schema: Any, overwrite: bool) -> Any:
        made = super().writer(schema, overwrite)
        made.__class__ = KilledWriter
        return made
