"""Values that a caller hands in, as numpy arrays and bytes; what would be lost silently is an error instead.

All encoders convert values first, whether they write rows, columns or tensors: ``as_array``, ``to_float32``
and ``to_bytes`` raise ``EncodeError``. ``Ragged``, ``Sparse``, padding and defaults use ``as_values``,
``converted`` and ``filled``, which raise ``ValueError`` or ``TypeError``. This module does not know messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..bytes_column import BytesColumn
from ..errors import EncodeError

Array = npt.NDArray[Any]
Offsets = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_NO_DTYPE = "no dtype holds all of these integers; those beyond 2**63 need unsigned ones"


def as_array(value: Any, feature: str | None = None) -> Array:
    """``value`` as an array, if it is one or has ``__array__``, as tensors of other libraries do."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise EncodeError("a masked array would lose its mask; fill it first", feature=feature)
    try:
        array = value.__array__()
        # TensorFlow's scalars return a numpy scalar here. np.asarray(value) would refuse those of bfloat16.
        return np.asarray(array if isinstance(array, (np.ndarray, np.generic)) else value)
    except Exception as error:
        # A foreign tensor may raise anything: it must be detached, is on a device, is ragged, ...
        reason = f"cannot make an array of a {type(value).__name__}: {error}"
        raise EncodeError(reason, feature=feature) from error


def object_array(items: Sequence[Any]) -> Array:
    """A vector of the ``items`` as Python objects.

    ``np.array`` would make strings of fixed width, which lose trailing NULs, and would nest sequences.
    """
    array = np.empty(len(items), object)
    array[:] = items
    return array


def as_values(values: Any) -> Array:
    """``values`` as an array of at least one dimension; strings become objects, which keep trailing NULs."""
    if not isinstance(values, np.ndarray):
        if isinstance(values, (bytes, str)) or not isinstance(values, Iterable):
            raise TypeError(f"values must be a list or an array of them, not a {type(values).__name__}")
        values = np.asarray(values) if hasattr(values, "__array__") else _from_list(list(values))
    if values.ndim == 0:
        raise ValueError("values must have at least one dimension")
    return cast(Array, values)


def _from_list(items: list[Any]) -> Array:
    """An array of numbers or strings; ValueError if numpy would change one of them."""
    strings = [isinstance(item, (bytes, str)) for item in items]
    if any(strings):
        if not all(strings):
            raise ValueError("numbers and strings cannot be the values of one array")
        return object_array(items)
    try:
        array = np.asarray(items)
    except ValueError:
        raise ValueError("the values differ in shape; only what lies in rows may") from None
    if array.dtype == object:
        raise ValueError("values must be strings, or numbers of up to 64 bits")
    if array.dtype.kind == "f" and not all(type(item) is float for item in items):
        given = np.asarray(items, object).ravel().tolist()
        if all(isinstance(item, Integral) for item in given):
            raise ValueError(_NO_DTYPE)
        for item, kept in zip(given, array.ravel().tolist(), strict=True):
            if isinstance(item, Integral) and item != kept:
                raise ValueError(f"{item} cannot stay exact beside the other values")
    return array


def is_extra(dtype: np.dtype[Any]) -> bool:
    """Whether ``dtype`` is one of ml_dtypes, such as bfloat16, which numpy itself does not know."""
    return dtype.type.__module__ == "ml_dtypes"


def converted(values: Array, dtype: npt.DTypeLike) -> Array:
    """Numbers as ``dtype``. A float may be rounded to another float dtype; no other value may change.

    A value that would change is a ValueError, and a dtype that holds no numbers a TypeError.
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
        # A float beyond the range of integers may happen to come back as itself, so check the range too.
        lost = (back != values) | ((result < 0) != (values < 0))
        for floats, integers in ((values, dtype), (result, values.dtype)):
            if floats.dtype.kind == "f" and integers.kind in "iu":
                beyond = floats.astype(np.float64) >= float(np.iinfo(integers).max) + 1
                lost |= beyond | ~np.isfinite(floats)
    if lost.any():
        raise ValueError(f"{values[lost].flat[0]!r} does not fit into {dtype}")
    return result


def filled(shape: tuple[int, ...], dtype: np.dtype[Any], default_value: Any) -> Array:
    """A new array full of ``default_value``; None stands for 0, or for ``b""`` in an array of objects."""
    if default_value is None and dtype.kind != "O":
        return np.zeros(shape, dtype)  # the system hands out zeroed memory, so this writes nothing
    # The default becomes an array of the dtype first: np.full would make a string of fixed width of it,
    # which loses trailing NULs.
    value = np.zeros((), dtype)
    if dtype.kind == "O":
        if not isinstance(default_value, (bytes, str, type(None))):
            raise TypeError(f"strings are filled up with bytes, not with a {type(default_value).__name__}")
        value[()] = b"" if default_value is None else default_value
    elif default_value is not None:
        value[()] = converted(np.asarray(default_value), dtype)
    array = np.empty(shape, dtype)
    array[...] = value
    return array


def padding(values: Array | BytesColumn, default_value: Any) -> Any:
    """``default_value``; but an empty ``str`` for None if ``values`` are text."""
    if isinstance(values, BytesColumn):
        return default_value
    is_text = values.dtype.kind == "O" and values.size and isinstance(values.flat[0], str)
    return "" if is_text and default_value is None else default_value


def to_float32(values: Array, feature: str | None = None) -> npt.NDArray[np.float32]:
    """``values`` rounded to float32; EncodeError if a finite one becomes infinite."""
    if values.dtype == np.float32:
        return values
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        floats = values.astype(np.float32)
    infinite = np.isinf(floats)
    if infinite.any() and not np.isinf(values[infinite]).all():
        raise EncodeError("a float is too large for float32", feature=feature)
    return floats


def to_bytes(value: str | bytes | bytearray | memoryview, feature: str | None = None) -> bytes:
    """A string in the form in which it is stored: ``str`` as UTF-8."""
    if not isinstance(value, str):
        return bytes(value)
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise EncodeError("a str cannot be encoded as UTF-8", feature=feature) from None
