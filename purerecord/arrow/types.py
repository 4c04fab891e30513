"""Which Arrow types hold what an Example can hold, and pyarrow itself, for the modules that need it.

Importing this imports pyarrow, or says how to install it. This module does not know values.
"""

from __future__ import annotations

from typing import Any

from ..errors import EncodeError

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise ImportError(f'purerecord.arrow needs pyarrow: pip install "purerecord[arrow]" ({error})') from error

__all__ = ["DENSE_SHAPE", "check_type", "is_list", "is_sparse", "is_text", "is_wrapped", "pa", "pc"]

# The metadata of a field that holds a Sparse: the shape of a row, as JSON.
DENSE_SHAPE = b"purerecord.dense_shape"

_BYTES = ("binary", "large_binary", "fixed_size_binary")
_TEXT = ("string", "large_string", "string_view", "binary_view")
_LISTS = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")


def check_type(name: str, dtype: Any) -> None:
    """EncodeError about the column ``name`` if values of ``dtype`` have no place in an Example."""
    if isinstance(dtype, pa.BaseExtensionType):
        check_type(name, dtype.storage_type)
    elif is_list(dtype) or is_wrapped(dtype):
        check_type(name, dtype.value_type)
    elif not _is(dtype, "boolean", "integer", "floating", "null", *_BYTES, *_TEXT):
        advice = "flatten the table first" if _is(dtype, "struct") else "cast the column first"
        raise EncodeError(f"values of {dtype} cannot be stored in an Example; {advice}", feature=name)


def is_wrapped(dtype: Any) -> bool:
    """Whether the values are not in the array itself: in a dictionary, or in runs."""
    return _is(dtype, "dictionary", "run_end_encoded")


def is_text(dtype: Any) -> bool:
    """Whether values of ``dtype`` are strings that numpy would not get as bytes."""
    return _is(dtype, *_TEXT)


def is_list(dtype: Any) -> bool:
    """Whether values of ``dtype`` are lists, of whichever form."""
    return _is(dtype, *_LISTS)


def is_sparse(field: Any) -> bool:
    """Whether ``field`` holds what was a ``Sparse``."""
    return bool(field.metadata) and DENSE_SHAPE in field.metadata


def _is(dtype: Any, *kinds: str) -> bool:
    # Views and runs are not known to every version of pyarrow.
    return any(getattr(pa.types, f"is_{kind}", _never)(dtype) for kind in kinds)


def _never(dtype: Any) -> bool:
    return False
