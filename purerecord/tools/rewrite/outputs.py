"""The names of the new shards, and how the records are divided among them.

Shards hold records in the order of the whole: the first shard has the first records. This module writes
nothing, and must not know where the records come from.
"""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...container.frames import OVERHEAD
from ...container.manifest import manifest_path
from ...printable import printable
from ...storage.paths import shard_names, shard_number, split_pattern
from ...storage.stores import same_file
from ...storage.url import Url, is_url, local_path, stored
from .how import How
from .inputs import Input, Source

_SEPARATORS = tuple({"/", os.sep})


class Segment(NamedTuple):
    """The records [begin, end) of a source."""

    source: Source
    begin: int
    end: int


@dataclass(frozen=True)
class Output:
    """Where shards go, and how many there are.

    ``head`` and ``tail`` are the name around the number. Exactly one of the ways to divide holds: ``shards``,
    ``max_bytes`` and/or ``max_records``, or none of these, and then there are as many shards as inputs.
    ``exact`` says that the one shard has the name without a number; ``folder``, that each has the name of
    its input.
    """

    head: str
    tail: str
    url: Url | None
    shards: int | None
    max_bytes: int | None
    max_records: int | None
    exact: bool = False
    folder: bool = False

    @property
    def as_inputs(self) -> bool:
        """Whether there is a shard for each input."""
        return self.shards is None and self.max_bytes is None and self.max_records is None

    @property
    def whole(self) -> str:
        """One name for all."""
        return self._named(self.head + self.tail)

    @property
    def manifest(self) -> str:
        """The name of the manifest."""
        return self._named(manifest_path(self.head, self.tail))

    @property
    def facts(self) -> dict[str, Any]:
        """What a run that goes on must find unchanged."""
        return {**asdict(self), "url": None if self.url is None else str(self.url)}

    def names(self, count: int, inputs: Sequence[Input]) -> list[str]:
        """The names of ``count`` shards."""
        if self.exact:
            return [self._named(self.head)]
        if self.folder:
            return [self._named(self.head + _base_name(source.path)) for source in inputs]
        return [self._named(name) for name in shard_names(self.head + self.tail, count, at=len(self.head))]

    def expected(self, inputs: Sequence[Input]) -> list[str]:
        """The names as far as they are known before the work."""
        if self.max_bytes is None and self.max_records is None:
            return self.names(self.shards or len(inputs), inputs)
        return [self._named(f"{self.head}-?????-of-?????{self.tail}")]

    def others(self, names: Sequence[str]) -> list[str]:
        """Shards of the same name beside these, but of another number, that a glob takes for one dataset."""
        if self.exact or self.folder or self.url is not None:
            return []
        found = glob.iglob(f"{glob.escape(self.head)}-[0-9]*-of-[0-9]*{glob.escape(self.tail)}")
        counts = {shard_number(name) for name in names}
        return sorted(name for name in found if shard_number(name) not in {None, *counts})

    def _named(self, name: str) -> str:
        return name if self.url is None else self.url.like(name, exact=True)


def find_output(out: Any, how: How) -> Output:
    """The output that ``out`` and the keywords name."""
    given = os.fsdecode(out)
    storage = (how["storage_options"], how["filesystem"])
    for_url = is_url(given) or how["filesystem"] is not None
    path = local_path(stored(out, *storage) if for_url else out)
    url = path if isinstance(path, Url) else None
    name = path if url is None else url.address
    shards, max_bytes, max_records = how["shards"], how["max_bytes"], how["max_records"]
    divided = shards is not None or max_bytes is not None or max_records is not None
    if name.endswith(_SEPARATORS) or (url is None and os.path.isdir(name)):
        if divided:
            raise ValueError(f"{printable(str(path))} is a folder; name the shards: {printable(name)}name@*")
        head = name if name.endswith(_SEPARATORS) else name + os.sep
        return Output(head, "", url, None, None, None, folder=True)
    head, tail, counted = split_pattern(name)
    if counted == 0:
        raise ValueError(f"{printable(str(path))} names no shards; say how many there are to be")
    if counted is not None and shards not in (None, counted):
        raise ValueError(f"the name says {counted} shards, the argument {shards}")
    shards = shards if counted is None else counted
    if shards is not None and (max_bytes is not None or max_records is not None):
        raise ValueError("say how many: either shards, or max_bytes and/or max_records for each")
    exact = head == name and not divided
    return Output(head, tail, url, 1 if exact else shards, max_bytes, max_records, exact=exact)


