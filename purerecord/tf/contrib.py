"""``tf.contrib`` of TensorFlow 1, as far as it holds names of ``tf.data``."""

from __future__ import annotations

from ._missing import missing
from .data import contrib as data

__all__ = ["data"]

__getattr__ = missing("contrib")
