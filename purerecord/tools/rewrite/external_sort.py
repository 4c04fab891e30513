"""``sorted_source``: the records of all inputs in an order, whatever their size, in bounded memory.

First each input becomes sorted runs. Then all keys are divided into ranges, each of which is short enough to
be sorted in memory, and a record is found in no other range. So ranges are read, sorted and written one after
the other, by any number of processes. The result depends on the order alone. This module must not know what
the records are sorted by.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...bytes_column import Offsets
from ...errors import SchemaError
from ...records import Records
from ...storage.sizes import size_in_bytes
from .engine import Rewrite
from .how import How
from .record_keys import NO_VALUE
from .report import Rewritten
from .sort_keys import Order, joined_keys, mixed, order_of
from .sorted_runs import Key, Run, WriteRuns, chunks, kinds_of, runs_of
from .work_folder import WorkFolder

if TYPE_CHECKING:
    from typing_extensions import Unpack

# The parts of the memory of one process that its run and its range may take; the rest is for reading, sorting
# and writing.
_RUN_SHARE, _RANGE_SHARE = 0.6, 0.4
_SMALLEST_RANGE = 1 << 20
_RANGES = "ranges"


def write_sorted(
    verb: str,
    paths: Any,
    out: Any,
    order: Order,
    *,
    parameters: dict[str, Any],
    memory: Any,
    **how: Unpack[How],
) -> Rewritten:
    """Write all records in an order; ``memory`` is what all processes may take together."""
    size = size_in_bytes(memory)
    run = Rewrite(verb, paths, out, parameters, how)
    if run.dry_run:
        return run.would()
    with run:
        return run.write([sorted_source(run, order, size // run.processes)])


def sorted_source(run: Rewrite, order: Order, memory: int) -> SortedSource:
    """All records in an order; each process takes about ``memory`` bytes."""
    tasks = [WriteRuns(source, order, max(1, int(memory * _RUN_SHARE))) for source in run.inputs]
    results = run.run(tasks)
    run.note_read(results)
    runs = runs_of(run.folder, tasks, results)
    if len(kinds := kinds_of(runs)) > 1:
        raise SchemaError(mixed(kinds), feature=getattr(order, "feature", None))
    if not kinds and runs:
        raise SchemaError(NO_VALUE, feature=getattr(order, "feature", None))
    most = int(memory * _RANGE_SHARE)
    whole = sum(one.weight(0, len(one)) for one in runs)
    # A shard that begins inside a range reads it again, so ranges are smaller than shards.
    most = min(most, max(_SMALLEST_RANGE, whole // (2 * _shards(run, runs))))
    run.folder.save_array(_RANGES, ranges(runs, max(1, most)))
    records = sum(map(len, runs))
    return SortedSource(WorkFolder(run.folder.path), tuple(runs), records)


def _shards(run: Rewrite, runs: Sequence[Run]) -> int:
    """About how many shards there will be."""
    output, records = run.output, sum(map(len, runs))
    if output.max_bytes is not None:
        return 1 + sum(one.weight(0, len(one)) for one in runs) // output.max_bytes
    if output.max_records is not None:
        return 1 + records // output.max_records
    return output.shards or len(run.inputs)


def ranges(runs: Sequence[Run], most: int) -> Offsets:
    """Where each range of keys begins in each run, and at last where the runs end.

    A range takes at most ``most`` bytes, or is one record.
    """
    found = [np.zeros(len(runs), np.int64)]
    waiting = [(found[0], np.array([len(run) for run in runs], np.int64))]
    last = 0  # the weight of the last range
    while waiting:
        begins, ends = waiting.pop()
        weights = _weights(runs, begins, ends)
        if sum(weights) > most and int((ends - begins).sum()) > 1:
            cut = _cut(runs, begins, ends, weights)
            waiting += [(cut, ends), (begins, cut)]
            continue
        if len(found) > 1 and last + sum(weights) <= most:
            found.pop()  # it joins the one before
            last += sum(weights)
        else:
            last = sum(weights)
        found.append(ends)
    return np.stack(found)


def _weights(runs: Sequence[Run], begins: Offsets, ends: Offsets) -> list[int]:
    pairs = zip(runs, begins.tolist(), ends.tolist(), strict=True)
    return [run.weight(begin, end) if end > begin else 0 for run, begin, end in pairs]


def _cut(runs: Sequence[Run], begins: Offsets, ends: Offsets, weights: Sequence[int]) -> Offsets:
    """Where a range is cut in two: at the median of the runs' middles, so that neither part is small."""
    middles: list[tuple[Key, int]] = []
    for run, begin, end, weight in zip(runs, begins.tolist(), ends.tolist(), weights, strict=True):
        if begin < end:
            middles.append((run.key(run.middle(begin, end)), weight))
    middles.sort(key=lambda pair: pair[0])
    so_far = np.cumsum([weight for _, weight in middles])
    pivot = middles[int(np.searchsorted(so_far, so_far[-1] / 2))][0]
    pairs = list(zip(runs, begins.tolist(), ends.tolist(), strict=True))
    cut = np.array([run.rows_up_to(pivot, begin, end) for run, begin, end in pairs])
    if bool((cut == ends).all()):  # the largest key, of a record that is large: it has a range for itself
        cut -= [begin < end and run.key(end - 1) == pivot for run, begin, end in pairs]
    return cut


