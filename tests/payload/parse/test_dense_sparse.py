"""purerecord.payload.parse.dense_sparse: dense arrays, padded items and Sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purerecord
from purerecord.errors import SchemaError
from purerecord.payload.parse.examples import parse_example, parse_single_example
from purerecord.payload.sparse import Sparse
from purerecord.payload.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from tests.support.handmade_messages import UNSET_FEATURE, example, examples_of, floats, ints, strings

INT = FixedLenFeature((), np.int64)


def test_fixed_len_gives_dense_arrays_of_the_batch() -> None:
    payloads = [
        example([("i", ints(k)), ("f", floats(k, k + 0.5)), ("s", strings(b"%d\0" % k))]) for k in range(3)
    ]
    specs = {"i": INT, "f": FixedLenFeature((2, 1), np.float32), "s": FixedLenFeature((1,), bytes)}
    result = parse_example(payloads, specs)
    assert list(result) == ["i", "f", "s"]
    assert result["i"].dtype == np.int64
    assert result["i"].tolist() == [0, 1, 2]
    assert result["f"].dtype == np.float32
    assert result["f"].tolist() == [[[0.0], [0.5]], [[1.0], [1.5]], [[2.0], [2.5]]]
    assert result["s"].dtype == object
    assert result["s"].tolist() == [[b"0\0"], [b"1\0"], [b"2\0"]]


@pytest.mark.parametrize("absent", [None, UNSET_FEATURE])
def test_missing_and_unset_features_get_the_default(absent: bytes | None) -> None:
    result = parse_example(examples_of("a", ints(1, 2), absent), {"a": FixedLenFeature((2,), int, [7, 8])})
    assert result["a"].tolist() == [[1, 2], [7, 8]]
    strings_result = parse_example(examples_of("a", absent, absent), {"a": FixedLenFeature((), str, b"x\0")})
    assert strings_result["a"].tolist() == [b"x\0", b"x\0"]


@pytest.mark.parametrize("default", [None, []])
def test_missing_feature_without_values_is_not_told_to_have_a_default(default: Any) -> None:
    with pytest.raises(SchemaError, match="use RaggedFeature if it may be missing"):
        parse_example([b""], {"a": FixedLenFeature((0,), int, default)})


def test_var_len_gives_a_sparse_of_rows_and_places() -> None:
    result = parse_example(examples_of("a", ints(5, 6), None, ints(7)), {"a": VarLenFeature(int)})["a"]
    assert result == Sparse([[0, 0], [0, 1], [2, 0]], np.array([5, 6, 7]), (3, 2))
    assert result.to_list() == [[5, 6], [], [7]]


def test_var_len_of_equal_lengths_has_the_same_form() -> None:
    result = parse_example(examples_of("a", ints(1, 2), ints(3, 4)), {"a": VarLenFeature(int)})["a"]
    assert result == Sparse([[0, 0], [0, 1], [1, 0], [1, 1]], np.array([1, 2, 3, 4]), (2, 2))


def test_items_are_padded_to_the_longest_with_the_default() -> None:
    spec = FixedLenSequenceFeature((2,), int, allow_missing=True, default_value=-1)
    result = parse_example(examples_of("a", ints(1, 2), None, ints(3, 4, 5, 6)), {"a": spec})["a"]
    assert result.tolist() == [[[1, 2], [-1, -1]], [[-1, -1], [-1, -1]], [[3, 4], [5, 6]]]
    assert parse_example(examples_of("a", None), {"a": spec})["a"].shape == (1, 0, 2)


def test_sparse_feature_sorts_by_index_unless_told_not_to() -> None:
    payloads = [
        example([("x", ints(2, 0)), ("y", ints(1, 1)), ("v", floats(1.0, 2.0))]),
        example([]),
        example([("x", ints(0, 0)), ("y", ints(3, 1)), ("v", floats(3.0, 4.0))]),
    ]
    result = parse_example(payloads, {"s": SparseFeature(["x", "y"], "v", float, [3, 4])})["s"]
    assert result.indices.tolist() == [[0, 0, 1], [0, 2, 1], [2, 0, 1], [2, 0, 3]]
    assert result.values.tolist() == [2.0, 1.0, 4.0, 3.0]
    assert result.dense_shape == (3, 3, 4)
    kept = parse_example(payloads, {"s": SparseFeature("x", "v", float, 3, already_sorted=True)})["s"]
    assert kept.values.tolist() == [1.0, 2.0, 3.0, 4.0]
    alone = parse_single_example(payloads[0], {"s": SparseFeature("x", "v", float, 3)})["s"]
    assert alone.to_dense().tolist() == [2.0, 0.0, 1.0]


def test_sparse_feature_with_fewer_indices_than_values_is_refused() -> None:
    payloads = [
        example([("x", ints(2)), ("v", floats(1.0, 2.0))]),
        example([("x", ints(1, 2)), ("v", floats(3.0))]),
    ]
    with pytest.raises(
        SchemaError, match="feature 's': record 0: 2 values under 'v', but 1 indices under 'x'"
    ):
        parse_example(payloads, {"s": SparseFeature("x", "v", float, 3)})


def test_index_outside_of_a_sparse_feature_names_the_first_value_at_fault() -> None:
    payloads = [
        example([("x", ints(0, 1)), ("y", ints(0, 3)), ("v", floats(1.0, 2.0))]),
        example([("x", ints(2, 1)), ("y", ints(3, 4)), ("v", floats(1.0, 2.0))]),
        example([("x", ints(-1)), ("y", ints(0)), ("v", floats(1.0))]),
    ]
    spec = SparseFeature(["x", "y"], "v", float, [3, 4])
    with pytest.raises(SchemaError, match=r"feature 's': record 1: index 4 under 'y' is not in") as caught:
        parse_example(payloads, {"s": spec})
    error = caught.value
    assert (error.problem, error.record, error.expected, error.found) == ("index", 1, 4, 4)
    with pytest.raises(SchemaError, match=r"feature 's': index -1 under 'x' is not in"):
        parse_single_example(payloads[2], {"s": spec})


def test_the_first_record_at_fault_is_named_whichever_key_of_a_sparse_feature_it_is():
    encode = purerecord.encode_example
    rows = [
        {"v": [1.0], "i": [0], "j": [0]},
        {"v": [1.0], "i": [0], "j": np.zeros(0, np.int64)},
        {"v": [1.0], "i": np.zeros(0, np.int64), "j": [0]},
    ]
    spec = {"s": purerecord.SparseFeature(["i", "j"], "v", float, [4, 4])}
    with pytest.raises(purerecord.SchemaError) as caught:
        purerecord.parse_example([encode(row) for row in rows], spec)
    assert caught.value.record == 1


@pytest.mark.parametrize("size", [0, 2])
def test_batch_without_values_has_the_right_shapes(size: int) -> None:
    specs = {
        "fixed": FixedLenFeature((2,), int, [1, 2]),
        "var": VarLenFeature(float),
        "items": FixedLenSequenceFeature((3,), str, allow_missing=True),
        "ragged": RaggedFeature(str),
        "sparse": SparseFeature("i", "v", int, 9),
    }
    result = parse_example([b""] * size, specs)
    assert result["fixed"].shape == (size, 2)
    assert result["var"].dense_shape == (size, 0)
    assert result["var"].indices.shape == (0, 2)
    assert result["items"].shape == (size, 0, 3)
    assert result["ragged"].shape == (size, None)
    assert result["sparse"].dense_shape == (size, 9)
    dtypes = [result[name].dtype for name in specs]
    assert dtypes == [np.int64, np.float32, object, object, np.int64]
