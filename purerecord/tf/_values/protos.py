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
    dims = array.shape if shape is None else tuple(int(length) for length in shape)
    if verify_shape and dims != array.shape:
        raise TypeError(f"Expected Tensor's shape: {dims}, but got {array.shape}.")
    if allow_broadcast and array.size == 1:
        array = np.broadcast_to(array, dims)
    size = math.prod(dims)
    if array.size > size or (array.size != size and verify_shape):
        raise ValueError(f"Too many elements provided. Takes at most {size}, but got {array.size}")
    if array.size == size and size > 1:
        return TensorProto.FromString(core.serialize_tensor(np.ascontiguousarray(array.reshape(dims))))
    made = TensorProto.FromString(
        core.serialize_tensor(np.zeros(0, array.dtype) if array.dtype != object else array)
    )
    made.ClearField("tensor_content")
    made.ClearField("string_val")
    made.ClearField("tensor_shape")
    made.tensor_shape.SetInParent()
    for length in dims:
        made.tensor_shape.dim.add().size = length
    _add_values(made, array.reshape(-1))
    return made


_FIELDS = {
    "float32": "float_val",
    "float64": "double_val",
    "int64": "int64_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    "bool": "bool_val",
    "object": "string_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
}


def _add_values(message: Any, flat: Array) -> None:
    """Adds the elements to the field of ``message`` for their dtype."""
    name = flat.dtype.name
    if name in ("float16", "bfloat16"):
        message.half_val.extend(flat.view(np.uint16).tolist())
    elif flat.dtype.kind == "c":
        getattr(message, _FIELDS[name]).extend(flat.view(flat.real.dtype).tolist())
    else:
        getattr(message, _FIELDS.get(name, "int_val")).extend(flat.tolist())


def make_ndarray(tensor: Any) -> Array:
    """The array in a message ``TensorProto``."""
    with translated():
        return core.parse_tensor(tensor)
