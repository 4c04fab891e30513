"""The feature specs of ``tf.io``: named tuples, as in TensorFlow, that are checked when they are used.

A spec here only stores its arguments. ``core_specs`` converts a dictionary of them to the core's specs and
raises TensorFlow's errors for wrong ones. This module knows no messages.
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Mapping
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from ... import public
from ...payload import specs as core
from .._values.convert import to_array
from ..dtypes import DType, as_dtype, float32, int32, int64, string
from ..errors import invalid

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "VarLenFeature",
    "core_specs",
]


class _Spec:
    """A spec with a cached spec of the core."""

    def core(self, key: str) -> Any:
        """The core's spec. A mistake in this spec raises TensorFlow's error, which names ``key``."""
        if "_core" not in self.__dict__:
            self._check(key)
            self.__dict__["_core"] = self._core_spec()
        return self.__dict__["_core"]

    def _check(self, key: str) -> None:
        if not self.dtype:  # type: ignore[attr-defined]
            raise ValueError(f"Missing type for feature {key}. Received feature={self}{self._full_stop}")
        dtype = as_dtype(self.dtype)  # type: ignore[attr-defined]
        if dtype not in (int64, float32, string):
            text = f"Value for attr {self._attr!r} of {dtype.name} is not in the list of allowed values"
            raise invalid(f"{text}: float, int64, string")

    # The parts of TensorFlow's error messages that differ between the specs.
    _attr = "Tdense"
    _full_stop = "."

    def _core_spec(self) -> Any:
        return getattr(core, type(self).__name__)(**self._asdict())  # type: ignore[attr-defined]


@public
class FixedLenFeature(_Spec, namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A fixed number of values: a dense tensor; a missing feature becomes ``default_value``."""

    def __new__(cls, shape: Any, dtype: Any, default_value: Any = None) -> FixedLenFeature:
        return super().__new__(cls, shape, dtype, default_value)

    def _check(self, key: str) -> None:
        super()._check(key)
        lengths = _lengths(self.shape, key, self)
        if lengths and lengths[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using "
                f"FixedLenSequenceFeature. Received feature={self}."
            )
        if None in lengths:
            raise ValueError(
                f"All dimensions of shape for feature {key} need to be known but received {self.shape!s}."
            )
        if self.default_value is not None:
            _check_default(self.default_value, math.prod(length or 0 for length in lengths), self.dtype)


@public
class VarLenFeature(_Spec, namedtuple("VarLenFeature", ["dtype"])):
    """Any number of values: a ``SparseTensor``."""

    _attr = "sparse_types"
    _full_stop = ""


@public
class FixedLenSequenceFeature(
    _Spec, namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])
):
    """Any number of items of ``shape``: a dense tensor, padded to the longest example."""

    def __new__(
        cls, shape: Any, dtype: Any, allow_missing: bool = False, default_value: Any = None
    ) -> FixedLenSequenceFeature:
        return super().__new__(cls, shape, dtype, allow_missing, default_value)

    def _check(self, key: str) -> None:
        super()._check(key)
        lengths = _lengths(self.shape, key, self)
        if None in lengths:
            shown = ",".join(["?", *("?" if length is None else str(length) for length in lengths)])
            text = f"dense_shapes[0] has unknown rank or unknown inner dimensions: [{shown}]"
            raise invalid(text)
        if self.default_value is not None:
            _check_default(self.default_value, 1, self.dtype)


@public
class SparseFeature(
    _Spec, namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])
):
    """Values and their stored indices: a ``SparseTensor`` of ``size``."""

    _attr = "sparse_types"

    def __new__(
        cls, index_key: Any, value_key: Any, dtype: Any, size: Any, already_sorted: bool = False
    ) -> SparseFeature:
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)

    def _check(self, key: str) -> None:
        for name in ("index_key", "value_key"):
            if not getattr(self, name):
                raise ValueError(f"Missing {name} for SparseFeature {self}.")
        super()._check(key)
        several = isinstance(self.index_key, (list, tuple))
        if several != isinstance(self.size, (list, tuple)):
            what = "a list of Tensors or Python ints" if several else "a Tensor or Python int"
            raise TypeError(f"vocab_size has to be {what}. Found {type(self.size)}")
        if several and len(self.index_key) != len(self.size):
            raise ValueError("sp_ids and vocab_size have to have equal lengths.")


