"""``tf.nest``: functions of nested structures of lists, tuples, named tuples and dictionaries.

This module does not know tensors, except that ``expand_composites`` takes ragged and sparse ones apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ._missing import missing
from ._values import list_nest
from ._values.list_nest import parts

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]


def is_nested(seq: Any) -> bool:
    """Whether ``seq`` is a structure and not a leaf."""
    return list_nest.is_nested(seq)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves; those of a dictionary in the order of its sorted keys."""
    return list_nest.flatten(structure, bool(expand_composites))


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """A structure of the same form with other leaves, in the order of ``flatten``."""
    if not is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found incompatible type "
            f"`{type(flat_sequence)}` instead."
        )
    leaves = list_nest.flatten(flat_sequence) if isinstance(flat_sequence, Mapping) else list(flat_sequence)
    count = len(flatten(structure, expand_composites))
    if parts(structure, expand_composites) is None:
        if len(leaves) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {structure}\nHowever the input is a "
                f"sequence ({type(flat_sequence)}) of length {len(leaves)}.\n  {flat_sequence}\nnest cannot "
                "guarantee that it is safe to map one to the other."
            )
        return leaves[0]
    if count != len(leaves):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence "
            f"had {len(leaves)} items.  "
            f"Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return list_nest.pack(structure, leaves, bool(expand_composites))


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """The first structure with ``func`` applied to the leaves of all, which have the same form."""
    if not callable(func):
        raise TypeError(f"`func` must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types, expand = kwargs.pop("check_types", True), bool(kwargs.pop("expand_composites", False))
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(kwargs)}`"
        )
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    leaves = [list_nest.flatten(one, expand) for one in structure]
    return list_nest.pack(structure[0], [func(*row) for row in zip(*leaves, strict=True)], expand)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise an error unless both structures have their leaves in the same places."""
    if not isinstance(check_types, bool):
        raise TypeError(f"check_types must be a bool, not {type(check_types).__name__}")
    problem = _difference(nest1, nest2, check_types, bool(expand_composites))
    if problem is not None:
        kind, text = problem
        raise kind(f"The two structures don't have the same nested structure.\n\n{text}")


def _difference(one: Any, two: Any, check_types: bool, expand: bool) -> tuple[type[Exception], str] | None:  # noqa: PLR0911
    first, second = parts(one, expand), parts(two, expand)
    if first is None or second is None:
        if first is second:
            return None
        return (
            ValueError,
            f"First structure: type={type(one).__name__}\n\nSecond structure: type={type(two).__name__}",
        )
    if check_types and not _same_type(one, two):
        return TypeError, f"types differ: {type(one)} and {type(two)}"
    if isinstance(one, Mapping) and isinstance(two, Mapping) and set(one) != set(two):
        return (
            ValueError,
            f"The two dictionaries don't have the same set of keys: {list(one)} and {list(two)}",
        )
    if len(first) != len(second):
        return (
            ValueError,
            f"The two structures don't have the same number of elements: {len(first)} and {len(second)}",
        )
    for inner in zip(first, second, strict=True):
        found = _difference(*inner, check_types, expand)
        if found is not None:
            return found
    return None


def _same_type(one: Any, two: Any) -> bool:
    if type(one) is type(two) or (isinstance(one, Mapping) and isinstance(two, Mapping)):
        return True
    fields = getattr(one, "_fields", None)
    return (
        fields is not None
        and fields == getattr(two, "_fields", None)
        and type(one).__name__ == type(two).__name__
    )


__getattr__ = missing("nest")
