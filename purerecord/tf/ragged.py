"""``tf.ragged``: functions that create and change ragged tensors.

This module does not know Examples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._missing import missing
from ._values.joining import stack as dense_stack
from ._values.ragged_creation import cross, row_splits_to_segment_ids, segment_ids_to_row_splits
from ._values.ragged_creation import ragged_constant as constant
from ._values.ragged_creation import ragged_range as range  # noqa: A004
from ._values.ragged_operations import boolean_mask, each_value, stack_dynamic_partitions
from ._values.ragged_operations import stack as ragged_stack

__all__ = [
    "boolean_mask",
    "constant",
    "cross",
    "map_flat_values",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
    "stack_dynamic_partitions",
]


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Tensors, ragged or of different shapes, stacked along a new dimension."""
    return ragged_stack(dense_stack, values, axis)


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``op`` of the innermost values of the ragged tensors among the arguments, with the same rows."""
    return each_value(op, *args, **kwargs)


__getattr__ = missing("ragged")
