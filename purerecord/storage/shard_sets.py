"""Sets of shards: whether the files that were found are all the shards of a dataset, and which are missing.

Shards are numbered from 0 or, as some tools do it, from 1. This module looks at names only; ``paths`` finds
the files.
"""

from __future__ import annotations

import errno
import re
from itertools import pairwise
from typing import NamedTuple

from ..printable import printable

_TFDS_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
SHARD = re.compile(r"-(\d{5,})-of-(\d{5,})(?=[^/]*$)")
# If more shards than this are missing, their names are not made up, even if missing files are allowed.
_MOST_MISSING = 10_000
# A message names at most this many runs of missing shards.
_MOST_RUNS = 8


class _Shards(NamedTuple):
    """The shards of one dataset, numbered ``begin`` to ``end - 1``, of which ``present`` were found."""

    head: str  # the name before the number
    tail: str  # and after it
    digits: int
    present: set[int]
    begin: int
    end: int

    def name(self, number: int) -> str:
        return f"{self.head}{number:0{self.digits}d}{self.tail}"

    def missing(self) -> list[str]:
        """The names of the missing shards."""
        return [self.name(number) for number in range(self.begin, self.end) if number not in self.present]

    def missing_listed(self) -> str:
        """The numbers of the missing shards, as text; not all if there are very many gaps."""
        edges = [self.begin - 1, *sorted(self.present), self.end]
        gaps = [(low + 1, high - 1) for low, high in pairwise(edges) if high - low > 1]
        texts = [
            f"{low:0{self.digits}d}" if low == high else f"{low:0{self.digits}d} to {high:0{self.digits}d}"
            for low, high in gaps[:_MOST_RUNS]
        ]
        more = sum(high - low + 1 for low, high in gaps[_MOST_RUNS:])
        return ", ".join(texts) + (f" and {more} more" if more else "")


def complete_shards(found: list[str], pattern: str, *, missing_ok: bool) -> list[str]:
    """The files that ``pattern`` has found, if no shard is missing; an error lists those that are.

    With ``missing_ok``, they are part of the result. Names without the number of a shard pass.
    """
    total, groups = _groups(found, pattern)
    missing: list[str] = []
    for (head, tail), numbers in groups.items():
        present = set(map(int, numbers))
        if max(present) > total or {0, total} <= present:
            raise ValueError(
                f"{printable(pattern)}: the files of {total} shards are numbered from {min(present)} to "
                f"{max(present)}; a dataset is numbered from 0 or from 1, so these are of several"
            )
        begin = 1 if total in present else 0
        shards = _Shards(head, tail, min(map(len, numbers)), present, begin, begin + total)
        lacking = total - len(present)
        if lacking and (not missing_ok or lacking > _MOST_MISSING):
            verb = "is" if lacking == 1 else "are"
            what = f"{lacking} of the {total} shards {verb} missing: {shards.missing_listed()}"
            raise FileNotFoundError(errno.ENOENT, what, pattern)
        missing += shards.missing()
    return sorted([*found, *missing])


def tfds_shard_names(template: str | None, dataset: str, split: str, count: int) -> list[str]:
    """The names that tensorflow-datasets gives the files of a split."""

    def name(number: int) -> str:
        values = {
            "DATASET": dataset,
            "SPLIT": split,
            "FILEFORMAT": "tfrecord",
            "SHARD_INDEX": f"{number:05d}",
            "NUM_SHARDS": f"{count:05d}",
            "SHARD_X_OF_Y": f"{number:05d}-of-{count:05d}",
        }
        return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], template or _TFDS_TEMPLATE)

    return [name(number) for number in range(count)]


def _groups(found: list[str], pattern: str) -> tuple[int, dict[tuple[str, str], list[str]]]:
    """How many shards there should be, and the numbers that were found, by the text before and after them."""
    totals: set[int] = set()
    groups: dict[tuple[str, str], list[str]] = {}
    for name in found:
        if match := SHARD.search(name):
            totals.add(int(match[2]))
            groups.setdefault((name[: match.start(1)], name[match.end(1) :]), []).append(match[1])
    if len(totals) > 1:
        raise ValueError(
            f"{printable(pattern)}: files of several datasets match, of {sorted(totals)} shards; name one"
        )
    return (totals.pop() if totals else 0), groups
