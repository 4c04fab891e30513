"""``tf.cast`` and ``tf.saturate_cast``: tensors with another dtype.

This module does not know shapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import DType, as_dtype, float32, int32, of_numpy, string
from ..errors import UnimplementedError
from .dispatch import each_element
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


def to_double(x: Any, name: str | None = None) -> Any:
    """``x`` as float64, in TensorFlow 1."""
    return cast(x, "float64")


def to_bfloat16(x: Any, name: str | None = None) -> Any:
    """``x`` as bfloat16, in TensorFlow 1."""
    return cast(x, "bfloat16")


def to_complex64(x: Any, name: str | None = None) -> Any:
    """``x`` as complex64, in TensorFlow 1."""
    return cast(x, "complex64")


def to_complex128(x: Any, name: str | None = None) -> Any:
    """``x`` as complex128, in TensorFlow 1."""
    return cast(x, "complex128")


@each_element
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> EagerTensor:
    """``cast`` that replaces a value out of range by the nearest one in range."""
    wanted = as_dtype(dtype)
    array = to_numpy(value)
    if array.dtype.kind == "c":
        if wanted.is_complex:
            parts = (saturate_cast(part, wanted.real_dtype)._array for part in (array.real, array.imag))
            real, imaginary = parts
            return of_array((real + 1j * imaginary).astype(wanted.as_numpy_dtype))
        array = array.real
    made: EagerTensor = cast(np.clip(array, *_limits(of_numpy(array.dtype), wanted.real_dtype)), wanted)
    return made


def _limits(source: DType, target: DType) -> tuple[Any, Any]:
    """The least and the greatest number of ``source`` that ``target`` has, too."""
    limits = []
    for own, other in ((source.min, target.min), (source.max, target.max)):
        limit = min(_number(own), _number(other), key=abs)  # the nearer to 0
        stored = source.as_numpy_dtype(limit)
        if abs(_number(stored)) > abs(limit):  # it was rounded up
            stored = np.nextafter(stored, source.as_numpy_dtype(0))
        limits.append(stored)
    return limits[0], limits[1]


def _number(value: Any) -> Any:
    """A numpy scalar as a Python number. Integers and floats are compared exactly there."""
    if isinstance(value, np.generic):
        found = value.item()
        return found if isinstance(found, (int, float)) else float(value)
    return value
