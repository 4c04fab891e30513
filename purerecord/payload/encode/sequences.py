"""``encode_sequences``: columns and feature lists to serialized SequenceExamples.

The context is encoded as Examples are, all records at once. Steps are encoded one by one. This module does
not know files.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import EncodeError
from ...records import Records
from ..exact_floats import check_exact_column, is_exact
from ..example import checked_name
from ..ragged import Ragged
from ..wire import UNSET, delimited, encode_feature, encode_map
from .cells import as_cells
from .examples import encode_examples

_NO_CONTEXT = b"\x0a\x00"


def encode_sequences(context: Mapping[str, Any], lists: Mapping[str, Ragged], floats: str) -> Records:
    """The serialized SequenceExamples that hold the columns ``context`` and at least one of ``lists``.

    The rows of a list are records, each a Ragged whose rows are steps. A missing row is a record without the
    list, and a missing step one without a type. ``floats`` is that of ``encode_example``.
    """
    encoded = {checked_name(name): _feature_lists(name, column) for name, column in lists.items()}
    if is_exact(floats):
        for name, column in lists.items():
            check_exact_column(column, name)
    count = len(next(iter(encoded.values())))
    contexts = encode_examples(context, floats=floats) if context else [_NO_CONTEXT] * count
    payloads = []
    for row, features in enumerate(contexts):
        entries = {name: found[row] for name, found in encoded.items()}
        present = {name: steps for name, steps in entries.items() if steps is not None}
        sequence = delimited(2, encode_map(present)) if present else b""
        payloads.append((features if features != _NO_CONTEXT else b"") + sequence)
    return Records.of(payloads)


def _feature_lists(name: str, column: Ragged) -> list[bytes | None]:
    """The serialized FeatureList of each row; None where it is missing."""
    try:
        cells = as_cells(name, column.values)
    except EncodeError as error:
        if error.record is not None:  # it counts steps
            error.record = int(np.searchsorted(column.row_splits, error.record, side="right")) - 1
        raise
    ends = np.cumsum(cells.counts).tolist()
    kinds = [cells.kind] * len(ends) if cells.kinds is None else cells.kinds.tolist()
    steps = [
        delimited(1, encode_feature(cells.kind, cells.values[begin:end]) if kind > UNSET else b"")
        for kind, begin, end in zip(kinds, [0, *ends], ends, strict=False)
    ]
    found: list[bytes | None] = [b"".join(steps[a:b]) for a, b in pairwise(column.row_splits.tolist())]
    if column.missing is not None:
        for row in np.flatnonzero(column.missing).tolist():
            found[row] = None
    return found
