"""Strata: the classes of records that ``split`` divides each by itself, and the keys at which it cuts them.

A task notes the class and the key of every record of a file. Then each class is cut so that its parts have
exactly their shares, whatever its size; a part of the keys is in memory. This module must not know what a
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
_GOLDEN = (5**0.5 - 1) / 2


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

    def runs(self, folder: WorkFolder, result: dict[str, Any]) -> list[SavedRun]:
        """The sorted runs."""
        return [SavedRun(folder, f"{self.name}-{run}") for run in range(result["runs"])]


@dataclass(frozen=True)
class SavedRun:
    """Classes and keys of records, sorted, in a file that is open only while somebody looks at them: there
    may be more of these than a process may open files."""

    folder: WorkFolder
    name: str

    def __iter__(self) -> Iterator[Any]:
        return iter(self.folder.load_array(self.name))


def cuts_of(runs: Sequence[Any], ends: Sequence[float]) -> tuple[Keys, Keys]:
    """All classes, and the keys at which each is cut so that its parts end at these shares of it.

    Where a share of a class is no whole number of records, it is rounded up for some classes and down for
    others, so that the shares of all records are right too, even if each class has but one.
    """
    counts: Counter[int] = Counter()
    for classes, _ in runs:
        found, sizes = np.unique(classes, return_counts=True)
        counts.update(dict(zip(found.tolist(), sizes.tolist(), strict=True)))
        if len(counts) > MOST_CLASSES:
            raise ValueError(f"there are more than {MOST_CLASSES:,} classes; each would have few records")
    numbers = sorted(counts)
    cuts = np.empty((len(counts), len(ends)), np.uint64)
    row = 0
    while row < len(numbers):
        # Classes that are read together; one that is larger is cut without having its keys in memory.
        many, size = 0, 0
        while row + many < len(numbers) and size + counts[numbers[row + many]] <= _RECORDS_AT_ONCE:
            size += counts[numbers[row + many]]
            many += 1
        some = numbers[row : row + max(1, many)]
        keys = _keys_of(runs, some[0], some[-1]) if many else None
        begin = 0
        for number in some:
            ranks = [_rank(end, counts[number], row) for end in ends]
            if keys is None:
                cuts[row] = [_key_of_rank(runs, number, rank) for rank in ranks]
            else:
                found = np.append(keys[begin : begin + counts[number]], np.uint64(2**64 - 1))
                cuts[row] = found[ranks]
                begin += counts[number]
            row += 1
    return np.array(numbers, np.uint64), cuts


def _rank(end: float, count: int, row: int) -> int:
    """How many records of a class come before this share of it, rounded up or down by its number.

    The fractions of the multiples of the golden ratio lie as evenly as can be, however many there are.
    """
    offset = (row * _GOLDEN + 0.5) % 1
    return min(count, int(round(end * count, 6) + min(offset, 1 - 1e-5)))


def _of_class(run: Any, first: int, last: int) -> tuple[Any, Any]:
    """The records of the classes from ``first`` to ``last``: their classes and keys."""
    classes, keys = run
    begin, end = (
        np.searchsorted(classes, np.uint64(first)),
        np.searchsorted(classes, np.uint64(last), "right"),
    )
    return classes[begin:end], keys[begin:end]


def _keys_of(runs: Sequence[Any], first: int, last: int) -> Keys:
    """The keys of these classes, class after class, each in order."""
    rows = np.concatenate([np.stack(_of_class(run, first, last)) for run in runs], axis=1)
    keys: Keys = rows[1, np.lexsort(rows[::-1])]
    return keys


def _key_of_rank(runs: Sequence[Any], number: int, rank: int) -> int:
    """The largest key of a class below which there are at most ``rank`` keys."""
    low = 0
    for shift in (48, 32, 16, 0):
        edges = np.uint64(low) + (np.arange(1 << 16, dtype=np.uint64) << np.uint64(shift))
        below = np.zeros(len(edges), np.int64)
        for run in runs:
            below += np.searchsorted(_of_class(run, number, number)[1], edges)
        low = int(edges[int(np.searchsorted(below, rank, "right")) - 1])
    return low
