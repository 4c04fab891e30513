"""``FeatureType``: what a feature holds, as a schema gives it, or as a converter infers it.

``Collected`` makes a column of values that come one after the other. This module must not know where the
values come from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import EncodeError
from ...payload.dtypes import dtype_name
from ...payload.encode.cells import Cells
from ...payload.exact_floats import check_exact_column
from ...payload.specs import FeatureSpec, FixedLenFeature, SparseFeature
from ...payload.wire import ABSENT, BYTES, FLOAT, INT64, UNSET

KINDS: dict[Any, int] = {bytes: BYTES, np.float32: FLOAT, np.int64: INT64}
NAMES = {UNSET: "nothing", BYTES: "bytes", FLOAT: "float", INT64: "int64"}
Ints = npt.NDArray[np.int64]
LEAST_INT, GREATEST_INT = -(1 << 63), (1 << 63) - 1
_INEXACT = 1 << 53  # from here on, a double does not hold every integer


@dataclass(frozen=True)
class FeatureType:
    """The kind of a feature; how many values a record has, None for any number; whether it may be missing."""

    kind: int
    count: int | None = 1
    required: bool = False

    @property
    def kind_name(self) -> str:
        """The kind in words."""
        return NAMES[self.kind]

    def __str__(self) -> str:
        return self.kind_name + (" list" if self.count is None else f"[{self.count}]" * (self.count != 1))


def type_of(name: str, spec: FeatureSpec) -> FeatureType:
    """What a feature holds that ``spec`` describes."""
    if isinstance(spec, SparseFeature):
        raise ValueError(f"feature {name!r} of the schema is sparse; name its index and values as features")
    if getattr(spec, "partitions", ()) or getattr(spec, "value_key", None) not in (None, name):
        raise ValueError(f"feature {name!r} of the schema has partitions; name the features that these are")
    if spec.dtype not in KINDS:
        raise ValueError(f"feature {name!r} of the schema is {dtype_name(spec.dtype)}, not in an Example")
    if isinstance(spec, FixedLenFeature):
        return FeatureType(KINDS[spec.dtype], math.prod(spec.shape), required=spec.default_value is None)
    return FeatureType(KINDS[spec.dtype], None)


def types_of(schema: Mapping[str, FeatureSpec]) -> dict[str, FeatureType]:
    """What the features of a schema hold."""
    return {name: type_of(name, spec) for name, spec in schema.items()}


class Collected:
    """The values of one feature in a batch of records, in their order.

    ``add`` takes the values of a record, of the right types already, or None if it lacks the feature.
    """

    def __init__(self, name: str, feature: FeatureType) -> None:
        self.name, self.feature = name, feature
        self._values: list[Any] = []
        self._counts: list[int] = []  # -1 for a record that lacks the feature

    def add(self, values: list[Any] | None) -> None:
        """Add the values of the next record."""
        if values is None:
            if self.feature.required:
                raise EncodeError("is missing, and the schema requires it", feature=self.name)
            self._counts.append(-1)
            return
        if self.feature.count is not None and len(values) != self.feature.count:
            needed = f"has {len(values)} values, where the schema has {self.feature.count}"
            raise EncodeError(needed, feature=self.name)
        self._values += values
        self._counts.append(len(values))

    def cells(self, floats: str) -> Cells:
        """The column, in the form that the encoder takes."""
        counts = np.array(self._counts, np.int64)
        kinds = None
        if self.feature.kind == UNSET or bool((counts < 0).any()):
            kinds = np.where(counts < 0, ABSENT, self.feature.kind).astype(np.int8)
        values: Any = self._values
        if self.feature.kind == INT64:
            values = np.array(values, np.int64)
        elif self.feature.kind == FLOAT:
            try:
                values = float32_values(self.name, np.array(values, np.float64), floats)
            except EncodeError as error:
                error.record = row_of(np.maximum(counts, 0), error.record)
                raise
        return Cells(self.feature.kind, values, np.maximum(counts, 0), kinds)


def float32_values(name: str, values: Any, floats: str) -> Any:
    """Doubles as float32; an EncodeError if one is too large or, where floats are exact, would change. Its
    ``record`` is the place of the value."""
    if floats == "exact":
        check_exact_column(values, name)
    with np.errstate(over="ignore", under="ignore"):
        rounded = values.astype(np.float32)
    wrong = np.isinf(rounded) & ~np.isinf(values)
    if bool(wrong.any()):
        raise EncodeError("a float is too large for float32", feature=name, record=int(wrong.argmax()))
    return rounded


def row_of(counts: Ints, place: int | None) -> int:
    """The row that has the value at a place, where rows have so many values each."""
    return int(np.searchsorted(np.cumsum(counts), place or 0, "right"))


def loses_digits(values: Iterable[float]) -> bool:
    """Whether float32 has neither one of these numbers, nor one that is written like it."""
    numbers = list(values)
    doubles = np.array(numbers, np.float64)
    with np.errstate(over="ignore", under="ignore"):
        singles = doubles.astype(np.float32)
    same = (singles == doubles) | np.isnan(doubles) | (singles.astype("S").astype(np.float64) == doubles)
    if not bool(same.all()):
        return True
    large = (number for number in numbers if type(number) is int and abs(number) >= _INEXACT)
    return any(int(float(number)) != number for number in large)


def misfit(place: str, name: str, reason: str) -> EncodeError:
    """An error about a value of the feature ``name`` at a ``place`` in a file."""
    return EncodeError(f"{place}: feature {name!r}: {reason}")
