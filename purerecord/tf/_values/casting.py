"""``tf.cast`` and ``tf.saturate_cast``: tensors with another dtype.

This module does not know shapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import as_dtype, float32, int32, string
from ..errors import UnimplementedError
from .operators import kernel_name
from .ragged_sparse import RaggedTensor, SparseTensor
from .tensor import EagerTensor, convert_to_tensor, of_array, to_numpy


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """``x`` with another dtype; fractions are cut off, and integers wrap around."""
    wanted = as_dtype(dtype)
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(cast(x.flat_values, wanted))
    if isinstance(x, SparseTensor):
        return SparseTensor(x.indices, cast(x.values, wanted), x.dense_shape)
    tensor = convert_to_tensor(x)
    if tensor.dtype is wanted:
        return tensor
    if string in (tensor.dtype, wanted):
        raise UnimplementedError(
            None, None, f"Cast {kernel_name(tensor.dtype)} to {kernel_name(wanted)} is not supported"
        )
    array = tensor._array
    with np.errstate(all="ignore"):
        if array.dtype.kind == "c" and not wanted.is_complex:
            array = array.real
        return of_array(array.astype(wanted.as_numpy_dtype))


def to_float(x: Any, name: str | None = None) -> Any:
    """``x`` as float32, in TensorFlow 1."""
    return cast(x, float32)


def to_int32(x: Any, name: str | None = None) -> Any:
    """``x`` as int32, in TensorFlow 1."""
    return cast(x, int32)


def to_int64(x: Any, name: str | None = None) -> Any:
    """``x`` as int64, in TensorFlow 1."""
    return cast(x, "int64")


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> EagerTensor:
    """``cast`` that replaces a value out of range by the nearest one in range."""
    wanted = as_dtype(dtype)
    array = to_numpy(value)
    if wanted.is_integer:
        array = np.clip(array, wanted.min, wanted.max)
    made: EagerTensor = cast(array, wanted)
    return made
