"""Merge: parts of a batch that took different paths become one column."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from purerecord.payload.columns.merge import ColumnPart, DecodedSingly, DecodedTogether, merge
from purerecord.payload.wire import ABSENT, BYTES, FLOAT, INT64, UNSET, decode_features
from tests.support.column_batches import batch


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def together(rows, kind, values, counts, kinds=None):
    return DecodedTogether(
        ints(*rows),
        {"a": (kind, ColumnPart(kind if kinds is None else np.array(kinds, np.int8), values, counts))},
    )


def test_pieces_are_put_in_the_order_of_their_records():
    one = together([1, 3], INT64, ints(10, 30), 1)
    two = together([0, 2, 4], INT64, ints(1, 2, 3, 4), ints(3, 0, 1))
    part = merge([one, two], "a", INT64, 5)
    assert part.values.tolist() == [1, 2, 3, 10, 30, 4]
    assert part.counts.tolist() == [3, 1, 0, 1, 1]
    assert part.kinds.tolist() == [INT64] * 5


def test_many_rows_in_a_row_are_put_beside_the_odd_one_between_them():
    values = np.arange(1000)
    counts = np.full(99, 10)
    counts[5:7] = 0, 20
    rows = [row for row in range(100) if row != 40]
    part = merge(
        [together(rows, INT64, values[:990], counts), together([40], INT64, values[990:], 10)],
        "a",
        INT64,
        100,
    )
    assert part.values.tolist() == [*range(400), *range(990, 1000), *range(400, 990)]
    assert part.counts.tolist() == [*counts[:40].tolist(), 10, *counts[40:].tolist()]


def test_piece_without_the_feature_or_with_another_kind_adds_no_values():
    one = together([0], INT64, ints(10), 1)
    two = together([1], FLOAT, np.ones(1, np.float32), 1)
    three = DecodedTogether(ints(2), {})
    part = merge([one, two, three], "a", INT64, 3)
    assert part.values.tolist() == [10]
    assert part.kinds.tolist() == [INT64, FLOAT, ABSENT]
    assert merge([three], "a", BYTES, 3).values.dtype == object


def test_first_record_with_a_kind():
    assert together([4, 7], INT64, ints(1), ints(0, 1), [ABSENT, INT64]).first("a") == (7, INT64)
    assert together([4], INT64, ints(), 0, [UNSET]).first("a") is None
    assert together([4], UNSET, ints(), 0).first("a") is None
    assert together([4], INT64, ints(), 0).first("b") is None
    assert DecodedSingly(ints(2, 5), [{}, {"a": (BYTES, [])}]).first("a") == (5, BYTES)


def test_feature_that_no_record_has_is_not_there():
    assert list(together([4], INT64, ints(), 0, [ABSENT]).names()) == []


@pytest.mark.parametrize("seed", range(20))
def test_any_division_of_a_batch_gives_the_same(seed):
    random = Random(seed)
    examples = [decode_features(payload) for payload in batch(random, 30, missing=0.2)]
    names = set().union(*examples)
    whole = DecodedSingly(np.arange(30), examples)
    rows = random.sample(range(30), 30)
    cuts = sorted({0, *random.sample(range(30), 3), 30})
    divided = [
        DecodedSingly(ints(*sorted(rows[low:high])), [examples[row] for row in sorted(rows[low:high])])
        for low, high in pairwise(cuts)
    ]
    for name in names:
        for kind in (BYTES, FLOAT, INT64):
            one, other = merge([whole], name, kind, 30), merge(divided, name, kind, 30)
            assert one.values.dtype == other.values.dtype
            assert (
                one.values.tobytes() == other.values.tobytes() or one.values.tolist() == other.values.tolist()
            )
            assert one.counts.tolist() == other.counts.tolist()
            assert one.kinds.tolist() == other.kinds.tolist()
