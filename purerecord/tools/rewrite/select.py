"""``select``: some of the records, with some of their features.

This module must not know how an expression is evaluated, nor how a feature is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ... import public
from ...errors import SchemaError
from ...payload.columns.block_decoder import decode_row
from ...payload.columns.gather import gather
from ...payload.recognize import check_example
from ...printable import printable
from ...records import Records
from ..expression import Expression
from .engine import Rewrite
from .feature_edit import FeatureEdit
from .how import How
from .inputs import Input
from .report import Rewritten
from .work_folder import WorkFolder

if TYPE_CHECKING:
    from typing_extensions import Unpack


@public
def select(
    paths: Any,
    out: Any,
    *,
    where: str | Expression | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    rename: Mapping[str, str] | None = None,
    **how: Unpack[How],
) -> Rewritten:
    """Write the records for which ``where`` holds, with the features that are named, to ``out``.

    ``where`` is an ``Expression``, of the features as they are in the input. ``features`` are those to keep,
    without it all; ``drop`` those to leave out; ``rename`` maps old names to new ones. With ``where`` alone,
    payloads keep their bytes. Otherwise the features that remain keep theirs, in their order, and so does all
    that is no feature; what is missing in a record stays missing. A name that no record has is an error. The
    keywords are those of ``purerecord.tools.How``.

    >>> select("train@10.tfrecord", "cats@*.tfrecord", where="label == 7", drop=["image/encoded"])
    """
    condition = Expression(where) if isinstance(where, str) else where
    rename = dict(rename or {})
    for names in (features, drop):
        if isinstance(names, str):
            raise TypeError(f"features are named in a list, such as [{names!r}]")
    keep = None if features is None else tuple(features)
    _check(keep, tuple(drop), rename)
    if condition is None and keep is None and not drop and not rename:
        raise ValueError("say what to select: where, features, drop or rename")
    transform = SelectRecords(condition, keep, tuple(drop), tuple(rename.items()))
    parameters = {
        "where": None if condition is None else condition.text,
        "features": keep,
        "drop": tuple(drop),
        "rename": rename,
    }
    run = Rewrite("select", paths, out, parameters, how)
    if run.dry_run:
        return run.would()
    with run:
        tasks = run.map(transform)
        if run.read:
            transform.check_seen([result["facts"]["missing"] for result in run.results])
        return run.write_mapped(tasks)


def _check(keep: tuple[str, ...] | None, drop: tuple[str, ...], rename: Mapping[str, str]) -> None:
    for old in rename:
        if old in drop or (keep is not None and old not in keep):
            raise ValueError(f"{printable(repr(old))} is renamed, but not kept")
    if len(set(rename.values())) != len(rename):
        raise ValueError("two features are renamed to the same name")
    if keep is not None and (both := set(keep) & set(drop)):
        raise ValueError(f"{printable(repr(min(both)))} is kept and dropped")


@dataclass(frozen=True)
class SelectRecords:
    """The transform of ``select``."""

    where: Expression | None
    features: tuple[str, ...] | None
    drop: tuple[str, ...]
    rename: tuple[tuple[str, str], ...]

    parts = 1

    def begin(self, source: Input, folder: WorkFolder) -> _Selecting:
        """Begin with a file."""
        return _Selecting(self)

    @property
    def edits(self) -> bool:
        """Whether payloads change."""
        return self.features is not None or bool(self.drop or self.rename)

    def named(self) -> set[str]:
        """The names of features in the arguments."""
        return {*(self.features or ()), *self.drop, *(old for old, _ in self.rename)}

    def check_seen(self, missing: Sequence[Sequence[str]]) -> None:
        """Raise a SchemaError for a name that no file has; ``missing`` are those of each file."""
        never = set(missing[0]).intersection(*missing[1:])
        if never:
            raise SchemaError("no record has this feature; is the name right?", feature=min(never))


class _Selecting:
    def __init__(self, select: SelectRecords) -> None:
        self._where = select.where
        self._edit = None
        if select.edits:
            self._edit = FeatureEdit(
                None if select.features is None else {name.encode() for name in select.features},
                {name.encode() for name in select.drop},
                {old.encode(): new.encode() for old, new in select.rename},
            )
        self._unseen = set(select.where.needed) if select.where is not None else set()
        self._named = select.named()
        self._first = True

    @property
    def facts(self) -> dict[str, Any]:
        """The names that no record of this file has."""
        seen = set() if self._edit is None else {name.decode(errors="replace") for name in self._edit.seen}
        return {"missing": sorted((self._unseen | self._named) - seen)}

    def apply(self, records: Records, first: int) -> Sequence[Records]:
        if self._unseen:
            columns = gather(records, dict.fromkeys(self._unseen))
            self._unseen = {name for name, column in columns.items() if column.is_absent}
        if self._edit is not None and self._first and len(records):
            decode_row(records, 0, check_example)
            self._first = False
        if self._where is not None:
            chosen = self._where.matches(records)
            if self._edit is not None:
                self._note_names(records, chosen)
            records = records.take(chosen)
        if self._edit is None:
            return (records,)
        return (Records.of([self._edited(records, row) for row in range(len(records))]),)

    def _note_names(self, records: Records, chosen: Any) -> None:
        """A name is right if a record has it that is not chosen."""
        assert self._edit is not None
        left = self._named - {name.decode(errors="replace") for name in self._edit.seen}
        if left and not chosen.all():
            columns = gather(records, dict.fromkeys(left))
            self._edit.seen |= {name.encode() for name, column in columns.items() if not column.is_absent}

    def _edited(self, records: Records, row: int) -> bytes:
        assert self._edit is not None
        try:
            return decode_row(records, row, self._edit)
        except SchemaError as error:
            error.path, error.record, _ = records.origin(row)
            raise