@dataclass(frozen=True)
class SortedSource:
    """The records of all runs in their order, as a source from which shards are written."""

    folder: WorkFolder
    runs: tuple[Run, ...]
    records: int

    seekable = True

    def __reduce__(self) -> tuple[Any, ...]:
        return SortedSource, (self.folder, self.runs, self.records)

    @cached_property
    def _ranges(self) -> Any:
        return self.folder.load_array(_RANGES)

    def batches(self, begin: int) -> Iterator[Records]:
        """The records from number ``begin`` on."""
        firsts = self._ranges.sum(axis=1)
        first = bisect_right(firsts, begin) - 1
        begin -= int(firsts[first])
        for number in range(first, len(firsts) - 1):
            yield from self._read(number, begin)
            begin = 0

    def lengths(self) -> Iterator[Offsets]:
        """The lengths of all payloads."""
        for number in range(len(self._ranges) - 1):
            order, lengths = self._order(number)
            yield lengths[order]

    def _parts(self, number: int) -> list[tuple[Run, int, int]]:
        begins, ends = self._ranges[number].tolist(), self._ranges[number + 1].tolist()
        return [part for part in zip(self.runs, begins, ends, strict=True) if part[1] < part[2]]

    def _order(self, number: int) -> tuple[Offsets, Offsets]:
        """The order of the records of a range, and their lengths, run after run."""
        parts = self._parts(number)
        found = [run.keys(begin, end) for run, begin, end in parts]
        lengths = np.concatenate([run.lengths(begin, end) for run, begin, end in parts])
        places = np.concatenate([place for _, place in found])
        keys = joined_keys([keys for keys, _ in found])
        return order_of(keys, places, descending=self.runs[0].descending), lengths

    def _read(self, number: int, begin: int) -> Iterator[Records]:
        """The records of a range in their order, from number ``begin`` of it on."""
        if not self._parts(number):
            return
        order, lengths = self._order(number)
        ends = np.cumsum(lengths)
        buffer = np.empty(int(ends[-1]), np.uint8)
        place = 0
        for run, low, high in self._parts(number):
            size = int(run.lengths(low, high).sum())
            run.read(low, high, buffer.data[place : place + size])
            place += size
        records = Records(buffer.data.toreadonly(), (ends - lengths)[order], ends[order])[begin:]
        *some, last = chunks(records)
        del buffer
        yield from some
        # The next range is read while somebody still holds the last records: these must not hold this one.
        last = Records.of(list(last))
        del records, some
        yield last
