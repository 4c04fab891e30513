"""``sample``: a random part of the records, in their order.

This module must not know what a payload means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import public
from ...records import Records
from .engine import Rewrite
from .how import How
from .inputs import CountRecords, Input
from .record_keys import Keys, random_keys
from .report import Rewritten
from .work_folder import WorkFolder

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Keys that are made at once.
_KEYS_AT_ONCE = 1 << 20


@public
def sample(
    paths: Any,
    out: Any,
    *,
    fraction: float | None = None,
    count: int | None = None,
    seed: int = 0,
    **how: Unpack[How],
) -> Rewritten:
    """Write a random part of the records, in their order: about a ``fraction``, or exactly ``count``.

    The same ``seed`` chooses the same records of the same files, and a larger sample includes a smaller one.
    The keywords are those of ``purerecord.tools.How``.

    >>> sample("train@10.tfrecord", "small.tfrecord", count=1000, shards=1)
    """
    if (fraction is None) == (count is None):
        raise ValueError("say how many records: either fraction or count")
    if fraction is not None and not 0 < fraction <= 1:
        raise ValueError(f"fraction must be more than 0 and at most 1, not {fraction}")
    if count is not None and count < 1:
        raise ValueError(f"count must be positive, not {count}")
    parameters = {"fraction": fraction, "count": count, "seed": seed}
    run = Rewrite("sample", paths, out, parameters, how)
    if run.dry_run:
        return run.would()
    with run:
        last = max(0, int((fraction or 0) * 2.0**64) - 1) if count is None else _last_key(run, count, seed)
        return run.mapped(KeepSmallest(min(last, 2**64 - 1), seed))


def _last_key(run: Rewrite, count: int, seed: int) -> int:
    """The key that ``count`` records reach; a ValueError if there are fewer."""
    results = run.run([CountRecords(source) for source in run.inputs])
    total = sum(result["records"] for result in results)
    if total < count:
        raise ValueError(f"there are only {total:,} records, and {count:,} are asked for")
    smallest: Keys = np.empty(0, np.uint64)
    for source, result in zip(run.inputs, results, strict=True):
        for first in range(0, result["records"], _KEYS_AT_ONCE):
            numbers = source.sequence(first, min(_KEYS_AT_ONCE, result["records"] - first))
            smallest = np.concatenate([smallest, random_keys(numbers, seed)])
            if len(smallest) > count:
                smallest = np.partition(smallest, count - 1)[:count]
    return int(smallest.max())


@dataclass(frozen=True)
class KeepSmallest:
    """The transform that keeps the records with a random key up to ``last``."""

    last: int
    seed: int

    parts = 1

    def begin(self, source: Input, folder: WorkFolder) -> _Sampling:
        """Begin with a file."""
        return _Sampling(self, source)


class _Sampling:
    def __init__(self, keep: KeepSmallest, source: Input) -> None:
        self._keep, self._source = keep, source
        self.facts: dict[str, Any] = {}

    def apply(self, records: Records, first: int) -> Sequence[Records]:
        keys = random_keys(self._source.sequence(first, len(records)), self._keep.seed)
        return (records.take(keys <= np.uint64(self._keep.last)),)
