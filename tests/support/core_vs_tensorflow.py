"""The core's specs and results compared with TensorFlow's, for the interop tests of parsing."""

from __future__ import annotations

from typing import Any

import numpy as np

import purerecord.payload.specs as prf
from purerecord.payload.ragged import Ragged
from purerecord.payload.sparse import Sparse


def tensorflow_spec(tf: Any, spec: Any) -> Any:
    """TensorFlow's spec that is the same as ``spec``."""
    dtype = {np.int64: tf.int64, np.float32: tf.float32, bytes: tf.string}[spec.dtype]
    if isinstance(spec, prf.FixedLenFeature):
        return tf.io.FixedLenFeature(spec.shape, dtype, spec.default_value)
    if isinstance(spec, prf.VarLenFeature):
        return tf.io.VarLenFeature(dtype)
    if isinstance(spec, prf.FixedLenSequenceFeature):
        return tf.io.FixedLenSequenceFeature(spec.shape, dtype, spec.allow_missing, spec.default_value)
    if isinstance(spec, prf.SparseFeature):
        keys = list(spec.index_key) if isinstance(spec.index_key, tuple) else spec.index_key
        sizes = list(spec.size) if isinstance(spec.size, tuple) else spec.size
        return tf.io.SparseFeature(keys, spec.value_key, dtype, sizes, spec.already_sorted)
    partitions = [
        getattr(tf.io.RaggedFeature, type(p).__name__)(getattr(p, "key", None) or p.length)
        for p in spec.partitions
    ]
    splits = tf.int32 if spec.row_splits_dtype is np.int32 else tf.int64
    return tf.io.RaggedFeature(dtype, spec.value_key, partitions, splits, spec.validate)


def tensorflow_specs(tf: Any, specs: dict[str, Any]) -> dict[str, Any]:
    return {name: tensorflow_spec(tf, spec) for name, spec in specs.items()}


def plain(result: Any) -> Any:
    """A result, ours or TensorFlow's, as plain data that is equal if and only if the results are."""
    if isinstance(result, Ragged) or hasattr(result, "nested_row_splits"):
        splits = [np.asarray(part) for part in result.nested_row_splits]
        return ("ragged", plain(np.asarray(result.flat_values)), [plain(part) for part in splits])
    if isinstance(result, Sparse) or hasattr(result, "dense_shape"):
        shape = [int(size) for size in result.dense_shape]
        return ("sparse", plain(np.asarray(result.indices)), plain(np.asarray(result.values)), shape)
    if hasattr(result, "numpy"):
        result = result.numpy()
    if isinstance(result, bytes):
        return ("scalar", result)
    array = np.asarray(result)
    # The bytes of floats, so that NaN equals itself and -0.0 differs from 0.0.
    values = array.tolist() if array.dtype == object else array.tobytes()
    return (str(array.dtype), array.shape, values)


def outcome(function: Any, errors: Any, *args: Any) -> Any:
    """The result of ``function`` as plain data, or the error that it raises."""
    try:
        result = function(*args)
    except errors as error:
        return error
    parts = result if isinstance(result, tuple) else (result,)
    return [{name: plain(value) for name, value in part.items()} for part in parts]


def difference(ours: Any, theirs: Any) -> str:
    """How the outcomes differ; "" for equal results and for two errors."""
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        both = isinstance(ours, Exception) and isinstance(theirs, Exception)
        return "" if both else f"ours: {ours!r}, theirs: {theirs!r}"
    for one, other in zip(ours, theirs, strict=True):
        if one.keys() != other.keys():
            return f"names: ours {sorted(one)}, theirs {sorted(other)}"
        for name in one:
            if one[name] != other[name]:
                return f"{name}: ours {one[name]}, theirs {other[name]}"
    return ""
