"""``split``: train, val and test, at random, each record in exactly one of them.

Where a record goes follows from the seed and from what it holds, or from the value of one feature; from
nothing else. This module must not know how parts are written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import public
from ...errors import SchemaError
from ...printable import printable
from ...records import Records
from .engine import Rewrite
from .how import How
from .inputs import Input
from .outputs import in_each
from .record_keys import NO_VALUE, Keys, feature_digests, part_bounds, payload_digests, random_keys
from .report import Rewritten
from .strata import NoteClasses, cuts_of
from .work_folder import WorkFolder

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NAME = re.compile(r"\w[\w.-]*")


@public
def split(
    paths: Any,
    out: Any,
    splits: Mapping[str, float],
    *,
    seed: int = 0,
    by: str | None = None,
    stratify: str | None = None,
    **how: Unpack[How],
) -> Rewritten:
    """Divide the records at random among ``splits``, such as ``{"train": 0.8, "val": 0.2}``.

    ``out`` has "{split}" where the name of the split goes. Where a record goes follows from the ``seed`` and
    its bytes: it stays there when others are added, or when the files are divided anew, and equal records
    stay together. With ``by``, it follows from the value of that feature: all records of one user, say, are
    in the same split. The shares are then as exact as chance is. With ``stratify``, they are exact to
    within one record for each value of that feature, but an added record may move others. As a group may
    have several of these values, ``by`` and ``stratify`` exclude each other. The records
    keep their order. The keywords are those of ``purerecord.tools.How``; a number of shards is that of each
    split.

    >>> split("all@10.tfrecord", "new/{split}@4.tfrecord", {"train": 0.8, "val": 0.2}, stratify="label")
    """
    for name, share in splits.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"{printable(repr(name))} cannot be the name of a split")
        if not 0 < share <= 1:
            raise ValueError(f"the share of {name} must be more than 0 and at most 1, not {share}")
    if not math.isclose(math.fsum(splits.values()), 1, rel_tol=1e-6):
        raise ValueError(f"the shares must add up to 1, not to {math.fsum(splits.values()):g}")
    if by is not None and stratify is not None:
        raise ValueError(
            "by and stratify exclude each other: exact shares of each class would divide a group"
        )
    keyed = KeyOf(seed, by, stratify)
    parameters = {"splits": dict(splits), "seed": seed, "by": by, "stratify": stratify}
    run = Rewrite("split", paths, in_each(out, list(splits)), parameters, how)
    if run.dry_run:
        return run.would()
    shares = list(splits.values())
    with run:
        classes, cuts = np.zeros(1, np.uint64), np.array([part_bounds(shares)], np.uint64)
        if stratify is not None:
            tasks = [NoteClasses(source, keyed) for source in run.inputs]
            found = zip(tasks, run.run(tasks), strict=True)
            runs = [one for task, result in found for one in task.runs(run.folder, result)]
            classes, cuts = cuts_of(runs, list(accumulate(shares))[:-1])
            if classes.tolist() == [0]:
                raise SchemaError(NO_VALUE, feature=stratify)
        tasks_done = run.map(Divide(keyed, classes, cuts))
        for part, name in enumerate(splits):
            run.facts[f"{name}"] = sum(result["parts"][part]["records"] for result in run.results)
        return run.write_mapped(tasks_done)


@dataclass(frozen=True)
class KeyOf:
    """The key of a record, by which it goes to a split, and its class."""

    seed: int
    by: str | None
    stratify: str | None

    def keys(self, records: Records) -> Keys:
        """Random numbers that follow from the value of the feature, or from all bytes."""
        if self.by is None:
            return random_keys(payload_digests(records)[:, 0].copy(), self.seed)
        digests, known = feature_digests(records, [self.by])
        if not known.all():
            row = int((~known).argmax())
            error = SchemaError("it has no value, so it does not say where the record goes", feature=self.by)
            error.path, error.record, _ = records.origin(row)
            raise error
        return random_keys(digests[:, 0].copy(), self.seed)

    def classes(self, records: Records) -> Keys:
        """A number for each value of the feature; 0 for no value."""
        if self.stratify is None:
            return np.zeros(len(records), np.uint64)
        digests, known = feature_digests(records, [self.stratify])
        return np.where(known, digests[:, 0], np.uint64(0))


@dataclass(frozen=True)
class Divide:
    """The transform that gives each record to the part that its key says, in its class."""

    keyed: KeyOf
    classes: Keys
    cuts: Keys  # for each class, where the parts but the last end

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return int(self.cuts.shape[1]) + 1

    def begin(self, source: Input, folder: WorkFolder) -> _Dividing:
        """Begin with a file."""
        return _Dividing(self)


class _Dividing:
    def __init__(self, divide: Divide) -> None:
        self._divide = divide
        self.facts: dict[str, Any] = {}

    def apply(self, records: Records, first: int) -> Sequence[Records]:
        divide = self._divide
        rows = np.searchsorted(divide.classes, divide.keyed.classes(records))
        part = (divide.keyed.keys(records)[:, np.newaxis] >= divide.cuts[rows]).sum(axis=1)
        return [records.take(part == number) for number in range(divide.parts)]
