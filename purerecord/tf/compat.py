"""``tf.compat``: conversions of text and bytes, and ``tf.compat.v1``, which is ``purerecord.tf`` itself.

``purerecord.tf`` has the names of TensorFlow 1 and 2, so it serves programs for both. This module does not
know tensors.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from ._missing import missing

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "path_to_str", "v1", "v2"]

v1 = v2 = sys.modules[__package__ or ""]
# For ``import purerecord.tf.compat.v1 as tf``, which needs a module of that name.
sys.modules[f"{__name__}.v1"] = sys.modules[f"{__name__}.v2"] = v1


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text encoded to bytes; bytes as they are."""
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes decoded to text; text as it is."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Bytes decoded to text; any other value as ``str(value)``."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path object as text; any other value as it is."""
    return as_str_any(os.fspath(path)) if isinstance(path, os.PathLike) else path


__getattr__ = missing("compat")
