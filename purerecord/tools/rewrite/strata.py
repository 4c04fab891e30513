"""Strata: the classes of records that ``split`` divides each by itself, and the keys at which it cuts them.

A task notes the class and the key of every record of a file. Then each class is cut so that its parts have
exactly their shares, whatever its size; nothing but the counts is in memory. This module must not know what a
class is, nor what a key is made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...container.frames import OVERHEAD
from ...processes.pool import Progress
from ...records import Records
from .inputs import Input
from .record_keys import Keys
from .work_folder import WorkFolder

# Classes are few; of more, each has few records, and no share of these is exact.
MOST_CLASSES = 100_000
# Records whose classes are sorted at once.
_RECORDS_AT_ONCE = 1 << 22


class Classify(Protocol):
    """Gives the class and the key of records."""

    def classes(self, records: Records) -> Keys:
        """The classes."""

    def keys(self, records: Records) -> Keys:
        """The keys."""


@dataclass(frozen=True)
class NoteClasses:
    """A task that notes the class and the key of each record of a file."""

    source: Input
    classify: Any  # a Classify

    @property
    def name(self) -> str:
        """What it is called."""
        return f"classes-{self.source.number:05d}"

    def run(self, folder: WorkFolder, progress: Progress) -> None:
        """Note them in sorted runs."""
        classes: list[Keys] = []
        keys: list[Keys] = []
        runs = waiting = 0
        with closing(self.source.batches()) as reading:
            for batch in reading:
                classes.append(self.classify.classes(batch))
                keys.append(self.classify.keys(batch))
                waiting += len(batch)
                progress(batch.nbytes + OVERHEAD * len(batch), 0)
                if waiting >= _RECORDS_AT_ONCE:
                    self._save(folder, runs, classes, keys)
                    runs, waiting, classes, keys = runs + 1, 0, [], []
            if waiting:
                self._save(folder, runs, classes, keys)
                runs += 1
            folder.mark(self.name, {"runs": runs, "records": reading.records})

    def _save(self, folder: WorkFolder, run: int, classes: list[Keys], keys: list[Keys]) -> None:
        rows = np.stack([np.concatenate(classes), np.concatenate(keys)])
        folder.save_array(f"{self.name}-{run}", rows[:, np.lexsort(rows[::-1])])

    def runs(self, folder: WorkFolder, result: dict[str, Any]) -> Iterator[Any]:
        """The sorted runs: classes, and keys."""
        for run in range(result["runs"]):
            yield folder.load_array(f"{self.name}-{run}")


def cuts_of(runs: Sequence[Any], ends: Sequence[float]) -> tuple[Keys, Keys]:
    """All classes, and the keys at which each is cut so that its parts end at these shares of it."""
    counts: Counter[int] = Counter()
    for classes, _ in runs:
        found, sizes = np.unique(classes, return_counts=True)
        counts.update(dict(zip(found.tolist(), sizes.tolist(), strict=True)))
        if len(counts) > MOST_CLASSES:
            raise ValueError(f"there are more than {MOST_CLASSES:,} classes; each would have few records")
    cuts = np.empty((len(counts), len(ends)), np.uint64)
    for row, (number, count) in enumerate(sorted(counts.items())):
        some = [_of_class(run, number) for run in runs]
        for column, end in enumerate(ends):
            cuts[row, column] = _key_of_rank(some, int(end * count + 0.5))
    return np.array(sorted(counts), np.uint64), cuts


def _of_class(run: Any, number: int) -> Any:
    classes, keys = run
    begin, end = (
        np.searchsorted(classes, np.uint64(number)),
        np.searchsorted(classes, np.uint64(number), "right"),
    )
    return keys[begin:end]


def _key_of_rank(runs: Sequence[Any], rank: int) -> int:
    """The largest key below which there are at most ``rank`` keys."""
    low, high = 0, 2**64 - 1
    while low < high:
        middle = (low + high + 1) // 2
        below = sum(int(np.searchsorted(keys, np.uint64(middle))) for keys in runs)
        low, high = (middle, high) if below <= rank else (low, middle - 1)
    return low