@public
class RaggedFeature(
    _Spec,
    namedtuple("RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"]),
):
    """Any number of values: a ``RaggedTensor``, with further ragged dimensions by ``partitions``."""

    class RowSplits(NamedTuple):
        """Row ``i`` is ``values[splits[i]:splits[i + 1]]``."""

        key: str

    class RowLengths(NamedTuple):
        """Row ``i`` has ``lengths[i]`` values."""

        key: str

    class RowStarts(NamedTuple):
        """Row ``i`` begins at ``starts[i]``."""

        key: str

    class RowLimits(NamedTuple):
        """Row ``i`` ends at ``limits[i]``."""

        key: str

    class ValueRowIds(NamedTuple):
        """Value ``i`` belongs to row ``ids[i]``."""

        key: str

    class UniformRowLength(NamedTuple):
        """Every row has ``length`` values."""

        length: int

    _PARTITION_TYPES = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)

    def __new__(
        cls,
        dtype: Any,
        value_key: str | None = None,
        partitions: Any = (),
        row_splits_dtype: Any = int32,
        validate: bool = False,
    ) -> RaggedFeature:
        """Checks the arguments at once, as TensorFlow does."""
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError(f"Argument `value_key` must be a string; got {value_key}")
        if value_key == "":
            raise ValueError("Argument `value_key` must not be empty")
        dtype, splits = as_dtype(dtype), as_dtype(row_splits_dtype)
        if dtype not in (int64, float32, string):
            raise ValueError(f"Argument `dtype` must be int64, float32, or bytes; got {dtype!r}")
        if splits not in (int32, int64):
            raise ValueError(f"Argument `row_splits_dtype` must be int32 or int64; got{splits!r}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(
                f"Argument `partitions` must be a list or tuple. Received partitions={partitions} of type "
                f"{type(partitions).__name__}."
            )
        for partition in partitions:
            if not isinstance(partition, cls._PARTITION_TYPES):
                raise TypeError(
                    "Argument `partitions` cannot be cast to any of the partition types in "
                    f"{cls._PARTITION_TYPES}; got: {partition!r} with type {type(partition)}"
                )
        if not isinstance(validate, bool):
            raise TypeError(f"Argument `validate` must be a bool; got {validate!r}")
        return super().__new__(cls, dtype, value_key, tuple(partitions), splits, validate)


def _lengths(shape: Any, key: str, spec: Any) -> list[int | None]:
    """The dimensions of a shape, None for an unknown one."""
    if shape is None:
        raise ValueError(f"Missing shape for feature {key}. Received feature={spec}.")
    if hasattr(shape, "as_list"):
        shape = shape.as_list()
    if isinstance(shape, (int, np.integer)) and isinstance(spec, FixedLenFeature):
        shape = [shape]
    lengths = [None if length is None else int(length) for length in shape]
    for length in lengths:
        if length is not None and length < 0:
            raise ValueError(f"Dimension {length} must be >= 0")
    return lengths


def _check_default(value: Any, count: int, dtype: Any) -> None:
    """Raise an error unless ``value`` has ``count`` elements. The core checks the dtype of arrays."""
    if isinstance(value, (bool, int, float, str, bytes, list, tuple)):
        to_array(value, as_dtype(dtype))
    size = np.asarray(value, object).size
    if size != count:
        text = f"Input to reshape is a tensor with {size} values, but the requested shape has {count}"
        raise invalid(text)


# What a context and a feature list of a SequenceExample may be asked for.
CONTEXT_SPECS = ("FixedLenFeature", "VarLenFeature", "RaggedFeature")
SEQUENCE_SPECS = ("FixedLenSequenceFeature", "VarLenFeature", "RaggedFeature")

_SPECS: dict[str, Any] = {
    spec.__name__: spec
    for spec in (FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature)
}


_ALL = tuple(_SPECS)  # for an Example


