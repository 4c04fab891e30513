"""The Arrow types that an Example can hold; and pyarrow itself, for the other modules of this folder.

Importing this module imports pyarrow, or raises an error that says how to install it. This module must not
know values.
"""

from __future__ import annotations

from typing import Any

from ..errors import EncodeError

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise ImportError(f'purerecord.arrow needs pyarrow: pip install "purerecord[arrow]" ({error})') from error

__all__ = [
    "DENSE_SHAPE",
    "check_type",
    "is_feature_list",
    "is_list",
    "is_sparse",
    "is_text",
    "is_wrapped",
    "pa",
    "pc",
]

# The metadata key of a field that holds a Sparse. Its value is the shape of a row, as JSON.
DENSE_SHAPE = b"purerecord.dense_shape"

_BYTES = ("binary", "large_binary", "fixed_size_binary")
_TEXT = ("string", "large_string", "string_view", "binary_view")
_LISTS = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")


def check_type(name: str, dtype: Any) -> None:
    """Raise an EncodeError about the column ``name`` if an Example cannot hold values of ``dtype``."""
    if isinstance(dtype, pa.BaseExtensionType):
        check_type(name, dtype.storage_type)
    elif is_list(dtype) or is_wrapped(dtype):
        check_type(name, dtype.value_type)
    elif not _is(dtype, "boolean", "integer", "floating", "null", *_BYTES, *_TEXT):
        advice = (
            "flatten the table first" if _is(dtype, "struct", "map") else "cast it to int64 or string first"
        )
        raise EncodeError(f"values of {dtype} cannot be stored in an Example; {advice}", feature=name)


def is_wrapped(dtype: Any) -> bool:
    """Whether an array of ``dtype`` is dictionary-encoded or run-end encoded."""
    return _is(dtype, "dictionary", "run_end_encoded")


def is_text(dtype: Any) -> bool:
    """Whether values of ``dtype`` are strings that must be cast before numpy gets them as bytes."""
    return _is(dtype, *_TEXT)


def is_list(dtype: Any) -> bool:
    """Whether values of ``dtype`` are lists of any layout."""
    return _is(dtype, *_LISTS)


def is_feature_list(dtype: Any) -> bool:
    """Whether values of ``dtype`` are lists of lists of any length: a feature list, whose steps are lists."""
    while isinstance(dtype, pa.BaseExtensionType) or is_wrapped(dtype):
        dtype = dtype.storage_type if isinstance(dtype, pa.BaseExtensionType) else dtype.value_type
    if not is_list(dtype):
        return False
    inner = dtype.value_type
    return is_list(inner) and not pa.types.is_fixed_size_list(inner)


def is_sparse(field: Any) -> bool:
    """Whether ``to_arrow`` has made ``field`` of a ``Sparse``."""
    return bool(field.metadata) and DENSE_SHAPE in field.metadata


def _is(dtype: Any, *kinds: str) -> bool:
    # Older versions of pyarrow lack views and run-end encoding.
    return any(getattr(pa.types, f"is_{kind}", _never)(dtype) for kind in kinds)


def _never(dtype: Any) -> bool:
    return False
