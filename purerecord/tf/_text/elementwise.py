"""One function for each string of a tensor, dense or ragged.

This module does not know what the functions compute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._values.convert import Array
from .._values.operators import kernel_name
from .._values.ragged_sparse import RaggedTensor
from .._values.tensor import EagerTensor, convert_to_tensor, of_array
from ..dtypes import string
from ..errors import invalid


def string_tensor(value: Any, op: str, convert: bool = False) -> EagerTensor | RaggedTensor:
    """A tensor of strings, dense or ragged. A tensor of another dtype is an error of the operation.

    With ``convert``, what is no tensor is converted to strings, so an empty list has none.
    """
    if isinstance(value, RaggedTensor):
        found: EagerTensor | RaggedTensor = value
    elif convert:
        return convert_to_tensor(value, string)
    else:
        found = convert_to_tensor(value)
    if found.dtype is not string:
        raise invalid(
            f"cannot compute {op} as input #0(zero-based) was expected to be a string tensor but is a "
            f"{kernel_name(found.dtype)} tensor"
        )
    return found


def string_array(value: Any, op: str, convert: bool = False) -> Array:
    """The strings of a dense tensor; a ragged one is an error."""
    tensor = string_tensor(value, op, convert)
    if isinstance(tensor, RaggedTensor):
        raise invalid(f"{op} takes no ragged tensors")
    return tensor._array


def texts_of(array: Array) -> list[bytes]:
    """The strings of an array, in one list."""
    texts: list[bytes] = array.reshape(-1).tolist()
    return texts


def each(op: str, function: Callable[[bytes], Any], value: Any, dtype: Any = object) -> Any:
    """``function`` of each string, as a tensor of the same shape."""
    tensor = string_tensor(value, op, convert=not isinstance(value, EagerTensor))
    if isinstance(tensor, RaggedTensor):
        return tensor.with_flat_values(each(op, function, tensor.flat_values, dtype))
    array = tensor._array
    made = np.empty(array.size, dtype)
    for position, text in enumerate(texts_of(array)):
        made[position] = function(text)
    return of_array(made.reshape(array.shape))
