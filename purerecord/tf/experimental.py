"""``tf.experimental``: optionals, which belong to ``tf.data``."""

from __future__ import annotations

from ._missing import missing
from .data.optional import Optional

__all__ = ["Optional"]

__getattr__ = missing("experimental")
