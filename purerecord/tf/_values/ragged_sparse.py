"""Values of the core as tensors and back: ``wrap`` turns an array, ``Ragged`` or ``Sparse`` into a tensor.

This module does not know how such values are parsed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...payload.ragged import Ragged
from ...payload.sparse import Sparse
from .ragged_tensor import RaggedTensor
from .shapes import TypeSpec
from .sparse_tensor import SparseTensor
from .tensor import EagerTensor, Tensor, convert_to_tensor, of_array, spec_of

__all__ = ["RaggedTensor", "SparseTensor", "type_spec_from_value", "unwrap", "wrap"]


def wrap(value: Any) -> Any:
    """A value of the core as a tensor: an array, a scalar, ``bytes``, a ``Ragged`` or a ``Sparse``."""
    if isinstance(value, np.generic):
        return EagerTensor(np.asarray(value))
    if isinstance(value, Ragged):
        return RaggedTensor(value)
    if isinstance(value, Sparse):
        return SparseTensor.of(value)
    return value if isinstance(value, Tensor) else of_array(value)


def unwrap(value: Any) -> Any:
    """A tensor as a value of the core: its array, ``Ragged`` or ``Sparse``. Other values stay as they are."""
    if isinstance(value, EagerTensor):
        return value._array
    if isinstance(value, RaggedTensor):
        return value._ragged
    return value._sparse if isinstance(value, SparseTensor) else value


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a tensor, or of a value that can become one."""
    if isinstance(value, (RaggedTensor, SparseTensor)):
        return value.spec
    return spec_of(convert_to_tensor(value))
