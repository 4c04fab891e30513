"""Feature specs: what a caller asks for, checked and normalised when the spec is made.

The names and signatures are TensorFlow's. A spec is frozen and comparable, and its repr can be pasted into
code. A mistake in a spec is a ``TypeError`` or ``ValueError`` here, before any data is read. This module
does not know the wire format, nor how a spec is applied.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Union

import numpy as np

from .. import public
from .dtypes import DType, as_dtype, constant, dtype_name, frozen
from .values import Array


class _Spec:
    """The repr of all specs: it names the dtype and leaves out arguments that have their default."""

    def __repr__(self) -> str:
        shown = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value != field.default:
                text = dtype_name(value) if isinstance(value, type) else value
                shown.append(f"{field.name}={text!r}")
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@public
@dataclass(frozen=True, repr=False)
class FixedLenFeature(_Spec):
    """Exactly ``prod(shape)`` values in every example, as a dense array of ``(batch, *shape)``.

    An example without the feature gets ``default_value``, which must have as many elements as
    ``shape``; without a default it is an error.
    """

    shape: tuple[int, ...]
    dtype: DType
    default_value: Any = None

    if TYPE_CHECKING:  # the types of the arguments; the fields have those of the result

        def __init__(self, shape: Any, dtype: Any, default_value: Any = None) -> None: ...

    def __post_init__(self) -> None:
        shape = _known_shape(self.shape)
        dtype = as_dtype(self.dtype)
        self._set(shape=shape, dtype=dtype)
        if self.default_value is not None:
            array = constant(self.default_value, dtype, shape)
            self._set(default_value=frozen(array.tolist()))

    @cached_property
    def count(self) -> int:
        """How many values an example must hold."""
        return math.prod(self.shape)

    @cached_property
    def default(self) -> Array | None:
        """The default as an array of ``shape``; None if there is none, or if it has no elements."""
        if self.default_value is None or not self.count:
            return None
        return constant(self.default_value, self.dtype, self.shape)


@public
@dataclass(frozen=True, repr=False)
class VarLenFeature(_Spec):
    """Any number of values, as a ``Sparse`` of ``(batch, longest)``."""

    dtype: DType

    if TYPE_CHECKING:  # the types of the arguments; the fields have those of the result

        def __init__(self, dtype: Any) -> None: ...

    def __post_init__(self) -> None:
        self._set(dtype=as_dtype(self.dtype))


@public
@dataclass(frozen=True, repr=False)
class FixedLenSequenceFeature(_Spec):
    """Any number of items of ``shape``, as a dense array of ``(batch, longest, *shape)``.

    Shorter examples are padded with ``default_value`` (0 or ``b""``). In a SequenceExample, every step of
    the feature list is one item.
    """

    shape: tuple[int, ...]
    dtype: DType
    allow_missing: bool = False
    default_value: Any = None

    if TYPE_CHECKING:  # the types of the arguments; the fields have those of the result

        def __init__(
            self, shape: Any, dtype: Any, allow_missing: bool = False, default_value: Any = None
        ) -> None: ...

    def __post_init__(self) -> None:
        if isinstance(self.shape, Integral):
            raise TypeError(f"shape must be a sequence of lengths, not {self.shape!r}")
        shape = _known_shape(self.shape)
        dtype = as_dtype(self.dtype)
        if 0 in shape:
            raise ValueError(f"the dimensions of shape must be positive, not {shape}: an item needs a value")
        self._set(shape=shape, dtype=dtype, allow_missing=bool(self.allow_missing))
        if self.default_value is not None:
            self._set(default_value=constant(self.default_value, dtype, ()).item())

    @cached_property
    def count(self) -> int:
        """How many values an item holds."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class _KeyedPartition:
    """A partition that is stored as an int64 feature of its own."""

    key: str

    def __post_init__(self) -> None:
        _check_key(self.key, "key")


