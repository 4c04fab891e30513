"""``diff``: in which records two datasets differ, whatever their files.

Records are compared by digests, of which about 60 bytes of memory are needed for each record of both. This
module must not know how records are printed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ... import public
from ...bytes_column import Offsets
from ...container.frames import OVERHEAD
from ...errors import DecodeError
from ...payload.wire import decode_features
from ...printable import printable
from ...processes.pool import Progress, no_progress
from ...recovery.report import counted
from ...storage.url import stored_some
from .inputs import Input, find_inputs
from .record_keys import Keys, payload_digests

# Places that a report lists of each kind.
MOST_LISTED = 100
_LISTED_IN_TEXT = 5


@public
class RecordPlace(NamedTuple):
    """A record: its number, from 0, in a file."""

    path: str
    record: int

    def __str__(self) -> str:
        return printable(f"{self.path}: record {self.record}")


@public
@dataclass(frozen=True)
class Change:
    """Two records at the same place that differ, in these ``features``; None if they are no Examples."""

    left: RecordPlace
    right: RecordPlace
    features: tuple[str, ...] | None

    def __str__(self) -> str:
        where = f"{self.left} and {self.right}"
        if self.features is None:
            return f"{where}: they are no Examples"
        if not self.features:
            return f"{where}: the same features, written in another way"
        return f"{where}: {printable(', '.join(self.features))}"


@public
@dataclass(frozen=True)
class Difference:
    """In which records two datasets differ.

    ``left`` and ``right`` are the numbers of their records. ``only_left`` and ``only_right`` count records
    that the other has not, ``changed`` those that differ from the one at the same place, and ``moved`` the
    fewest records that must move to give both the same order. The lists name the first 100 of each.
    """

    left: int
    right: int
    only_left: int = 0
    only_right: int = 0
    changed: int = 0
    moved: int = 0
    left_places: tuple[RecordPlace, ...] = ()
    right_places: tuple[RecordPlace, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def same(self) -> bool:
        """Whether both have the same records in the same order."""
        return not (self.only_left or self.only_right or self.changed or self.moved)

    def to_dict(self) -> dict[str, Any]:
        """The report in types that JSON has."""
        return {
            "same": self.same,
            "left": self.left,
            "right": self.right,
            "only_left": self.only_left,
            "only_right": self.only_right,
            "changed": self.changed,
            "moved": self.moved,
            "left_places": [place._asdict() for place in self.left_places],
            "right_places": [place._asdict() for place in self.right_places],
            "changes": [
                {"left": one.left._asdict(), "right": one.right._asdict(), "features": one.features}
                for one in self.changes
            ],
        }

    def __str__(self) -> str:
        if self.same:
            return f"{counted(self.left, 'record')}, the same in the same order"
        lines = [f"{counted(self.left, 'record')} on the left, {self.right:,} on the right"]
        for number, what, some in (
            (self.only_left, "only on the left", self.left_places),
            (self.only_right, "only on the right", self.right_places),
            (self.changed, "changed", self.changes),
        ):
            if number:
                lines.append(f"{counted(number, 'record')} {what}")
                lines += [f"  {one}" for one in some[:_LISTED_IN_TEXT]]
                lines += [f"  and {number - _LISTED_IN_TEXT:,} more"] * (number > _LISTED_IN_TEXT)
        if self.moved:
            lines.append(f"{counted(self.moved, 'record')} moved")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from ...notebook import show_facts  # noqa: PLC0415 - only a notebook asks for it

        listed = {
            name: list(map(str, some))
            for name, some in (
                ("left_places", self.left_places),
                ("right_places", self.right_places),
                ("changes", self.changes),
            )
        }
        return show_facts(self, {**self.to_dict(), **listed})


@public
def diff(
    left: Any,
    right: Any,
    *,
    compression: Any = "auto",
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Difference:
    """Compare the records of two datasets, in their order; how they lie in files makes no difference.

    >>> diff("train@10.tfrecord", "new/train@100.tfrecord").same
    True
    """
    both = stored_some([left, right], storage_options, filesystem)
    sides = [_Side(find_inputs(paths, compression, "raise")) for paths in both]
    for side in sides:
        side.read(progress or no_progress)
    one, other = _matched(sides[0].digests, sides[1].digests)
    only = [
        np.setdiff1d(np.arange(len(side.digests)), pairs)
        for side, pairs in zip(sides, (one, other), strict=True)
    ]
    changed = _same_places(only, one, other)
    left_only, right_only = (np.setdiff1d(some, pairs) for some, pairs in zip(only, changed, strict=True))
    payloads = [side.payloads(places[:MOST_LISTED]) for side, places in zip(sides, changed, strict=True)]
    places = [side.places(places[:MOST_LISTED]) for side, places in zip(sides, changed, strict=True)]
    return Difference(
        len(sides[0].digests),
        len(sides[1].digests),
        len(left_only),
        len(right_only),
        len(changed[0]),
        len(one) - _longest_increasing(other),
        tuple(sides[0].places(left_only[:MOST_LISTED])),
        tuple(sides[1].places(right_only[:MOST_LISTED])),
        tuple(
            Change(here, there, features_of(one_payload, other_payload))
            for here, there, one_payload, other_payload in zip(*places, *payloads, strict=True)
        ),
    )


class _Side:
    """The digests of all records of one dataset."""

    def __init__(self, inputs: Sequence[Input]) -> None:
        self._inputs = inputs
        self._counts: list[int] = []
        self.digests: Keys = np.empty((0, 2), np.uint64)

    def read(self, progress: Progress) -> None:
        """Read all records."""
        found = [self.digests]
        for source in self._inputs:
            with closing(source.batches()) as reading:
                for batch in reading:
                    found.append(payload_digests(batch))
                    progress(batch.nbytes + OVERHEAD * len(batch), len(batch))
                self._counts.append(reading.records)
        self.digests = np.concatenate(found)

    def places(self, numbers: Offsets) -> list[RecordPlace]:
        """The files in which some records are, and their numbers there."""
        firsts = np.cumsum([0, *self._counts])
        files = np.searchsorted(firsts, numbers, side="right") - 1
        pairs = zip(files.tolist(), (numbers - firsts[files]).tolist(), strict=True)
        return [RecordPlace(str(self._inputs[file].path), record) for file, record in pairs]

    def payloads(self, numbers: Offsets) -> list[bytes]:
        """The payloads of a few records, in the order of ``numbers``."""
        found: dict[int, bytes] = {}
        firsts = np.cumsum([0, *self._counts]).tolist()
        for source, first, after in zip(self._inputs, firsts, firsts[1:], strict=False):
            wanted = np.sort(numbers[(numbers >= first) & (numbers < after)])
            if not len(wanted):
                continue
            with closing(source.batches()) as reading:
                for batch in reading:
                    begin = first + reading.records - len(batch)
                    for number in wanted[(wanted >= begin) & (wanted < begin + len(batch))].tolist():
                        found[number] = batch[number - begin]
                    if begin + len(batch) > wanted[-1]:
                        break
        return [found[number] for number in numbers.tolist()]


def _matched(left: Keys, right: Keys) -> tuple[Offsets, Offsets]:
    """The numbers of the records that both have, in the order of the left: the first of equal ones with the
    first, and so on."""
    both = np.ascontiguousarray(np.concatenate([left, right])).view("V16")[:, 0]
    _, same = np.unique(both, return_inverse=True)
    keys = []
    for numbers in (same[: len(left)], same[len(left) :]):
        order = np.argsort(numbers, kind="stable")
        begins = np.flatnonzero(np.append(True, numbers[order][1:] != numbers[order][:-1]))[: len(order)]
        ranks = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
        key = np.empty(len(order), np.int64)
        key[order] = numbers[order] + ranks * len(both)
        keys.append(key)
    _, one, other = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    order = np.argsort(one)
    return one[order], other[order]


def _same_places(only: Sequence[Offsets], one: Offsets, other: Offsets) -> tuple[Offsets, Offsets]:
    """Pairs of records that only one side has, at the same distance behind the same record of both."""
    by_right = np.argsort(other)
    found: list[dict[tuple[int, int], int]] = []
    for numbers, common, which in ((only[0], one, None), (only[1], other[by_right], by_right)):
        before = np.searchsorted(common, numbers) - 1
        starts = np.append(common, -1)[before]  # the last element stands for the beginning
        anchors = before if which is None else np.append(which, -1)[before]
        keys = zip(anchors.tolist(), (numbers - starts).tolist(), strict=True)
        found.append(dict(zip(keys, numbers.tolist(), strict=True)))
    pairs = [(found[0][key], found[1][key]) for key in found[0] if key in found[1]]
    both = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _longest_increasing(numbers: Offsets) -> int:
    """How many of the numbers, at most, are in increasing order."""
    if bool((np.diff(numbers) > 0).all()):
        return len(numbers)
    tails: list[int] = []
    for number in numbers.tolist():
        place = bisect_left(tails, number)
        tails[place : place + 1] = [number]
    return len(tails)


def features_of(left: bytes, right: bytes) -> tuple[str, ...] | None:
    """The features in which two Examples differ."""
    try:
        one, other = decode_features(left), decode_features(right)
    except DecodeError:
        return None
    return tuple(
        sorted(name for name in one.keys() | other.keys() if _plain(one, name) != _plain(other, name))
    )


def _plain(features: Mapping[str, Any], name: str) -> Any:
    if name not in features:
        return None
    kind, values = features[name]
    return kind, values.tobytes() if isinstance(values, np.ndarray) else values
