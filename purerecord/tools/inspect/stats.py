"""``stats``: what the features of many files hold, in numbers.

Each file is read once, in batches, and decoded as columns. Every file has statistics of its own, which are
merged in the order of the files: so the result does not depend on the number of processes. Text and HTML are
made of the result in ``stats_text`` and ``stats_page``. This module does not know how numbers are counted.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ... import public
from ...container.damage import Damage
from ...container.frame_stream import FrameStream
from ...container.looks_like import open_source
from ...errors import DecodeError
from ...processes.pool import Progress, no_progress
from ...records import Records
from ...recovery.scan import records_and_damage
from ...storage.opened import Opened
from ...storage.paths import Named, resolve
from ...storage.url import stored
from .example_statistics import ExampleStatistics
from .feature_statistics import FeatureSummary
from .number_statistics import NumberSummary
from .stats_page import stats_fragment, stats_page
from .stats_text import stats_text
from .summary_json import feature_json, number_json

# Distinct values of a feature that are kept, unless the caller says otherwise.
MOST_DISTINCT = 10_000
# Records that are decoded together: a few whole blocks of the decoder, unless they are large.
_BATCH_RECORDS, _BATCH_BYTES = 1 << 15, 1 << 25
# Files whose statistics wait to be merged, for each process.
_FILES_PER_WORKER = 4


@public
@dataclass(frozen=True)
class FileStats:
    """One file: its records, what it takes on disk, and the damage that was skipped.

    ``undecodable`` records are no Examples; ``reason`` is about the first of these.
    """

    path: str
    records: int
    size: int
    compression: str
    damages: tuple[Damage, ...] = ()
    undecodable: int = 0
    reason: str = ""


@public
@dataclass(frozen=True, repr=False)
class Stats:
    """Statistics of the features of some files.

    ``records`` is how many records were counted, ``record_bytes`` what they hold together, ``record_sizes``
    is about the size of each. ``features`` are those of Examples and of contexts, and feature lists after
    them, each sorted by name.
    ``most_distinct`` is up to how many distinct values each is exact.

    >>> found = stats("train-*.tfrecord", workers=2)
    >>> found["label"].numbers["int64"].maximum
    """

    files: tuple[FileStats, ...]
    records: int
    record_sizes: NumberSummary
    features: tuple[FeatureSummary, ...]
    most_distinct: int
    record_bytes: int

    @property
    def undecodable(self) -> int:
        """How many records are no Examples. They are not counted among ``records``."""
        return sum(file.undecodable for file in self.files)

    @property
    def ok(self) -> bool:
        """Whether all files are sound, and all records are Examples."""
        return not any(file.damages or file.undecodable for file in self.files)

    @property
    def size(self) -> int:
        """What the files take on disk, in bytes."""
        return sum(file.size for file in self.files)

    def __getitem__(self, name: str) -> FeatureSummary:
        for feature in self.features:
            if feature.name == name:
                return feature
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """The statistics in types that JSON has."""
        return {
            "records": self.records,
            "undecodable": self.undecodable,
            "size": self.size,
            "record_bytes": self.record_bytes,
            "record_size": number_json(self.record_sizes, "int64"),
            "most_distinct": self.most_distinct,
            "features": [feature_json(feature) for feature in self.features],
            "files": [
                {
                    "path": file.path,
                    "records": file.records,
                    "size": file.size,
                    "compression": file.compression or "none",
                    "damages": [damage.to_dict() for damage in file.damages],
                    "undecodable": file.undecodable,
                }
                for file in self.files
            ],
        }

    def as_json(self) -> str:
        """The statistics as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def text(self, width: int = 80) -> str:
        """The statistics as text for people, with small bars, in lines of at most ``width`` characters."""
        return stats_text(self, width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Stats: {self.records} records, {len(self.features)} features, {len(self.files)} files>"

    def as_html(self) -> str:
        """The statistics as a page that needs nothing else."""
        return stats_page(self)

    def _repr_html_(self) -> str:
        return stats_fragment(self)


@public
def stats(
    paths: Any,
    *,
    workers: int | None = None,
    features: Collection[str] | None = None,
    on_error: str = "raise",
    compression: Any = "auto",
    most_distinct: int = MOST_DISTINCT,
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Stats:
    """Statistics of all features of Examples and SequenceExamples, or of the ``features`` that are named.

    Counts, extremes, means and deviations are exact. Quantiles, distinct and most frequent values are exact
    for up to ``most_distinct`` distinct values of a feature, and for any integers within a range of 262,144;
    beyond, a quantile is known to lie between two numbers. ``workers`` is the number of processes that share
    the files. It does not change the result. ``on_error="skip"`` goes on after damage and records that are no
    Examples, and counts them. ``progress`` is called with the bytes and records that were read since its last
    call.
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f'on_error must be "raise" or "skip", not {on_error!r}')
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be positive, not {workers}")
    if isinstance(features, str):
        raise TypeError("features must be a list of names, not one name")
    files = resolve(stored(paths, storage_options, filesystem))
    job = _ReadFile(compression, on_error, None if features is None else tuple(features), most_distinct)
    whole = job.empty()
    facts = []
    for one, found in _results(job, files, workers or 1, progress):
        facts.append(one)
        whole.merge(found)
    return Stats(
        tuple(facts),
        whole.records,
        whole.record_sizes(),
        whole.summaries(),
        most_distinct,
        whole.record_bytes,
    )


def _results(
    job: _ReadFile, files: list[Named], workers: int, progress: Progress | None
) -> Iterator[tuple[FileStats, ExampleStatistics]]:
    """The results of all files, in their order."""
    if workers < 2 or len(files) < 2 or not all(isinstance(file, str) for file in files):
        yield from (job(file, progress) for file in files)
        return
    from ...processes.pool import run_all  # noqa: PLC0415 - slow to import, seldom needed

    step = workers * _FILES_PER_WORKER
    for low in range(0, len(files), step):
        some = files[low : low + step]
        for file, result in zip(some, run_all(job, some, min(workers, len(some)), progress), strict=True):
            if result is None:
                raise MemoryError(f"{file}: the process that read it was killed; was memory short?")
            yield result


@dataclass(frozen=True)
class _ReadFile:
    """Makes the statistics of one file; can be pickled and sent to a worker process."""

    compression: Any
    on_error: str
    features: tuple[str, ...] | None
    most: int

    def empty(self) -> ExampleStatistics:
        """Statistics of no records."""
        return ExampleStatistics(self.features, most=self.most)

    def __call__(self, file: Named, progress: Progress | None = None) -> tuple[FileStats, ExampleStatistics]:
        found, reason = self.empty(), ""
        damages: list[Damage] = []
        reported = 0
        with closing(open_source(file, self.compression)) as opened:
            for part in self._batches(opened):
                if isinstance(part, Damage):
                    damages.append(part)
                    continue
                error = self._add(found, part)
                reason = reason or error
                (progress or no_progress)(opened.position - reported, len(part))
                reported = opened.position
            facts = FileStats(
                opened.name,
                found.records,
                opened.position,
                opened.compression or "",
                tuple(damages),
                found.undecodable,
                reason,
            )
        return facts, found

    def _add(self, found: ExampleStatistics, records: Records) -> str:
        """Add records; what is wrong with the first that is no Example, if such are skipped."""
        if self.on_error == "raise":
            found.add(records)
            return ""
        error = found.add_decodable(records)
        return "" if error is None else _in_words(error)

    def _batches(self, opened: Opened) -> Iterator[Records | Damage]:
        """The records in batches, and the damage between them if it is skipped."""
        stream = FrameStream(opened)
        if self.on_error == "skip":
            yield from records_and_damage(opened, stream, _BATCH_RECORDS, _BATCH_BYTES)
            return
        while (records := stream.next(_BATCH_RECORDS, _BATCH_BYTES)) is not None:
            yield records


def _in_words(error: DecodeError) -> str:
    return f"record {error.record}: {error.reason}" if error.record is not None else error.reason
