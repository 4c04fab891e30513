"""Builds what a spec asks for from columns: dense arrays and ``Sparse``, all rows at once.

Each function takes ``CheckedColumns`` and one spec. It checks before it builds, so an error names the first
record at fault. Nothing here loops over rows. ``RaggedFeature`` is in ``partitions``. This module does not
know how the columns were decoded, nor whether a row is an example or a step of a feature list.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...bytes_column import BytesColumn
from ...errors import SchemaError
from ..dtypes import array_dtype
from ..ragged import Ragged
from ..sparse import Sparse
from ..specs import FixedLenFeature, FixedLenSequenceFeature, SparseFeature, VarLenFeature
from ..values import Array, Offsets, filled
from .checked_columns import CheckedColumns, Mask, lengths_of, raise_first_fault

Output = Any  # an ndarray, a Sparse or a Ragged; numpy's scalars and bytes for a single example


def fixed_len(batch: CheckedColumns, feature: str, spec: FixedLenFeature) -> Array | BytesColumn:
    """An array of ``(size, *shape)``, or a ``BytesColumn`` if the column is one.

    A row without the feature gets the default.
    """
    column = batch.columns[feature]
    shape = (batch.size, *spec.shape)
    if column.kinds is None and column.uniform == spec.count:
        return np.asarray(column.values).reshape(shape) if spec.shape else column.values
    absent = batch.kinds(feature) <= 0
    remedy = "give a default_value if it may be missing"
    if not spec.count:
        remedy = "no default_value stands for a shape without values; use RaggedFeature if it may be missing"
    needs = f"shape {spec.shape} needs {spec.count}"
    raise_first_fault(
        batch.kind_check(feature),
        (absent & (spec.default is None), partial(batch.missing, feature, spec.dtype, remedy)),
        (
            ~absent & (lengths_of(column) != spec.count),
            partial(batch.count_mismatch, feature, needs, spec.count),
        ),
    )
    if isinstance(column.values, BytesColumn) and not spec.shape:
        return _with_default(column.values, absent, spec.default)
    dense = np.empty(shape, array_dtype(spec.dtype))
    dense[~absent] = np.asarray(column.values).reshape(-1, *spec.shape) if spec.count else 0
    if spec.default is not None:
        dense[absent] = spec.default
    return dense


def _with_default(values: BytesColumn, absent: Mask, default: Any) -> BytesColumn:
    """``values`` in the rows that are not ``absent``, the default in the others."""
    if not absent.any():
        return values
    string = b"" if default is None else default.item()
    order = np.full(len(absent), len(values))
    order[~absent] = np.arange(len(values))
    if not string:  # which is at any place
        ends = BytesColumn(values.buffer, np.append(values.begins, 0), np.append(values.ends, 0))
        return ends.take(order)
    return BytesColumn.concat([values, BytesColumn.of([string])]).take(order)


def fixed_len_sequence(batch: CheckedColumns, feature: str, spec: FixedLenSequenceFeature) -> Array:
    """An array of ``(size, longest, *shape)``; shorter rows are padded with the default."""
    column = batch.columns[feature]
    lengths = lengths_of(column)
    needs = f"items of shape {spec.shape} need a multiple of {spec.count}"
    raise_first_fault(
        batch.kind_check(feature),
        (lengths % spec.count != 0, partial(batch.count_mismatch, feature, needs, spec.count)),
    )
    items = np.asarray(column.values).reshape(-1, *spec.shape)
    return padded(items, lengths // spec.count, spec.default_value)


def padded(items: Array, lengths: Offsets, default_value: Any) -> Array:
    """Rows of ``lengths`` items each, padded to the longest with ``default_value``."""
    longest = int(lengths.max()) if len(lengths) else 0
    shape = (len(lengths), longest, *items.shape[1:])
    if len(items) == len(lengths) * longest:
        return items.reshape(shape)
    dense = filled(shape, items.dtype, default_value)
    inside = np.arange(longest) < lengths[:, None]
    if items.ndim > 1 and items.size and items.dtype != object:
        _items_as_elements(dense, 2)[inside] = _items_as_elements(items, 1)
    else:
        dense[inside] = items
    return dense


def _items_as_elements(array: Array, dimensions: int) -> Array:
    """A view of ``array`` in which everything below the first ``dimensions`` is one void element.

    numpy then copies an item at once instead of number by number.
    """
    items = np.ascontiguousarray(array).reshape(*array.shape[:dimensions], -1)
    return items.view(f"V{items.shape[-1] * items.itemsize}")[..., 0]


def var_len(batch: CheckedColumns, feature: str, spec: VarLenFeature) -> Sparse:
    """A Sparse of ``(size, longest)``; the index of a value is its row and its position in the list."""
    column = batch.column(feature)
    if column.uniform is not None:
        longest = column.uniform
        indices = np.empty((len(column.values), 2), np.int64)
        grid = indices.reshape(batch.size, longest, 2)
        grid[:, :, 0] = np.arange(batch.size)[:, None]
        grid[:, :, 1] = np.arange(longest)
        return Sparse(indices, np.asarray(column.values), (batch.size, longest))
    lengths = lengths_of(column)
    longest = int(lengths.max())
    firsts = np.stack((np.arange(batch.size), -column.row_splits[:-1]), axis=1)
    indices = np.repeat(firsts, lengths, axis=0)
    indices[:, 1] += np.arange(len(column.values))
    return Sparse(indices, np.asarray(column.values), (batch.size, longest))


def sparse(batch: CheckedColumns, feature: str, spec: SparseFeature) -> Sparse:
    """A Sparse of ``(size, *sizes)`` from the index columns and the value column."""
    column = batch.columns[spec.value_key]
    lengths = lengths_of(column)
    checks = [batch.kind_check(key) for key in (spec.value_key, *spec.index_keys)]
    for key in spec.index_keys:
        found = lengths_of(batch.columns[key])
        checks.append((found != lengths, _unequal(batch, feature, (spec.value_key, key), (lengths, found))))
    raise_first_fault(*checks)
    indices = np.empty((len(column.values), 1 + len(spec.sizes)), np.int64)
    indices[:, 0] = np.repeat(np.arange(batch.size), lengths)
    for dimension, key in enumerate(spec.index_keys, 1):
        indices[:, dimension] = batch.columns[key].values
    _check_range(batch, feature, spec, indices)
    values = np.asarray(column.values)
    order = None if spec.already_sorted else _sorted_order(indices, (batch.size, *spec.sizes))
    if order is not None:
        indices, values = indices[order], values[order]
    return Sparse(indices, values, (batch.size, *spec.sizes))


def _sorted_order(indices: Offsets, sizes: tuple[int, ...]) -> Offsets | None:
    """The stable order that sorts the indices; None if they are sorted already."""
    if math.prod(sizes) >= 2**63:
        return np.lexsort(indices.T[::-1])
    # The indices are in range, so each is one flat index. One sort of those costs less than lexsort.
    flat = np.ravel_multi_index(tuple(indices.T), sizes)
    if not bool((flat[1:] < flat[:-1]).any()):
        return None
    return np.argsort(flat, kind="stable")


def _check_range(batch: CheckedColumns, feature: str, spec: SparseFeature, indices: Offsets) -> None:
    """Raise the error of the first index outside of the sizes.

    In the dense form, such an index would be an element of another row, or of none.
    """
    outside = (indices[:, 1:] < 0) | (indices[:, 1:] >= spec.sizes)
    if outside.any():
        value, dimension = np.argwhere(outside)[0].tolist()
        row, found, size = int(indices[value, 0]), int(indices[value, 1 + dimension]), spec.sizes[dimension]
        reason = f"index {found} under {spec.index_keys[dimension]!r} is not in [0, {size})"
        raise batch.mismatch(feature, row, "index", reason, expected=size, found=found)


def _unequal(
    batch: CheckedColumns, feature: str, keys: tuple[str, str], lengths: tuple[Offsets, Offsets]
) -> Callable[[int], SchemaError]:
    def make(row: int) -> SchemaError:
        expected, found = int(lengths[0][row]), int(lengths[1][row])
        reason = f"{expected} values under {keys[0]!r}, but {found} indices under {keys[1]!r}"
        return batch.mismatch(feature, row, "count", reason, expected=expected, found=found)

    return make


def unbatch(output: Output) -> Output:
    """The output of a single example, from that of a batch of one."""
    if isinstance(output, Ragged):
        return output.values
    if isinstance(output, Sparse):
        return Sparse(output.indices[:, 1:], output.values, output.dense_shape[1:])
    return output[0]
