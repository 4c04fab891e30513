"""The repr of values, cut to a length that fits on a line; ``Ragged`` and ``Sparse`` show their values so.

This module does not know either of them.
"""

from __future__ import annotations

import reprlib
from typing import Any

MAX_ITEMS = 6  # rows and values that a repr shows before it says "..."
MAX_CHARACTERS = 40  # of a single string


def short_repr(value: Any) -> str:
    """The repr of ``value``, in which long lists and strings are shortened."""
    shortened = reprlib.Repr()
    shortened.maxlist = MAX_ITEMS
    shortened.maxother = shortened.maxstring = MAX_CHARACTERS
    return shortened.repr(value)
