"""purerecord.payload.parse.partitions: partitions divide the values of their example, or are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from purerecord.errors import SchemaError
from purerecord.payload.parse.examples import parse_example, parse_single_example
from purerecord.payload.specs import (
    RaggedFeature,
)
from tests.support.handmade_messages import example, examples_of, ints
from tests.support.spec_cases import KEYED, stored_partition


def test_ragged_gives_rows_and_the_asked_for_splits() -> None:
    payloads = examples_of("v", ints(1, 2), None, ints(3))
    result = parse_example(
        payloads, {"a": RaggedFeature(int, "v"), "b": RaggedFeature(int, "v", (), "int64")}
    )
    assert result["a"].to_list() == [[1, 2], [], [3]]
    assert (result["a"].row_splits.dtype, result["b"].row_splits.dtype) == (np.int32, np.int64)
    assert parse_single_example(payloads[0], {"v": RaggedFeature(int)})["v"].tolist() == [1, 2]


@pytest.mark.parametrize("partition", KEYED)
def test_partition_cuts_the_values_of_each_example(partition: Any) -> None:
    rows = [[[1, 2], [], [3]], [], [[4]]]
    payloads = []
    for example_rows in rows:
        stored = stored_partition(partition("p"), list(map(len, example_rows)))
        values = [value for row in example_rows for value in row]
        payloads.append(example([("v", ints(*values)), ("p", ints(*stored))]))
    specs = {"r": RaggedFeature(int, "v", [partition("p")])}
    assert parse_example(payloads, specs)["r"].to_list() == rows
    assert [parse_single_example(payload, specs)["r"].to_list() for payload in payloads] == rows


def test_last_partition_is_the_innermost() -> None:
    payload = example([("v", ints(*range(6))), ("inner", ints(1, 2, 0, 3)), ("outer", ints(0, 3, 4))])
    partitions = [RaggedFeature.RowSplits("outer"), RaggedFeature.RowLengths("inner")]
    result = parse_example([payload], {"r": RaggedFeature(int, "v", partitions)})["r"]
    assert result.to_list() == [[[[0], [1, 2], []], [[3, 4, 5]]]]
    assert result.shape == (1, None, None, None)


def test_uniform_rows_inside_stay_dense_and_outside_become_ragged() -> None:
    payload = example([("v", ints(*range(8))), ("l", ints(1, 3))])
    uniform = RaggedFeature.UniformRowLength(2)
    inner = parse_example(
        [payload, b""], {"r": RaggedFeature(int, "v", [RaggedFeature.RowLengths("l"), uniform])}
    )
    assert inner["r"].shape == (2, None, None, 2)
    assert inner["r"].to_list() == [[[[0, 1]], [[2, 3], [4, 5], [6, 7]]], []]
    flat = parse_single_example(payload, {"r": RaggedFeature(int, "v", [uniform, uniform])})["r"]
    assert flat.shape == (2, 2, 2)
    payload = example([("v", ints(*range(4))), ("l", ints(1, 3))])
    outer = parse_single_example(
        payload, {"r": RaggedFeature(int, "v", [uniform, RaggedFeature.RowLengths("l")])}
    )
    assert outer["r"].to_list() == [[[0], [1, 2, 3]]]


WRONG_PARTITIONS = [
    (RaggedFeature.RowSplits, [0, 2]),
    (RaggedFeature.RowSplits, [0, 4]),
    (RaggedFeature.RowSplits, [1, 3]),
    (RaggedFeature.RowSplits, [0, 2, 1, 3]),
    (RaggedFeature.RowSplits, []),
    (RaggedFeature.RowLengths, [1, 1]),
    (RaggedFeature.RowLengths, [4, -1]),
    (RaggedFeature.RowLengths, [2**63 - 1, 2**63 - 1, 5]),
    (RaggedFeature.RowLengths, []),
    (RaggedFeature.RowStarts, [1, 2]),
    (RaggedFeature.RowStarts, [0, 4]),
    (RaggedFeature.RowStarts, [0, 2, 1]),
    (RaggedFeature.RowStarts, []),
    (RaggedFeature.RowLimits, [1, 2]),
    (RaggedFeature.RowLimits, [-(2**63), 3]),
    (RaggedFeature.RowLimits, [2, 1, 3]),
    (RaggedFeature.RowLimits, []),
    (RaggedFeature.ValueRowIds, [0, 0]),
    (RaggedFeature.ValueRowIds, [0, 0, 0, 0]),
    (RaggedFeature.ValueRowIds, [1, 0, 1]),
    (RaggedFeature.ValueRowIds, [-1, 0, 1]),
    (RaggedFeature.ValueRowIds, [0, 0, 2**62]),
    (RaggedFeature.ValueRowIds, []),
]


@pytest.mark.parametrize(("partition", "stored"), WRONG_PARTITIONS)
def test_partition_that_does_not_fit_its_example_is_refused(partition: Any, stored: list[int]) -> None:
    good = example([])
    wrong = example([("v", ints(1, 2, 3)), ("p", ints(*stored))])
    specs = {"r": RaggedFeature(int, "v", [partition("p")])}
    for payloads, record in (([good, wrong, good], 1), ([wrong], 0), ([wrong, wrong], 0)):
        with pytest.raises(
            SchemaError, match=f"feature 'r': record {record}: the {partition.__name__} under 'p'"
        ):
            parse_example(payloads, specs)


def test_empty_rows_of_many_examples_together_are_bounded_too() -> None:
    payload = example([("v", ints(1)), ("p", ints(2**22))])
    specs = {"r": RaggedFeature(int, "v", [RaggedFeature.ValueRowIds("p")])}
    assert len(parse_single_example(payload, specs)["r"]) == 2**22 + 1
    with pytest.raises(SchemaError, match="record 5"):
        parse_example([b""] + [payload] * 9, specs)