@public
@dataclass(frozen=True, repr=False)
class RaggedFeature(_Spec):
    """Any number of values, as a ``Ragged``; ``partitions`` divide the values of each example into rows.

    The values are stored under ``value_key`` (the feature's own name if None), and each partition but
    ``UniformRowLength`` under its key. The last partition is the innermost. Partitions are always checked,
    even without ``validate``: values never move from one example to another.
    """

    dtype: DType
    value_key: str | None = None
    partitions: tuple[Any, ...] = ()
    row_splits_dtype: DType = np.int32
    validate: bool = False

    if TYPE_CHECKING:

        def __init__(
            self,
            dtype: Any,
            value_key: str | None = None,
            partitions: Iterable[Any] = (),
            row_splits_dtype: Any = np.int32,
            validate: bool = False,
        ) -> None: ...

    @public
    @dataclass(frozen=True)
    class RowSplits(_KeyedPartition):
        """Row ``i`` is ``values[splits[i]:splits[i + 1]]``."""

    @public
    @dataclass(frozen=True)
    class RowLengths(_KeyedPartition):
        """Row ``i`` has ``lengths[i]`` values."""

    @public
    @dataclass(frozen=True)
    class RowStarts(_KeyedPartition):
        """Row ``i`` begins at ``starts[i]`` and ends where the next one begins."""

    @public
    @dataclass(frozen=True)
    class RowLimits(_KeyedPartition):
        """Row ``i`` ends at ``limits[i]`` and begins where the previous one ends."""

    @public
    @dataclass(frozen=True)
    class ValueRowIds(_KeyedPartition):
        """Value ``i`` belongs to row ``ids[i]``."""

    @public
    @dataclass(frozen=True)
    class UniformRowLength:
        """Every row has ``length`` values; the examples store nothing for it."""

        length: int

        def __post_init__(self) -> None:
            length = operator.index(self.length)
            if length < 1:
                raise ValueError(f"a uniform row length must be at least 1, not {length}")
            object.__setattr__(self, "length", length)

    PARTITIONS: ClassVar[tuple[type[Any], ...]] = (
        RowSplits,
        RowLengths,
        RowStarts,
        RowLimits,
        ValueRowIds,
        UniformRowLength,
    )

    def __post_init__(self) -> None:
        if self.value_key is not None:
            if not isinstance(self.value_key, str):
                raise ValueError(f"value_key must be a str, not {self.value_key!r}")
            if not self.value_key:
                raise ValueError("value_key must not be empty")
        if not isinstance(self.partitions, (list, tuple)):
            raise TypeError(f"partitions must be a list or tuple, not {type(self.partitions).__name__}")
        if not isinstance(self.validate, bool):
            raise TypeError(f"validate must be a bool, not {self.validate!r}")
        splits = getattr(self.row_splits_dtype, "as_numpy_dtype", self.row_splits_dtype)
        if splits is None or np.dtype(splits).type not in (np.int32, np.int64):
            raise ValueError(f"row_splits_dtype must be int32 or int64, not {splits!r}")
        self._set(
            dtype=as_dtype(self.dtype),
            partitions=tuple(_as_partition(partition) for partition in self.partitions),
            row_splits_dtype=np.dtype(splits).type,
        )


@public
@dataclass(frozen=True, repr=False)
class SparseFeature(_Spec):
    """Values with stored indices, as a ``Sparse`` of ``(batch, *size)``.

    ``index_key`` names the int64 feature with the index of each value, and ``size`` is the length of that
    dimension. For several dimensions, both are lists. Unless ``already_sorted``, the values are sorted by
    their indices.
    """

    index_key: Union[str, tuple[str, ...]]
    value_key: str
    dtype: DType
    size: Union[int, tuple[int, ...]]
    already_sorted: bool = False

    if TYPE_CHECKING:

        def __init__(
            self, index_key: Any, value_key: str, dtype: Any, size: Any, already_sorted: bool = False
        ) -> None: ...

    def __post_init__(self) -> None:
        for key, what in ((self.index_key, "index_key"), (self.value_key, "value_key")):
            if not key:
                raise ValueError(f"the {what} of the SparseFeature is missing")
        _check_key(self.value_key, "value_key")
        several = isinstance(self.index_key, (list, tuple))
        if several != isinstance(self.size, (list, tuple)):
            raise TypeError("index_key and size must both be single, or both be lists of the same length")
        keys, sizes = _as_tuple(self.index_key), tuple(map(operator.index, _as_tuple(self.size)))
        for key in keys:
            _check_key(key, "index_key")
        if len(keys) != len(sizes):
            raise ValueError(
                f"{len(keys)} index keys and {len(sizes)} sizes; each dimension needs one of each"
            )
        if min(sizes) < 0:
            raise ValueError(f"size must not be negative: {self.size}")
        self._set(
            index_key=keys if several else keys[0],
            dtype=as_dtype(self.dtype),
            size=sizes if several else sizes[0],
            already_sorted=bool(self.already_sorted),
        )

    @property
    def index_keys(self) -> tuple[str, ...]:
        """The index keys, one for each dimension."""
        return _as_tuple(self.index_key)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return _as_tuple(self.size)


