"""Nested structures of dicts and tuples: apply a function, stack elements into a batch, select a row.

A batch of raw records is ``Records``. A batch of numbers or arrays is an array with one more dimension. A
batch of other bytes or of text is an object array, and a batch of dicts is a dict of batches. This module
must not know files or feature specs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...payload.parse.rows import ParsedRows
from ...payload.ragged import Ragged, concatenated
from ...payload.sparse import Sparse
from ...payload.values import filled, object_array
from ...records import Records
from .node import Allocate

_Leaf = Callable[[list[Any], str], Any]


def leaves(structure: Any) -> list[Any]:
    """The leaves of a structure of dicts and tuples."""
    if isinstance(structure, Mapping):
        return [leaf for part in structure.values() for leaf in leaves(part)]
    if isinstance(structure, tuple):
        return [leaf for part in structure for leaf in leaves(part)]
    return [structure]


def apply(function: Callable[[Any], Any], structure: Any) -> Any:
    """The structure with ``function`` applied to every leaf."""
    if isinstance(structure, Mapping):
        return {key: apply(function, part) for key, part in structure.items()}
    if isinstance(structure, tuple):
        return _like(structure, [apply(function, part) for part in structure])
    return function(structure)


def _like(original: tuple[Any, ...], parts: list[Any]) -> Any:
    """The parts as a tuple; a named tuple if ``original`` is one."""
    return type(original)(*parts) if hasattr(original, "_fields") else tuple(parts)


def count_rows(batch: Any) -> int:
    """The number of rows in a batch. All its leaves must have the same number."""
    parts = leaves(batch)
    counts = {_length(leaf) for leaf in parts}
    if len(counts) != 1:
        raise ValueError(f"the parts of a batch must have the same number of rows, not {sorted(counts)}")
    return int(counts.pop())


def _length(leaf: Any) -> int:
    if isinstance(leaf, (bytes, str)) or not hasattr(leaf, "__len__") or getattr(leaf, "ndim", 1) == 0:
        raise ValueError(f"{type(leaf).__name__} has no rows; only a batch can be taken apart")
    return len(leaf)


def select(batch: Any, number: int) -> Any:
    """Row ``number`` of a batch."""
    return apply(lambda leaf: leaf[number], batch)


def stack(elements: Sequence[Any], allocate: Allocate | None = None) -> Any:
    """A batch of the elements; ``allocate`` lends memory for large records."""
    if isinstance(elements, Records):
        return elements
    if isinstance(elements, ParsedRows):
        columns = elements.columns()
        return {
            name: values if isinstance(values, np.ndarray) else _stack_leaves(values, f"[{name!r}]")
            for name, values in columns
        }
    if isinstance(elements[0], bytes):
        return Records.of(elements, allocate=allocate)
    return _merge(list(elements), "", _stack_leaves)


def stack_padded(elements: Sequence[Any], shapes: Any, values: Any) -> Any:
    """A batch of the elements; each leaf is padded to its shape in ``shapes``, or to the longest."""
    return _merge_padded(list(elements), "", shapes, values)


def _merge(elements: list[Any], place: str, leaf: _Leaf) -> Any:
    first = elements[0]
    if isinstance(first, Mapping):
        _check_alike(elements, place)
        return {key: _merge([e[key] for e in elements], f"{place}[{key!r}]", leaf) for key in first}
    if isinstance(first, tuple):
        _check_alike(elements, place)
        parts = [_merge([e[i] for e in elements], f"{place}[{i}]", leaf) for i in range(len(first))]
        return _like(first, parts)
    return leaf(elements, place)


def _check_alike(elements: list[Any], place: str) -> None:
    first = elements[0]
    for element in elements:
        if (
            type(element) is not type(first)
            or len(element) != len(first)
            or (isinstance(first, Mapping) and element.keys() != first.keys())
        ):
            raise ValueError(f"elements{place} differ in structure, so they make no batch")


def _stack_leaves(leaves: list[Any], place: str) -> Any:
    first = leaves[0]
    if isinstance(first, (bytes, str, type(None))):
        return object_array(leaves)
    if isinstance(first, (Records, list)):
        return leaves
    if isinstance(first, Sparse):
        return _stack_sparse(leaves)
    if isinstance(first, Ragged):
        return _stack_ragged(leaves)
    arrays = [np.asarray(leaf) for leaf in leaves]
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise ValueError(
            f"elements{place} have different shapes, such as {sorted(shapes)[:3]}, and make no batch; use "
            f"padded_batch, or parse after batch, where a RaggedFeature keeps every row's length"
        )
    return np.stack(arrays)


def _stack_sparse(parts: list[Sparse]) -> Sparse:
    numbers = [np.full((len(part.values), 1), number, np.int64) for number, part in enumerate(parts)]
    indices = [np.hstack([n, part.indices]) for n, part in zip(numbers, parts, strict=True)]
    shape = np.array([part.dense_shape for part in parts]).max(axis=0).tolist()
    values = np.concatenate([part.values for part in parts])
    return Sparse(np.concatenate(indices), values, (len(parts), *shape))


def _stack_ragged(parts: list[Ragged]) -> Ragged:
    splits = np.cumsum([0, *(len(part) for part in parts)])
    return Ragged(concatenated(parts), splits)


def _merge_padded(elements: list[Any], place: str, shapes: Any, values: Any) -> Any:
    first = elements[0]
    if isinstance(first, Mapping):
        _check_alike(elements, place)
        return {
            key: _merge_padded(
                [e[key] for e in elements], f"{place}[{key!r}]", _part(shapes, key), _part(values, key)
            )
            for key in first
        }
    if isinstance(first, tuple):
        _check_alike(elements, place)
        parts = [
            _merge_padded([e[i] for e in elements], f"{place}[{i}]", _part(shapes, i), _part(values, i))
            for i in range(len(first))
        ]
        return _like(first, parts)
    return _pad(elements, place, shapes, values)


def _part(structure: Any, key: Any) -> Any:
    """The entry for one part in a structure of shapes or values; a single shape or value is for all."""
    if isinstance(structure, Mapping) or (isinstance(structure, tuple) and isinstance(key, int)):
        return structure[key]
    return structure


def _pad(elements: list[Any], place: str, shape: Any, value: Any) -> Any:
    if isinstance(elements[0], (bytes, str)):
        return _stack_leaves(elements, place or "[0]")
    if isinstance(elements[0], (Sparse, Ragged)):
        elements = [element.to_dense() for element in elements]
    arrays = [np.asarray(element) for element in elements]
    if len({array.ndim for array in arrays}) > 1:
        raise ValueError(f"elements{place} differ in their number of dimensions, so they make no batch")
    longest = (
        np.array([array.shape for array in arrays], np.int64).reshape(len(arrays), -1).max(axis=0).tolist()
    )
    wanted = [None] * len(longest) if shape is None else list(shape)
    if len(wanted) != len(longest):
        raise ValueError(f"padded_shapes{place} has {len(wanted)} dimensions, the elements {len(longest)}")
    sizes = [size if want in (None, -1) else want for want, size in zip(wanted, longest, strict=True)]
    if any(size > limit for size, limit in zip(longest, sizes, strict=True)):
        raise ValueError(f"an element{place} of shape {tuple(longest)} does not fit into {tuple(sizes)}")
    batch = filled((len(arrays), *sizes), np.result_type(*{array.dtype for array in arrays}), value)
    for number, array in enumerate(arrays):
        batch[number, ...][tuple(map(slice, array.shape))] = array  # with "...", a scalar is an array too
    return batch
