"""purerecord.payload.specs: specs are checked, frozen and comparable, and their repr is code."""

from __future__ import annotations

import copy
import pickle
from collections import namedtuple
from dataclasses import FrozenInstanceError
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import purerecord.payload.specs
from purerecord.payload.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
    as_features,
)

SPECS = [
    FixedLenFeature((), np.int64),
    FixedLenFeature((2, 3), np.float32, [[1, 2, 3], [4, 5, 6]]),
    FixedLenFeature((2,), bytes, ["a", b"b\0"]),
    VarLenFeature(np.float32),
    FixedLenSequenceFeature((2,), np.int64, allow_missing=True, default_value=-1),
    RaggedFeature(bytes),
    RaggedFeature(
        np.int64,
        "values",
        [
            RaggedFeature.RowSplits("a"),
            RaggedFeature.RowLengths("b"),
            RaggedFeature.RowStarts("c"),
            RaggedFeature.RowLimits("d"),
            RaggedFeature.ValueRowIds("e"),
            RaggedFeature.UniformRowLength(2),
        ],
        np.int64,
        validate=True,
    ),
    SparseFeature("i", "v", np.float32, 10),
    SparseFeature(["x", "y"], "v", bytes, [10, 20], already_sorted=True),
]


@pytest.mark.parametrize("given", [np.int32, np.float64, "uint8", bool, np.dtype(">i8"), None])
def test_dtype_that_no_example_can_hold_is_a_value_error(given: Any) -> None:
    with pytest.raises(ValueError, match="int64, float32 or bytes"):
        VarLenFeature(given)


@pytest.mark.parametrize("given", ["no such thing", 3.5, [], {}])
def test_what_is_no_dtype_at_all_is_a_type_error(given: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        FixedLenFeature((), given)


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        ([], ()),
        ((2, 3), (2, 3)),
        (4, (4,)),
        (np.array([2, 3]), (2, 3)),
        ([np.int32(5)], (5,)),
        ([0], (0,)),
        (SimpleNamespace(as_list=lambda: [2, 3]), (2, 3)),  # a tf.TensorShape
        ([SimpleNamespace(value=7)], (7,)),  # with a tf.compat.v1.Dimension
    ],
)
def test_shape_becomes_a_tuple_of_ints(given: Any, shape: Any) -> None:
    assert FixedLenFeature(given, "int64").shape == shape


@pytest.mark.parametrize(
    ("shape", "error", "match"),
    [
        (None, ValueError, "missing"),
        ([None], ValueError, "FixedLenSequenceFeature"),
        ([2, None], ValueError, "must be known"),
        ([-1], ValueError, "negative"),
        ([1.5], TypeError, "float"),
        ("ab", TypeError, "sequence of lengths"),
        (np.int64, TypeError, "sequence of lengths"),
        (1.5, TypeError, "sequence of lengths"),
    ],
)
def test_bad_shape_is_refused_when_the_spec_is_made(shape: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        FixedLenFeature(shape, "int64")


def test_items_of_a_sequence_need_a_shape_that_holds_values() -> None:
    with pytest.raises(TypeError, match="sequence of lengths"):
        FixedLenSequenceFeature(2, "int64")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be positive"):
        FixedLenSequenceFeature((2, 0), "int64")


@pytest.mark.parametrize(
    ("shape", "dtype", "default", "kept"),
    [
        ((), "int64", 7, 7),
        ((), "int64", [[7]], 7),
        ((1,), "int64", 7, (7,)),
        ((2, 1), "int64", [1, 2], ((1,), (2,))),
        ((2,), "int64", np.array([1, 2], np.int32), (1, 2)),
        ((), "float32", 7, 7.0),
        ((), "float32", 0.1, float(np.float32(0.1))),
        ((), "float32", 2**24, 2.0**24),
        ((2,), "float32", [np.inf, -np.inf], (np.inf, -np.inf)),
        ((), "float32", np.float64(16777217.0), 2.0**24),
        ((), "string", "é", "é".encode()),
        ((2,), "string", [b"a\0", "b"], (b"a\0", b"b")),
        ((0,), "int64", [], ()),
        ((), "int64", 2**63 - 1, 2**63 - 1),
    ],
)
def test_default_is_converted_and_reshaped(shape: Any, dtype: Any, default: Any, kept: Any) -> None:
    assert FixedLenFeature(shape, dtype, default).default_value == kept


@pytest.mark.parametrize(
    ("shape", "dtype", "default", "error"),
    [
        ((2,), "int64", 7, ValueError),  # not broadcast
        ((), "int64", [1, 2], ValueError),
        ((), "int64", 7.5, TypeError),
        ((), "int64", True, TypeError),
        ((), "int64", "7", TypeError),
        ((), "int64", 2**63, TypeError),
        ((), "float32", "x", TypeError),
        ((), "string", 7, TypeError),
        ((), "string", "\ud800", ValueError),
        ((), "float32", 1e39, ValueError),
        ((), "float32", np.float64(-1e39), ValueError),
        ((), "float32", 10**400, ValueError),
        ((), "float32", 2**24 + 1, ValueError),
        ((2,), "float32", [0.5, np.int64(2**63 - 1)], ValueError),
        ((10**30, 0), "int64", [], ValueError),
        ((), "string", None, None),
    ],
)
def test_default_that_does_not_fit_is_refused(shape: Any, dtype: Any, default: Any, error: Any) -> None:
    if error is None:
        assert FixedLenFeature(shape, dtype, default).default is None
        return
    with pytest.raises(error):
        FixedLenFeature(shape, dtype, default)


def test_default_without_elements_is_no_default() -> None:
    assert FixedLenFeature((0,), "int64", []).default is None


def test_padding_has_one_element() -> None:
    spec = FixedLenSequenceFeature((2,), "int64", default_value=[[5]])
    assert spec.default_value == 5
    with pytest.raises(ValueError, match="2 elements"):
        FixedLenSequenceFeature((2,), "int64", default_value=[1, 2])


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"value_key": 5}, ValueError),
        ({"value_key": ""}, ValueError),
        ({"row_splits_dtype": np.float32}, ValueError),
        ({"row_splits_dtype": None}, ValueError),
        ({"partitions": RaggedFeature.RowSplits("a")}, TypeError),
        ({"partitions": ["a"]}, TypeError),
        ({"partitions": None}, TypeError),
        ({"validate": 1}, TypeError),
    ],
)
def test_ragged_feature_checks_its_arguments(arguments: dict[str, Any], error: Any) -> None:
    with pytest.raises(error):
        RaggedFeature("int64", **arguments)