def check_names(names: Sequence[str], inputs: Sequence[Input]) -> None:
    """Raise an error if an output would replace an input, another output or a folder."""
    if len(set(names)) != len(names):
        raise ValueError("two inputs have the same name, so a folder cannot hold both; name shards: name@*")
    for name in names:
        if isinstance(name, Url):
            if any(isinstance(one.path, Url) and same_file(one.path, name) for one in inputs):
                raise ValueError(f"{printable(name)} is read, so it cannot be written; choose another name")
            continue
        if os.path.isdir(name):
            raise IsADirectoryError(errno.EISDIR, "a shard cannot take the place of a folder", name)
        if os.path.exists(name) and any(
            not isinstance(one.path, Url) and os.path.samefile(one.path, name) for one in inputs
        ):
            raise ValueError(f"{printable(name)} is read, so it cannot be written; choose another name")


def in_each(out: Any, names: Sequence[str]) -> list[Any]:
    """The output ``out`` for each of ``names``, which take the place of "{split}" in it."""
    whole = out.address if isinstance(out, Url) else os.fsdecode(out)
    if "{split}" not in whole:
        raise ValueError(
            f"the output must say where the name of the split goes, as in {printable(str(out))}-{{split}}"
        )
    each = [whole.replace("{split}", name) for name in names]
    return [out.like(one) for one in each] if isinstance(out, Url) else each


def _base_name(path: str) -> str:
    if isinstance(path, Url):
        return path.address.removesuffix(path.query).rpartition("/")[2]
    return os.path.basename(path)


def divided(sources: Sequence[Source], output: Output, inputs: int) -> list[tuple[Segment, ...]]:
    """The segments of each shard."""
    total = sum(source.records for source in sources)
    if output.max_bytes is not None:
        cuts = list(_filled(sources, output.max_bytes, output.max_records))
    elif output.max_records is not None:
        cuts = list(range(output.max_records, total, output.max_records))
    else:
        count = output.shards or inputs
        cuts = [number * total // count for number in range(1, count)]
    return _segments(sources, [0, *cuts, total])


def _filled(sources: Sequence[Source], max_bytes: int, max_records: int | None) -> Iterator[int]:
    """The numbers of the records with which new shards begin: when the next one would be too much."""
    before = size = count = 0
    most = max_records or 1 << 62
    for source in sources:
        for lengths in source.lengths():
            ends = np.cumsum(lengths + OVERHEAD)
            begin = 0  # the first record of this batch that is in no shard yet
            while begin < len(ends):
                done = int(ends[begin - 1]) if begin else 0
                fits = int(np.searchsorted(ends, max_bytes - size + done, side="right"))
                fits = min(fits, begin + most - count)
                if fits == begin and not count:
                    fits = begin + 1  # a record that is too large has a shard for itself
                size += (int(ends[fits - 1]) if fits else 0) - done
                count += fits - begin
                if fits < len(ends):
                    yield before + fits
                    size = count = 0
                begin = fits
            before += len(lengths)


def _segments(sources: Sequence[Source], bounds: Sequence[int]) -> list[tuple[Segment, ...]]:
    """The segments between each two neighbours of ``bounds``, which count the records of all sources."""
    shards: list[tuple[Segment, ...]] = []
    number, passed = 0, 0  # the source that comes next, and the records of those before it
    for low, high in pairwise(bounds):
        found, position = [], low
        while position < high:
            source = sources[number]
            begin, end = position - passed, min(high - passed, source.records)
            if begin < end:
                found.append(Segment(source, begin, end))
                position = passed + end
            if end == source.records:
                number, passed = number + 1, passed + source.records
        shards.append(tuple(found))
    return shards
