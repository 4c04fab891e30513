"""purerecord.payload.encode.sequences: the bytes are those of ``encode_sequence_example`` for each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purerecord as pr
from purerecord.payload.encode.sequences import encode_sequences
from purerecord.payload.ragged import Ragged


def feature_list(rows: list[Any], dtype: Any = np.int64) -> Ragged:
    """A column of feature lists. None is a record without the list, and a step without a type."""
    steps = [step for row in rows for step in row or []]
    inner = Ragged.from_rows([step or [] for step in steps], dtype)
    inner = Ragged(inner.values, inner.row_splits, [s is None for s in steps], [s is None for s in steps])
    splits = np.cumsum([0, *(len(row or []) for row in rows)])
    return Ragged(inner, splits, [row is None for row in rows])


LISTS: dict[str, tuple[list[Any], Any]] = {
    "words": ([[[b"a", b"b"], None], [], None, [[]]], bytes),
    "marks": ([[[1], [-1, 300]], None, [None], []], np.int64),
    "times": ([[[0.5]] * 3, [[]], None, None], np.float32),
}


def test_rows_are_those_of_encode_sequence_example() -> None:
    context = {"id": np.arange(4), "name": ["a", None, "b", []]}
    made = encode_sequences(context, {name: feature_list(*made) for name, made in LISTS.items()}, "round")
    for i, payload in enumerate(made):
        own = {name: column[i] for name, column in context.items() if column[i] is not None}
        lists: dict[str, Any] = {}
        for name, (rows, dtype) in LISTS.items():
            if rows[i] is not None:
                empty = np.empty(0, object if dtype is bytes else dtype)
                lists[name] = [[] if step is None else step or empty for step in rows[i]]
        assert payload == pr.encode_sequence_example(own, lists)


def test_without_a_context_there_is_none() -> None:
    made = encode_sequences({}, {"marks": feature_list([[[1]], None])}, "round")
    assert list(made) == [pr.encode_sequence_example({}, {"marks": [[1]]}), b""]


def test_errors_name_the_list_and_the_record() -> None:
    big = Ragged(Ragged(np.array([1, 2**63], np.uint64), [0, 1, 1, 2]), [0, 1, 3])
    with pytest.raises(pr.EncodeError, match=r"'x': record 1: .*64 bits"):
        encode_sequences({}, {"x": big}, "round")
    odd = feature_list([[[0.5]], [[0.25], [0.1]]], np.float64)
    with pytest.raises(pr.EncodeError, match=r"'x': record 1: .*exactly"):
        encode_sequences({}, {"x": odd}, "exact")
