"""Nested structures in which lists are structures, too: what ``tf.nest`` and the loops work on.

Leaves are everything but lists, tuples, named tuples and mappings. Ragged and sparse tensors are leaves,
too; with ``expand`` they are structures of their parts. This module does not know what a leaf is otherwise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .ragged_tensor import RaggedTensor
from .sparse_tensor import SparseTensor


def is_nested(value: Any) -> bool:
    """Whether ``value`` is a structure and not a leaf."""
    return isinstance(value, (list, tuple, Mapping)) and not isinstance(value, (str, bytes))


def keys_of(structure: Mapping[Any, Any]) -> list[Any]:
    """The keys in the order of their leaves."""
    try:
        return sorted(structure)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def parts(structure: Any, expand: bool = False) -> list[Any] | None:
    """What a structure consists of; None for a leaf."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in keys_of(structure)]
    if isinstance(structure, (list, tuple)):
        return list(structure)
    if expand and isinstance(structure, RaggedTensor):
        return [structure.flat_values, *structure.nested_row_splits]
    if expand and isinstance(structure, SparseTensor):
        return [structure.indices, structure.values, structure.dense_shape]
    return None


def flatten(structure: Any, expand: bool = False) -> list[Any]:
    """The leaves; those of a mapping in the order of its sorted keys."""
    inner = parts(structure, expand)
    return [structure] if inner is None else [leaf for part in inner for leaf in flatten(part, expand)]


def pack(structure: Any, leaves: Iterable[Any], expand: bool = False) -> Any:
    """A structure of the same form with other leaves, in the order of ``flatten``."""
    return _pack(structure, iter(leaves), expand)


def _pack(structure: Any, leaves: Iterator[Any], expand: bool) -> Any:
    inner = parts(structure, expand)
    if inner is None:
        return next(leaves)
    if isinstance(structure, Mapping):
        made = {key: _pack(structure[key], leaves, expand) for key in keys_of(structure)}
        ordered = {key: made[key] for key in structure}
        if isinstance(structure, defaultdict):
            return type(structure)(structure.default_factory, ordered)
        return ordered if type(structure) is dict else type(structure)(ordered)  # type: ignore[call-arg]
    packed = [_pack(part, leaves, expand) for part in inner]
    if isinstance(structure, RaggedTensor):
        return RaggedTensor.from_nested_row_splits(packed[0], packed[1:])
    if isinstance(structure, SparseTensor):
        return SparseTensor(*packed)
    return type(structure)(*packed) if hasattr(structure, "_fields") else type(structure)(packed)


def apply(function: Callable[..., Any], first: Any, *others: Any) -> Any:
    """The structure ``first`` with ``function`` applied to its leaves and those of the others."""
    return pack(first, map(function, *map(flatten, (first, *others))))
