"""``dedup``: the first of equal records, and no other.

Records are compared by digests of 128 bits, in memory that does not grow with the input. This module must not
know how a digest is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import public
from ...bytes_column import Offsets
from ...container.frames import OVERHEAD
from ...errors import SchemaError
from ...processes.pool import Progress
from ...records import Records
from ...storage.sizes import size_in_bytes
from .engine import Rewrite
from .how import How
from .inputs import Input
from .record_keys import NO_VALUE, Keys, feature_digests, payload_digests
from .report import Rewritten
from .work_folder import WorkFolder

if TYPE_CHECKING:
    from typing_extensions import Unpack

# What a record takes in memory while its digest is compared.
_PER_RECORD = 150


@public
def dedup(
    paths: Any, out: Any, *, by: Sequence[str] | None = None, memory: int | str = "1GB", **how: Unpack[How]
) -> Rewritten:
    """Write the records without those that are there already, in their order: the first one stays.

    Records are equal if their payloads are. With ``by``, they are equal if these features have the same
    values, of the same kind and with the same bytes; a record without a value of one of them stays in any
    case. What is compared is the BLAKE2b of 128 bits: that two different records have the same one does not
    happen by chance (once in 10**20 times for a billion records). ``memory`` is what all processes take
    together; it does not change the result. The keywords are those of ``purerecord.tools.How``.

    >>> dedup("crawl-*.tfrecord", "unique/crawl@100.tfrecord", by=["url"])
    """
    if isinstance(by, str):
        raise TypeError(f"features are named in a list, such as [{by!r}]")
    if by is not None and not by:
        raise ValueError("by names no feature")
    features = None if by is None else tuple(by)
    size = size_in_bytes(memory)
    run = Rewrite("dedup", paths, out, {"by": features}, how)
    if run.dry_run:
        return run.would()
    with run:
        most = max(1, size // run.processes // _PER_RECORD)
        tasks = [NoteDigests(source, features, most) for source in run.inputs]
        results = run.run(tasks)
        if any(result["records"] for result in results) and not any(result["known"] for result in results):
            assert by is not None
            raise (
                SchemaError(NO_VALUE, feature=by[0])
                if len(by) == 1
                else SchemaError(
                    f"no record has values of all of {', '.join(map(repr, by))}; are the names right?"
                )
            )
        found = zip(tasks, results, strict=True)
        names = tuple(f"{task.name}-{number}" for task, result in found for number in range(result["runs"]))
        records = sum(result["records"] for result in results)
        parts = max(run.processes, -(-records // most))
        finds = [FindDuplicates(part, parts, names) for part in range(parts)]
        run.facts["duplicates"] = sum(result["duplicates"] for result in run.run(finds))
        return run.mapped(DropDuplicates(tuple(find.name for find in finds)))


@dataclass(frozen=True)
class NoteDigests:
    """A task that notes the digest and the place of each record of a file, in runs of up to ``most``."""

    source: Input
    by: tuple[str, ...] | None
    most: int

    @property
    def name(self) -> str:
        """What it is called."""
        return f"digests-{self.source.number:05d}"

    def run(self, folder: WorkFolder, progress: Progress) -> None:
        """Note them."""
        waiting: list[Keys] = []
        runs = count = known = 0
        with closing(self.source.batches()) as reading:
            for batch in reading:
                first = reading.records - len(batch)
                waiting.append(self._rows(batch, self.source.sequence(first, len(batch))))
                known += waiting[-1].shape[1]
                count += len(batch)
                progress(batch.nbytes + OVERHEAD * len(batch), 0)
                if count >= self.most:
                    self._save(folder, runs, waiting)
                    runs, count, waiting = runs + 1, 0, []
            if count:
                self._save(folder, runs, waiting)
                runs += 1
            folder.mark(self.name, {"runs": runs, "records": reading.records, "known": known})

    def _rows(self, records: Records, places: Offsets) -> Keys:
        if self.by is None:
            digests, known = payload_digests(records), np.ones(len(records), bool)
        else:
            digests, known = feature_digests(records, self.by)
        return np.concatenate([digests.T, places.view(np.uint64)[np.newaxis]])[:, known]

    def _save(self, folder: WorkFolder, run: int, waiting: list[Keys]) -> None:
        rows = np.concatenate(waiting, axis=1)
        folder.save_array(f"{self.name}-{run}", rows[:, np.argsort(rows[0])])


@dataclass(frozen=True)
class FindDuplicates:
    """A task that finds the records of one part of all digests that are there already."""

    part: int
    parts: int
    runs: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called, and the file of the places that it has found. How many parts there are follows
        from the memory, with which a run that goes on may be as free as with the workers."""
        return f"duplicates-{self.part:05d}-of-{self.parts:05d}"

    def run(self, folder: WorkFolder, progress: Progress) -> None:
        """Find them."""
        low, high = ((number << 64) // self.parts for number in (self.part, self.part + 1))
        some = [np.empty((3, 0), np.uint64)]
        for run in self.runs:
            rows = folder.load_array(run)
            begin = int(np.searchsorted(rows[0], np.uint64(low)))
            end = int(np.searchsorted(rows[0], np.uint64(high))) if high < 1 << 64 else rows.shape[1]
            some.append(np.array(rows[:, begin:end]))
        rows = np.concatenate(some, axis=1)
        rows = rows[:, np.lexsort(rows[::-1])]
        again = (rows[:2, 1:] == rows[:2, :-1]).all(axis=0)
        places = np.sort(rows[2, 1:][again].view(np.int64))
        folder.save_array(self.name, places)
        folder.mark(self.name, {"duplicates": len(places)})


@dataclass(frozen=True)
class DropDuplicates:
    """The transform that leaves out the records whose places are in these files."""

    files: tuple[str, ...]

    parts = 1

    def begin(self, source: Input, folder: WorkFolder) -> _Dropping:
        """Begin with a file."""
        bounds = np.concatenate([source.sequence(0, 1), source.sequence(1 << 40, 1)])
        found = [np.empty(0, np.int64)]
        for file in self.files:
            places = folder.load_array(file)
            begin, end = np.searchsorted(places, bounds)
            found.append(np.array(places[begin:end]))
        return _Dropping(source, np.sort(np.concatenate(found)))


class _Dropping:
    def __init__(self, source: Input, places: Offsets) -> None:
        self._source, self._places = source, places
        self.facts: dict[str, Any] = {}

    def apply(self, records: Records, first: int) -> Sequence[Records]:
        begin, end = np.searchsorted(self._places, self._source.sequence(first, len(records) + 1)[[0, -1]])
        keep = np.ones(len(records), bool)
        keep[self._places[begin:end] - self._source.sequence(first, 1)[0]] = False
        return (records.take(keep),)
