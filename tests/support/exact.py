"""Values and errors in a form in which they are equal only if nobody can tell them apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import purerecord as pr
from purerecord.tf._values.ragged_sparse import RaggedTensor, SparseTensor, unwrap
from purerecord.tf._values.tensor import EagerTensor


def exact(value: Any) -> Any:  # noqa: PLR0911 - one for each type
    """``value`` with its types, dtypes, shapes, bits and the order of its keys."""
    if isinstance(value, Mapping):
        return [(key, exact(part)) for key, part in value.items()]
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [exact(part) for part in value]
    if isinstance(value, np.ndarray):
        content = value.tolist() if value.dtype == object else value.tobytes()
        return "array", value.dtype.str, value.shape, content
    if isinstance(value, np.generic):
        return type(value).__name__, value.tobytes()
    if isinstance(value, pr.Ragged):
        masks = exact(value.missing), exact(value.untyped)
        return "ragged", exact(value.values), exact(value.row_splits), masks
    if isinstance(value, pr.Sparse):
        return "sparse", exact(value.indices), exact(value.values), repr(value.dense_shape)
    if isinstance(value, EagerTensor):
        return "tensor", exact(value._array)
    if isinstance(value, (RaggedTensor, SparseTensor)):
        return type(value).__name__, exact(unwrap(value))
    return type(value).__name__, value


def outcome(function: Callable[[], Any]) -> Any:
    """What a call gives: its value, or its error with everything that it says."""
    try:
        value = function()
    except Exception as error:
        said = {name: repr(part) for name, part in vars(error).items() if not name.startswith("_")}
        return "error", type(error).__name__, str(error), said
    return "value", exact(value)
