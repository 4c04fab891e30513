"""Consistency of a dataset: what its files say about each other, though each of them alone is sound.

Files belong to one set if their names differ only in their numbers. In a set, all files should have the same
compression, and names like ``train-00000-of-00020`` say how many there should be. This module reads no file;
it compares reports.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from ..printable import printable
from ..storage.paths import shard_number
from .report import FileReport, counted

_LISTED = 5  # names or numbers in one sentence


def warnings(files: Sequence[FileReport]) -> Iterator[str]:
    """A sentence for each set of files of mixed compression, or of which shards are missing."""
    sets: defaultdict[tuple[str, str], list[FileReport]] = defaultdict(list)
    for file in files:
        folder, name = os.path.split(file.path)
        sets[folder, re.sub(r"\d+", "#", name)].append(file)
    for members in sets.values():
        yield from _mixed_compression(members)
        yield from _missing_shards(members)


def _mixed_compression(files: list[FileReport]) -> Iterator[str]:
    """TensorFlow reads all files of a dataset with one compression."""
    named = {file.path: file.compression or "not compressed" for file in files if file.records}
    (usual, count), *others = Counter(named.values()).most_common() or [("", 0)]
    for compression, odd in others:
        names = [path for path, name in named.items() if name == compression]
        yield (
            f"{odd:,} of {counted(len(named), 'file')} {'is' if odd == 1 else 'are'} {compression}, "
            f"{count:,} {usual}: {_listed(names)}"
        )


def _missing_shards(files: list[FileReport]) -> Iterator[str]:
    """A shard that was named alone says nothing about the others; of two or more, all should be there."""
    shards: defaultdict[int, set[int]] = defaultdict(set)
    for file in files:
        if (shard := shard_number(file.path)) is not None:
            shards[shard[1]].add(shard[0])
    for count, found in shards.items():
        first = 1 if count in found else 0  # some writers count from 1
        missing = [number for number in range(first, first + count) if number not in found]
        if missing and len(found) > 1:
            pattern = re.sub(r"-\d{5,}-of-", "-?????-of-", files[0].path)
            yield (
                f"{len(missing):,} of {counted(count, 'shard')} {printable(pattern)} "
                f"{'is' if len(missing) == 1 else 'are'} missing: {_listed([str(n) for n in missing])}"
            )


def wrong_counts(files: Sequence[FileReport], expect: int | None, min_records: int | None) -> Iterator[str]:
    """A sentence for each file with fewer than ``min_records``, and if ``expect`` is not their sum."""
    for file in files:
        if min_records is not None and file.records < min_records:
            name = printable(file.path)
            yield f"{name}: {counted(file.records, 'record')}, at least {min_records:,} expected"
    records = sum(file.records for file in files)
    if expect is not None and records != expect:
        yield f"{counted(records, 'record')} in all, {expect:,} expected"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return printable(", ".join(names[:_LISTED])) + more
