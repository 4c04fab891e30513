"""``tf.make_tensor_proto`` and ``tf.make_ndarray``: tensors as messages TensorProto and back.

This module does not know files.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...payload import tensor as core
from ..dtypes import as_dtype
from ..errors import translated
from .convert import Array
from .tensor import convert_to_tensor


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """A message ``TensorProto`` of the values, of this dtype and shape."""
    from ...payload.proto import TensorProto  # noqa: PLC0415 - it needs protobuf

    if type(values).__name__ == "TensorProto":
        return values
    if values is None:
        raise ValueError("None values not supported.")
    array = convert_to_tensor(values, None if dtype is None else as_dtype(dtype))._array
    if shape is not None:
        dims = tuple(int(length) for length in shape)
        if verify_shape and dims != array.shape:
            raise TypeError(f"Expected Tensor's shape: {dims}, but got {array.shape}.")
        if allow_broadcast and array.size == 1:
            array = np.broadcast_to(array, dims)
        if math.prod(dims) != array.size:
            if not (array.size == 1 or array.size < math.prod(dims)) or verify_shape:
                raise ValueError(f"cannot reshape array of size {array.size} into shape {dims}")
            rest = [array.reshape(-1)[-1]] * (math.prod(dims) - array.size)
            array = np.concatenate([array.reshape(-1), np.array(rest, array.dtype)])
        array = array.reshape(dims)
    return TensorProto.FromString(core.serialize_tensor(np.ascontiguousarray(array) if array.ndim else array))


def make_ndarray(tensor: Any) -> Array:
    """The array in a message ``TensorProto``."""
    with translated():
        return core.parse_tensor(tensor)
