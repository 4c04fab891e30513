"""``of_one_kind``: columns in which every feature has one kind, whatever the records hold.

A feature may hold integers in one record and strings in the next. Then the records are divided, so that
whoever computes with columns has no such case. This module must not know what the columns are for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..payload.columns.gather import Column, gather
from ..payload.wire import UNSET
from ..records import Records


class _Everything:
    def __contains__(self, name: object) -> bool:
        return True


def of_one_kind(
    records: Records, names: Sequence[str]
) -> Iterator[tuple[npt.NDArray[np.int64], Records, dict[str, Column]]]:
    """The rows of some records, these records, and the columns ``names`` of them; all records together."""
    columns = gather(records, dict.fromkeys(names), in_place=_Everything())
    kinds: list[Any] = [
        np.where(column.kinds > UNSET, column.kinds, column.kind)
        for column in columns.values()
        if column.kinds is not None and column.kind != UNSET
    ]
    if not any(bool((kind != kind[0]).any()) for kind in kinds):
        yield np.arange(len(records)), records, columns
        return
    different, which = np.unique(np.stack(kinds, axis=1), axis=0, return_inverse=True)
    for number in range(len(different)):
        rows = np.flatnonzero(which.reshape(-1) == number)
        some = records.take(rows)
        yield rows, some, gather(some, dict.fromkeys(names), in_place=_Everything())
