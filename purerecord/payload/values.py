"""From what a caller hands in to numpy arrays and bytes, with an error instead of a silent loss.

Every encoder needs these few steps, whatever it then writes: rows, columns or tensors; there the error is
an ``EncodeError``. Padding and defaults need ``converted``, where it is any ``ValueError``. This module
does not know of messages.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import EncodeError

Array = npt.NDArray[Any]


def as_array(value: Any, feature: str | None = None) -> Array:
    """``value`` as an array, if it is one or offers ``__array__``, as tensors of other libraries do."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise EncodeError("a masked array would lose its mask; fill it first", feature=feature)
    try:
        array = value.__array__()
        # TensorFlow's scalars give a scalar instead; of bfloat16, np.asarray(value) would not take it.
        return np.asarray(array if isinstance(array, (np.ndarray, np.generic)) else value)
    except Exception as error:
        # Whatever a foreign tensor raises: that it needs detaching, lives on a device, is ragged, ...
        reason = f"cannot make an array of a {type(value).__name__}: {error}"
        raise EncodeError(reason, feature=feature) from error


def is_extra(dtype: np.dtype[Any]) -> bool:
    """Whether ``dtype`` is one of ml_dtypes, such as bfloat16, which numpy itself knows nothing of."""
    return dtype.type.__module__ == "ml_dtypes"


def converted(values: Array, dtype: npt.DTypeLike) -> Array:
    """Numbers as ``dtype``: a float may be rounded to another, but nothing else may change its value.

    Otherwise it is a ValueError, or a TypeError where numbers are asked for and there are none.
    """
    dtype = np.dtype(dtype)
    if values.dtype == dtype or is_extra(values.dtype) or is_extra(dtype):
        return values.astype(dtype, copy=False)
    if values.dtype.kind not in "biuf" or dtype.kind not in "biuf":
        raise TypeError(f"{values.dtype} cannot become {dtype}")
    with np.errstate(all="ignore"):
        result = values.astype(dtype)
        back = result.astype(values.dtype)
    if values.dtype.kind == dtype.kind == "f":
        lost = np.isinf(result) & ~np.isinf(values)
    else:
        # What is beyond the range of integers may come back by accident.
        lost = (back != values) | ((result < 0) != (values < 0))
        for floats, integers in ((values, dtype), (result, values.dtype)):
            if floats.dtype.kind == "f" and integers.kind in "iu":
                beyond = floats.astype(np.float64) >= float(np.iinfo(integers).max) + 1
                lost |= beyond | ~np.isfinite(floats)
    if lost.any():
        raise ValueError(f"{values[lost].flat[0]!r} does not fit into {dtype}")
    return result


def to_float32(values: Array, feature: str | None = None) -> npt.NDArray[np.float32]:
    """``values`` rounded to float32, or as they are; a finite one must stay finite."""
    if values.dtype == np.float32:
        return values
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        floats = values.astype(np.float32)
    infinite = np.isinf(floats)
    if infinite.any() and not np.isinf(values[infinite]).all():
        raise EncodeError("a float is too large for float32", feature=feature)
    return floats


def to_bytes(value: str | bytes | bytearray | memoryview, feature: str | None = None) -> bytes:
    """A string as it is stored: ``str`` as UTF-8."""
    if not isinstance(value, str):
        return bytes(value)
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise EncodeError("a str cannot be encoded as UTF-8", feature=feature) from None
