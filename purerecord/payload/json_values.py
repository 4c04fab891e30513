"""Values that JSON cannot write: an object with one member, whose name says what the value is.

Bytes are ``{"base64": "..."}``, a float that is not finite is ``{"float": "nan"}``. Schemas and the command
line use this form. This module does not know what the values belong to.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Any


def bytes_to_json(value: bytes) -> dict[str, str]:
    """``value`` as an object with its base64."""
    return {"base64": base64.b64encode(value).decode()}


def float_to_json(value: float) -> Any:
    """``value``, or an object with its text if it is not finite."""
    return value if math.isfinite(value) else {"float": str(value)}


def string_to_json(value: bytes) -> Any:
    """``value`` as text, or as an object with its base64 if it is not UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return bytes_to_json(value)


def base64_to_bytes(text: str) -> bytes:
    """The bytes in the object's base64; ValueError if it is none."""
    return base64.b64decode(text, validate=True)


# From the name of the single member to the function that restores the value.
FROM_JSON: dict[str, Callable[[Any], Any]] = {"base64": base64_to_bytes, "float": float}
