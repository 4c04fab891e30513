"""Nested structures, as TensorFlow's ``nest``: tuples, named tuples, dictionaries and records of leaves.

A record is an object of a class made by ``attrs``, or of one with TensorFlow's ``__tf_flatten__`` and
``__tf_unflatten__``, such as a dataclass. A leaf is anything else. A list is a leaf, too, because it stands
for a tensor. This module does not know what a leaf is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


def is_nested(value: Any) -> bool:
    """Whether ``value`` is a structure and not a leaf."""
    return isinstance(value, (tuple, Mapping)) or _is_record(value)


def _is_record(value: Any) -> bool:
    kind = type(value)
    return hasattr(kind, "__tf_flatten__") or hasattr(kind, "__attrs_attrs__")


def _fields_of(record: Any) -> tuple[Any, tuple[Any, ...]]:
    """What tells records of one class apart, and their parts."""
    kind = type(record)
    if hasattr(kind, "__tf_flatten__"):
        metadata, parts = record.__tf_flatten__()
        return metadata, tuple(parts)
    return None, tuple(getattr(record, field.name) for field in kind.__attrs_attrs__)


def children(structure: Any) -> tuple[Any, ...]:
    """The parts of a structure; those of a dictionary in the order of its sorted keys."""
    if isinstance(structure, Mapping):
        return tuple(structure[key] for key in sorted(structure))
    return structure if isinstance(structure, tuple) else _fields_of(structure)[1]


def flatten(structure: Any) -> list[Any]:
    """The leaves; those of a dictionary in the order of its sorted keys."""
    if isinstance(structure, Mapping):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if isinstance(structure, tuple):
        return [leaf for part in structure for leaf in flatten(part)]
    if _is_record(structure):
        return flatten(_fields_of(structure)[1])
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
    if _is_record(structure):
        metadata, inner = _fields_of(structure)
        packed = tuple(_pack(part, leaves) for part in inner)
        if hasattr(structure, "__tf_unflatten__"):
            return structure.__tf_unflatten__(metadata, packed)
        return type(structure)(*packed)
    return next(leaves)


def apply(function: Callable[..., Any], first: Any, *others: Any) -> Any:
    """The structure ``first`` with ``function`` applied to its leaves and those of the others."""
    if not is_nested(first):
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
    if _is_record(one):
        if type(one) is not type(other):
            return False
        (metadata, parts), (other_metadata, other_parts) = _fields_of(one), _fields_of(other)
        return bool(metadata == other_metadata) and same(parts, other_parts)
    return not is_nested(other)
