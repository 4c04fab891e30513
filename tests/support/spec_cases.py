"""Random specs, and Features that fit them or do not, for the tests of parsing."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from purerecord.payload.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from purerecord.payload.wire import BYTES, FLOAT, INT64
from tests.support.handmade_messages import UNSET_FEATURE, feature, ints

KIND = {np.int64: INT64, np.float32: FLOAT, bytes: BYTES}
DTYPES = list(KIND)
KEYED = [
    partition for partition in RaggedFeature.PARTITIONS if partition is not RaggedFeature.UniformRowLength
]


TYPES = ("fixed", "var", "sequence", "ragged", "sparse")


def random_values(rng: random.Random, dtype: type, count: int) -> list[Any]:
    if dtype is bytes:
        return [rng.randbytes(rng.choice((0, 1, 3, 130))) + rng.choice((b"", b"\0")) for _ in range(count)]
    if dtype is np.float32:
        return [
            float(np.float32(rng.choice((rng.gauss(0, 9), 0.0, -0.0, 3e38, float("inf"), float("nan")))))
            for _ in range(count)
        ]
    return [
        rng.choice((rng.randrange(256), rng.randrange(-(2**63), 2**63), -1, 2**63 - 1)) for _ in range(count)
    ]


def random_defaults(rng: random.Random, dtype: type, count: int) -> list[Any]:
    # Eager TensorFlow caches scalar constants by equality, so it may turn -0.0 into 0.0.
    return [value or type(value)() for value in random_values(rng, dtype, count)]


class Case:
    """A random spec under a name, and Features for it, of which the share ``faults`` is faulty."""

    def __init__(self, rng: random.Random, name: str, faults: float, types: Sequence[str] = TYPES) -> None:
        self.rng, self.name, self.faults = rng, name, faults
        self.dtype = rng.choice(DTYPES)
        self.spec: Any = getattr(self, "_" + rng.choice(list(types)))()

    def _fixed(self) -> Any:
        shape = self.rng.choice(((), (), (1,), (2,), (3, 2), (0,), (1, 0)))
        count = int(np.prod(shape, dtype=int))
        default = None
        if self.rng.random() < 0.6:
            default = np.array(random_defaults(self.rng, self.dtype, count), object).reshape(shape).tolist()
        self.counts = lambda: count
        return FixedLenFeature(shape, self.dtype, default)

    def _var(self) -> Any:
        self.counts = lambda: self.rng.randrange(5)
        return VarLenFeature(self.dtype)

    def _sequence(self) -> Any:
        shape = self.rng.choice(((), (1,), (2,), (2, 2)))
        stride = int(np.prod(shape, dtype=int))
        default = random_defaults(self.rng, self.dtype, 1)[0] if self.rng.random() < 0.5 else None
        self.counts = lambda: self.rng.randrange(4) * stride
        return FixedLenSequenceFeature(shape, self.dtype, allow_missing=True, default_value=default)

    def _ragged(self) -> Any:
        partitions: list[Any] = []
        for depth in range(self.rng.choice((0, 0, 1, 1, 2, 3))):
            if self.rng.random() < 0.3:
                partitions.append(RaggedFeature.UniformRowLength(self.rng.choice((1, 2, 3))))
            else:
                partitions.append(self.rng.choice(KEYED)(f"{self.name}.{depth}"))
        value_key = self.rng.choice((None, self.name + ".values"))
        splits = self.rng.choice((np.int32, np.int64))
        return RaggedFeature(self.dtype, value_key, partitions, splits)

    def _sparse(self) -> Any:
        several = self.rng.randrange(3)
        key: Any = [f"{self.name}.{i}" for i in range(several)] if several else self.name + ".index"
        size: Any = [self.rng.randrange(1, 20) for _ in range(several)] if several else 20
        return SparseFeature(key, self.name + ".values", self.dtype, size, self.rng.random() < 0.3)

    def features(self) -> list[tuple[str, bytes]]:
        """The entries of one example."""
        if isinstance(self.spec, RaggedFeature):
            return self._ragged_features()
        if isinstance(self.spec, SparseFeature):
            return self._sparse_features()
        return self._maybe(self.name, self.dtype, random_values(self.rng, self.dtype, self.counts()))

    def _maybe(self, key: str, dtype: type, values: list[Any]) -> list[tuple[str, bytes]]:
        """A list, or with a fault: missing, unset, empty, of another kind or of another length."""
        rng = self.rng
        # TensorFlow 2.21 writes out of bounds if there are too many unpacked floats.
        packed = dtype is np.float32 or rng.random() < 0.8
        fault = (
            "none"
            if rng.random() >= self.faults
            else rng.choice(("missing", "unset", "empty", "kind", "count"))
        )
        if fault == "missing":
            return []
        if fault == "unset":
            return [(key, UNSET_FEATURE)]
        if fault == "empty":
            return [(key, feature(KIND[dtype], []))]
        if fault == "kind":
            other = rng.choice([d for d in DTYPES if d is not dtype])
            return [(key, feature(KIND[other], random_values(rng, other, len(values))))]
        if fault == "count":
            values = random_values(rng, dtype, len(values) + rng.choice((-1, 1)) if values else 1)
        return [(key, feature(KIND[dtype], values, packed=packed))]

    def _ragged_features(self) -> list[tuple[str, bytes]]:
        """Rows and partitions that fit, made from the outermost in; with a fault, the example lacks them."""
        rng = self.rng
        if rng.random() < self.faults:
            splits = [p.key for p in self.spec.partitions if isinstance(p, RaggedFeature.RowSplits)]
            return [(key, ints(0)) for key in splits]  # without any splits, TensorFlow gives another result
        entries = []
        rows = rng.randrange(4)
        for partition in self.spec.partitions:
            if isinstance(partition, RaggedFeature.UniformRowLength):
                rows *= partition.length
                continue
            lengths = [rng.randrange(4) for _ in range(rows)]
            if isinstance(partition, RaggedFeature.ValueRowIds) and lengths:
                lengths[-1] += not lengths[-1]  # the last row of row ids cannot be empty
            stored = stored_partition(partition, lengths)
            entries.append((partition.key, feature(INT64, stored, packed=rng.random() < 0.8)))
            rows = sum(lengths)
        values = random_values(rng, self.dtype, rows)
        key = self.spec.value_key or self.name
        if rng.random() < self.faults / 4:
            other = rng.choice([d for d in DTYPES if d is not self.dtype])
            return [*entries, (key, feature(KIND[other], values and random_values(rng, other, rows)))]
        return [*entries, (key, feature(KIND[self.dtype], values))]

    def _sparse_features(self) -> list[tuple[str, bytes]]:
        rng = self.rng
        if rng.random() < self.faults:
            return rng.choice(([], [(self.spec.value_key, UNSET_FEATURE)]))
        # Distinct in the first dimension, because TensorFlow does not document the order of equal indices.
        first = rng.sample(range(self.spec.sizes[0]), min(rng.randrange(5), self.spec.sizes[0]))
        columns = [first] + [[rng.randrange(size) for _ in first] for size in self.spec.sizes[1:]]
        entries = [
            (key, feature(INT64, column)) for key, column in zip(self.spec.index_keys, columns, strict=True)
        ]
        return [
            *entries,
            (self.spec.value_key, feature(KIND[self.dtype], random_values(rng, self.dtype, len(first)))),
        ]


def stored_partition(partition: Any, lengths: list[int]) -> list[int]:
    limits = np.cumsum(lengths, dtype=int).tolist()
    return {
        "RowSplits": [0, *limits],
        "RowLengths": lengths,
        "RowStarts": [0, *limits][:-1],
        "RowLimits": limits,
        "ValueRowIds": [row for row, length in enumerate(lengths) for _ in range(length)],
    }[type(partition).__name__]
