"""The feature specs of ``tf.io``."""

from __future__ import annotations

import numpy as np

import purerecord as pr
from purerecord import tf
from purerecord.tf.io.specs import core_specs

A = pr.encode_example({"a": [1, 2], "s": "text", "f": 0.5})


def test_core_specs_serve_as_well() -> None:
    parsed = tf.io.parse_single_example(A, {"a": pr.FixedLenFeature([2], np.int64)})
    assert parsed["a"].numpy().tolist() == [1, 2]


def test_specs_are_named_tuples_and_converted_once() -> None:
    spec = tf.io.FixedLenFeature([2], "int64", [1, 2])
    assert spec._replace(shape=[1, 2]).shape == [1, 2]
    assert tuple(spec) == ([2], "int64", [1, 2])
    made = core_specs({"a": spec})["a"]
    assert made is core_specs({"b": spec})["b"]
    assert made == pr.FixedLenFeature([2], np.int64, [1, 2])
