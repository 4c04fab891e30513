"""Nested structures, as TensorFlow's ``nest``: tuples, named tuples and dictionaries of leaves.

A leaf is anything else. A list is a leaf, too, because it stands for a tensor. This module does not know
what a leaf is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


def is_nested(value: Any) -> bool:
    """Whether ``value`` is a structure and not a leaf."""
    return isinstance(value, (tuple, Mapping))


def flatten(structure: Any) -> list[Any]:
    """The leaves; those of a dictionary in the order of its sorted keys."""
    if isinstance(structure, Mapping):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if isinstance(structure, tuple):
        return [leaf for part in structure for leaf in flatten(part)]
    return [structure]


def pack(structure: Any, leaves: Iterable[Any]) -> Any:
    """A structure of the same form with other leaves, in the order of ``flatten``."""
    return _pack(structure, iter(leaves))


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, Mapping):
        parts = {key: _pack(structure[key], leaves) for key in sorted(structure)}
        ordered = {key: parts[key] for key in structure}
        return ordered if type(structure) is dict else type(structure)(ordered)  # type: ignore[call-arg]
    if isinstance(structure, tuple):
        fields = [_pack(part, leaves) for part in structure]
        return type(structure)(*fields) if hasattr(structure, "_fields") else tuple(fields)
    return next(leaves)


def apply(function: Callable[..., Any], first: Any, *others: Any) -> Any:
    """The structure ``first`` with ``function`` applied to its leaves and those of the others."""
    if not isinstance(first, (tuple, Mapping)):
        return function(first, *others)
    return pack(first, map(function, *map(flatten, (first, *others))))


def same(one: Any, other: Any) -> bool:
    """Whether two structures have their leaves in the same places."""
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and one.keys() == other.keys()
            and all(same(one[key], other[key]) for key in one)
        )
    if isinstance(one, tuple):
        return (
            isinstance(other, tuple)
            and len(one) == len(other)
            and all(same(*pair) for pair in zip(one, other, strict=True))
        )
    return not is_nested(other)
