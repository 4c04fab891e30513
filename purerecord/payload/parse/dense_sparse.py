"""From columns to what a spec asks for: dense arrays and ``Sparse``, all rows at once.

Each function takes a ``Batch`` and one spec and checks before it builds, so that a mismatch names the
first record that has it. Nothing here loops over rows. This module does not know how the columns came
about, nor whether a row is an example or a step of a feature list. ``RaggedFeature`` is in ``partition``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...errors import SchemaError
from ..dtypes import array_dtype
from ..ragged import Array, Offsets, Ragged, filled
from ..sparse import Sparse
from ..specs import FixedLenFeature, FixedLenSequenceFeature, SparseFeature, VarLenFeature
from .checked_columns import Batch, first_fault, lengths_of

Output = Any  # an ndarray, a Sparse or a Ragged; numpy's scalars and bytes for a single example


def fixed_len(batch: Batch, feature: str, spec: FixedLenFeature) -> Array:
    """``(size, *shape)``; a row without the feature gets the default."""
    column = batch.columns[feature]
    shape = (batch.size, *spec.shape)
    if column.kinds is None and column.uniform == spec.count:
        return column.values.reshape(shape) if spec.shape else column.values
    absent = batch.kinds(feature) <= 0
    remedy = "give a default_value if it may be missing"
    if not spec.count:
        remedy = "no default_value stands for a shape without values; use RaggedFeature if it may be missing"
    needs = f"shape {spec.shape} needs {spec.count}"
    first_fault(
        batch.kind_check(feature),
        (absent & (spec.default is None), partial(batch.missing, feature, spec.dtype, remedy)),
        (
            ~absent & (lengths_of(column) != spec.count),
            partial(batch.count_mismatch, feature, needs, spec.count),
        ),
    )
    dense = np.empty(shape, array_dtype(spec.dtype))
    dense[~absent] = column.values.reshape(-1, *spec.shape) if spec.count else 0
    if spec.default is not None:
        dense[absent] = spec.default
    return dense


def fixed_len_sequence(batch: Batch, feature: str, spec: FixedLenSequenceFeature) -> Array:
    """``(size, longest, *shape)``, short rows filled up with the default."""
    column = batch.columns[feature]
    lengths = lengths_of(column)
    needs = f"items of shape {spec.shape} need a multiple of {spec.count}"
    first_fault(
        batch.kind_check(feature),
        (lengths % spec.count != 0, partial(batch.count_mismatch, feature, needs, spec.count)),
    )
    items = column.values.reshape(-1, *spec.shape)
    return padded(items, lengths // spec.count, spec.default_value)


def padded(items: Array, lengths: Offsets, default_value: Any) -> Array:
    """Rows of ``lengths`` items, all as long as the longest."""
    longest = int(lengths.max()) if len(lengths) else 0
    shape = (len(lengths), longest, *items.shape[1:])
    if len(items) == len(lengths) * longest:
        return items.reshape(shape)
    dense = filled(shape, items.dtype, default_value)
    inside = np.arange(longest) < lengths[:, None]
    if items.ndim > 1 and items.size and items.dtype != object:
        _whole(dense, 2)[inside] = _whole(items, 1)
    else:
        dense[inside] = items
    return dense


def _whole(array: Array, dimensions: int) -> Array:
    """The array with each item behind the first ``dimensions`` as one element, which is copied as a whole."""
    items = np.ascontiguousarray(array).reshape(*array.shape[:dimensions], -1)
    return items.view(f"V{items.shape[-1] * items.itemsize}")[..., 0]


def var_len(batch: Batch, feature: str, spec: VarLenFeature) -> Sparse:
    """A Sparse of ``(size, longest)``, each value at its row and its place in the list."""
    column = batch.column(feature)
    if column.uniform is not None:
        longest = column.uniform
        indices = np.empty((len(column.values), 2), np.int64)
        grid = indices.reshape(batch.size, longest, 2)
        grid[:, :, 0] = np.arange(batch.size)[:, None]
        grid[:, :, 1] = np.arange(longest)
        return Sparse(indices, column.values, (batch.size, longest))
    lengths = lengths_of(column)
    longest = int(lengths.max())
    firsts = np.stack((np.arange(batch.size), -column.row_splits[:-1]), axis=1)
    indices = np.repeat(firsts, lengths, axis=0)
    indices[:, 1] += np.arange(len(column.values))
    return Sparse(indices, column.values, (batch.size, longest))


def sparse(batch: Batch, feature: str, spec: SparseFeature) -> Sparse:
    """A Sparse of ``(size, *sizes)`` from the columns of the indices and of the values."""
    column = batch.columns[spec.value_key]
    lengths = lengths_of(column)
    checks = [batch.kind_check(key) for key in (spec.value_key, *spec.index_keys)]
    for key in spec.index_keys:
        found = lengths_of(batch.columns[key])
        checks.append((found != lengths, _unequal(batch, feature, (spec.value_key, key), (lengths, found))))
    first_fault(*checks)
    indices = np.empty((len(column.values), 1 + len(spec.sizes)), np.int64)
    indices[:, 0] = np.repeat(np.arange(batch.size), lengths)
    for dimension, key in enumerate(spec.index_keys, 1):
        indices[:, dimension] = batch.columns[key].values
    _check_range(batch, feature, spec, indices)
    values = column.values
    order = None if spec.already_sorted else _sorted_order(indices, (batch.size, *spec.sizes))
    if order is not None:
        indices, values = indices[order], values[order]
    return Sparse(indices, values, (batch.size, *spec.sizes))


def _sorted_order(indices: Offsets, sizes: tuple[int, ...]) -> Offsets | None:
    """The order that sorts the indices, equal ones as they are; None if they are sorted already."""
    if math.prod(sizes) >= 2**63:
        return np.lexsort(indices.T[::-1])
    # Being in range, an index is a number, and sorting numbers once is cheaper than every dimension.
    places = np.ravel_multi_index(tuple(indices.T), sizes)
    if not bool((places[1:] < places[:-1]).any()):
        return None
    return np.argsort(places, kind="stable")


def _check_range(batch: Batch, feature: str, spec: SparseFeature, indices: Offsets) -> None:
    """An index outside of the sizes would, in the dense form, be a place of another row or of none."""
    outside = (indices[:, 1:] < 0) | (indices[:, 1:] >= spec.sizes)
    if outside.any():
        value, dimension = np.argwhere(outside)[0].tolist()
        row, found, size = int(indices[value, 0]), int(indices[value, 1 + dimension]), spec.sizes[dimension]
        reason = f"index {found} under {spec.index_keys[dimension]!r} is not in [0, {size})"
        raise batch.mismatch(feature, row, "index", reason, expected=size, found=found)


def _unequal(
    batch: Batch, feature: str, keys: tuple[str, str], lengths: tuple[Offsets, Offsets]
) -> Callable[[int], SchemaError]:
    def make(row: int) -> SchemaError:
        expected, found = int(lengths[0][row]), int(lengths[1][row])
        reason = f"{expected} values under {keys[0]!r}, but {found} indices under {keys[1]!r}"
        return batch.mismatch(feature, row, "count", reason, expected=expected, found=found)

    return make


def unbatch(output: Output) -> Output:
    """What the only example of a batch of one is on its own."""
    if isinstance(output, Ragged):
        return output.values
    if isinstance(output, Sparse):
        return Sparse(output.indices[:, 1:], output.values, output.dense_shape[1:])
    return output[0]
