"""``tf.image.convert_image_dtype``: the same image in another dtype.

This module does not know image files.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._values.casting import cast, saturate_cast
from .._values.convert import Array
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from ..dtypes import as_dtype


def image_array(image: Any) -> Array:
    """The pixels of an image or of a batch of images."""
    array = to_numpy(image)
    if array.ndim not in (3, 4):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    return array


def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> EagerTensor:
    """The same image in another dtype: integers stand for their whole range, floats for 0 to 1.

    ``saturate`` limits values out of range instead of letting them overflow.
    """
    tensor = convert_to_tensor(image)
    wanted = as_dtype(dtype)
    if not (wanted.is_floating or wanted.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    if not (tensor.dtype.is_floating or tensor.dtype.is_integer):
        raise AttributeError("image dtype must be either floating point or integer")
    made: EagerTensor
    if tensor.dtype is wanted:
        return tensor
    to_integers = saturate_cast if saturate else cast
    if tensor.dtype.is_integer and wanted.is_integer:
        made = _between_integers(tensor, wanted, to_integers)
    elif tensor.dtype.is_integer:
        floats = cast(tensor, wanted)._array
        made = of_array(np.asarray(floats * floats.dtype.type(1.0 / tensor.dtype.max)))
    elif wanted.is_integer:
        array = tensor._array
        made = to_integers(of_array(np.asarray(array * array.dtype.type(wanted.max + 0.5))), wanted)
    else:
        made = cast(tensor, wanted)
    return made


def _between_integers(tensor: EagerTensor, wanted: Any, to_integers: Any) -> Any:
    old, new = int(tensor.dtype.max), int(wanted.max)
    if old > new:
        return to_integers(tensor // ((old + 1) // (new + 1)), wanted)
    return to_integers(tensor, wanted) * ((new + 1) // (old + 1))