FeatureSpec = Union[FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature]
SPECS: dict[str, type[Any]] = {
    spec.__name__: spec
    for spec in (FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature)
}


def as_features(features: Mapping[str, Any], allowed: Iterable[str] = tuple(SPECS)) -> dict[str, FeatureSpec]:
    """``features`` with every spec as one of this module; TensorFlow's own specs are converted.

    The name of a dtype ("int64", "float32", "bytes") is short for a ``FixedLenFeature`` of one value.
    """
    if not isinstance(features, Mapping):
        raise TypeError(f"features must be a mapping of names to specs, not {type(features).__name__}")
    checked: dict[str, FeatureSpec] = {}
    for name, spec in features.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a feature must be a str, not {name!r}")
        if isinstance(spec, str) and FixedLenFeature.__name__ in allowed:
            spec = _from_dtype(name, spec)  # noqa: PLW2901 - the same spec, written out
        kind = type(spec).__name__
        if kind in SPECS and not isinstance(spec, SPECS[kind]) and hasattr(spec, "_asdict"):
            spec = SPECS[kind](**spec._asdict())  # noqa: PLW2901 - the same spec in another class
        if kind not in allowed or not isinstance(spec, SPECS[kind]):
            dense = FixedLenFeature.__name__ in allowed
            short = ', or the name of a dtype: "int64", "float32", "bytes"' if dense else ""
            raise ValueError(
                f"Unsupported {kind} {spec!r} for key {name!r}; one of {', '.join(allowed)} will do{short}"
            )
        checked[name] = spec
    return checked


def _from_dtype(name: str, dtype: str) -> FixedLenFeature:
    try:
        return FixedLenFeature((), dtype)
    except (TypeError, ValueError) as error:
        raise type(error)(f"feature {name!r}: {error}") from None


def _as_partition(partition: Any) -> Any:
    """``partition`` as one of the six; TensorFlow's own are named tuples with the same names."""
    if isinstance(partition, RaggedFeature.PARTITIONS):
        return partition
    for known in RaggedFeature.PARTITIONS:
        if type(partition).__name__ == known.__name__ and isinstance(partition, tuple):
            return known(*partition)
    raise TypeError(f"a partition must be one of RaggedFeature's six, such as RowSplits, not {partition!r}")


def _check_key(key: Any, what: str) -> None:
    if not isinstance(key, str):
        raise TypeError(f"{what} must be a str, not {key!r}")


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _known_shape(shape: Any) -> tuple[int, ...]:
    """``shape`` as a tuple of lengths, all of them known."""
    if shape is None:
        raise ValueError("the shape is missing; use () for a single value")
    if hasattr(shape, "as_list"):  # tf.TensorShape
        shape = shape.as_list()
    if isinstance(shape, Integral):
        shape = (shape,)
    if isinstance(shape, str) or not isinstance(shape, Iterable):
        raise TypeError(f"shape must be a sequence of lengths, not {shape!r}")
    lengths: tuple[Any, ...] = tuple(getattr(length, "value", length) for length in shape)
    if any(length is None for length in lengths):
        advice = "; consider FixedLenSequenceFeature or RaggedFeature" if lengths[0] is None else ""
        raise ValueError(f"all dimensions of shape must be known, not {lengths}{advice}")
    known = tuple(operator.index(length) for length in lengths)
    if any(length < 0 for length in known):
        raise ValueError(f"the dimensions of shape must not be negative: {known}")
    if any(length >= 2**63 for length in known) or math.prod(known) >= 2**63:
        raise ValueError(f"no array can have the shape {known}")
    return known