def core_specs(features: Mapping[str, Any], allowed: tuple[str, ...] = _ALL) -> dict[str, Any]:
    """The core's specs for ``features``, in the order of TensorFlow's results.

    A pipeline calls this for every example with the same specs, so recent results are remembered. The same
    specs give the same dictionary, also if the program makes them anew for every example.
    """
    for names, specs, kinds, converted in _latest:
        # The same objects need no second look.
        same = kinds is allowed and len(features) == len(specs) and all(map(is_, features.values(), specs))
        if same and list(features) == names:
            return converted
    key = (allowed, *features, *map(_value_of, features.values()))
    if key not in _cache:
        if len(_cache) >= _MAX_CACHED:
            _cache.clear()
        # The cache holds the specs, too, so that no new object can get one of their ids.
        _cache[key] = ([*features.values()], _convert(features, allowed))
    specs, converted = _cache[key]
    _latest[:] = [([*features], [*features.values()], allowed, converted), *_latest][:_MAX_LATEST]
    return converted


_Specs = dict[str, Any]
_cache: dict[tuple[Any, ...], tuple[list[Any], _Specs]] = {}
_latest: list[tuple[list[str], list[Any], tuple[str, ...], _Specs]] = []
_MAX_CACHED, _MAX_LATEST = 64, 4


def _value_of(spec: Any) -> Any:
    """What a spec has in common with others only if they mean the same; of an unusual spec, its ``id``."""
    kind = type(spec)
    if kind is VarLenFeature and type(spec.dtype) is DType:
        return kind, spec.dtype.name
    if kind is FixedLenFeature and type(spec.dtype) is DType and type(spec.shape) in (list, tuple):
        default = spec.default_value
        plain = type(default) in (int, float, bytes, str, type(None))
        if plain and set(map(type, spec.shape)) <= {int}:
            # The repr tells 0 from 0.0 and from -0.0.
            return kind, spec.dtype.name, tuple(spec.shape), repr(default)
    return id(spec)


def _convert(features: Mapping[str, Any], allowed: tuple[str, ...]) -> dict[str, Any]:
    sparse: dict[str, Any] = {}
    dense: dict[str, Any] = {}
    ragged: dict[str, Any] = {}
    for key in sorted(features):
        spec = features[key]
        if allowed == SEQUENCE_SPECS and isinstance(getattr(spec, "shape", None), (int, np.integer)):
            spec = spec._replace(shape=[int(spec.shape)])
        kind = type(spec).__name__
        if kind not in allowed or not isinstance(spec, (_SPECS[kind], core.SPECS[kind])):
            raise ValueError(f"Unsupported {kind} {spec} for key '{key}'")
        made = spec.core(key) if isinstance(spec, _Spec) else spec
        section = {"VarLenFeature": sparse, "SparseFeature": sparse, "RaggedFeature": ragged}
        section.get(kind, dense)[key] = made
    stored = (_sparse_keys(sparse), list(dense), _ragged_keys(ragged))
    _check_keys(*stored)
    # Features that are stored under their own key come first, then those composed of other features.
    specs = {**sparse, **dense, **ragged}
    if allowed is _ALL and any(getattr(spec, "allow_missing", True) is False for spec in specs.values()):
        raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    order = dict.fromkeys([*(key for keys in stored for key in keys), *sorted(specs)])
    return {key: specs[key] for key in order if key in specs}


def _sparse_keys(specs: Mapping[str, Any]) -> list[str]:
    keys: dict[str, None] = {}
    for key, spec in specs.items():
        own = [*sorted(spec.index_keys), spec.value_key] if hasattr(spec, "index_key") else [key]
        keys.update(dict.fromkeys(own))
    return list(keys)


def _ragged_keys(specs: Mapping[str, Any]) -> list[str]:
    keys: dict[str, None] = {}
    for key, spec in specs.items():
        own = [spec.value_key or key, *(part.key for part in spec.partitions if hasattr(part, "key"))]
        keys.update(dict.fromkeys(own))
    return list(keys)


def _check_keys(sparse: list[str], dense: list[str], ragged: list[str]) -> None:
    """Raise an error if a key is parsed in two ways, which TensorFlow does not allow."""
    pairs = (
        ("Dense and sparse", "dense_keys", dense, "sparse_keys", sparse),
        ("Ragged and sparse", "ragged_keys", ragged, "sparse_keys", sparse),
        ("Dense and ragged", "dense_keys", dense, "ragged_keys", ragged),
    )
    for what, one_name, one, other_name, other in pairs:
        if shared := set(one) & set(other):
            raise ValueError(
                f"{what} keys must not intersect; {one_name}: {one}, {other_name}: {other}, "
                f"intersection: {shared}"
            )