@pytest.mark.parametrize("length", [0, -1])
def test_uniform_row_length_is_positive(length: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        RaggedFeature.UniformRowLength(length)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("i", "v", "int64", [1]), TypeError),
        ((["i"], "v", "int64", 1), TypeError),
        ((["i"], "v", "int64", [1, 2]), ValueError),
        (("", "v", "int64", 1), ValueError),
        (([], "v", "int64", []), ValueError),
        (("i", None, "int64", 1), ValueError),
        (("i", "v", None, 1), ValueError),
        (("i", "v", "int64", -1), ValueError),
        (("i", "v", "int64", "x"), TypeError),
        (([1], "v", "int64", [1]), TypeError),
    ],
)
def test_sparse_feature_checks_its_arguments(arguments: Any, error: Any) -> None:
    with pytest.raises(error):
        SparseFeature(*arguments)


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_spec_is_frozen_comparable_hashable_and_travels(spec: Any) -> None:
    assert pickle.loads(pickle.dumps(spec)) == spec == copy.deepcopy(spec)
    assert hash(spec) == hash(pickle.loads(pickle.dumps(spec)))
    with pytest.raises(FrozenInstanceError):
        spec.dtype = bytes


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_repr_can_be_pasted_into_code(spec: Any) -> None:
    assert eval(repr(spec), vars(purerecord.payload.specs)) == spec


def test_repr_leaves_out_what_has_its_default() -> None:
    assert repr(FixedLenFeature([], int)) == "FixedLenFeature(shape=(), dtype='int64')"


def test_specs_that_look_like_tensorflows_are_taken_over() -> None:
    # TensorFlow's specs are named tuples with the same names and fields.
    fixed = namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])
    ragged = namedtuple("RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"])
    lengths = namedtuple("RowLengths", ["key"])
    given = {"a": fixed([2], "int64", None), "b": ragged("string", None, (lengths("l"),), "int32", False)}
    assert as_features(given) == {
        "a": FixedLenFeature((2,), "int64"),
        "b": RaggedFeature("string", partitions=[RaggedFeature.RowLengths("l")]),
    }


@pytest.mark.parametrize(
    ("features", "error", "match"),
    [
        ({"a": 5}, ValueError, "Unsupported int 5 for key 'a'"),
        ({"a": FixedLenFeature}, ValueError, "Unsupported type"),
        ({"a": bytes}, ValueError, 'or the name of a dtype: "int64", "float32", "bytes"'),
        ({b"a": VarLenFeature(int)}, TypeError, "must be a str"),
        ([("a", VarLenFeature(int))], TypeError, "mapping"),
    ],
)
def test_what_is_not_a_spec_is_refused_with_its_name(features: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        as_features(features)


def test_spec_that_is_not_allowed_here_is_refused() -> None:
    with pytest.raises(ValueError, match="Unsupported SparseFeature"):
        as_features({"a": SPECS[-1]}, ("VarLenFeature",))
