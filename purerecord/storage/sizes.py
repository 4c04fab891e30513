"""``size_in_bytes``: sizes as people write them. This module does not know what has a size."""

from __future__ import annotations

import re
from typing import Any

# The factor of each unit; "150MB" is 150,000,000 bytes and "150MiB" is 157,286,400.
_UNITS = {"": 1, **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)}}
_UNITS |= {"b": 1, **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)}}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)


def size_in_bytes(size: Any) -> int:
    """The number of bytes that ``size`` says: 1000, "150MB" (in thousands), "64MiB" (in steps of 1024)."""
    match = _SIZE.fullmatch(str(size).strip())
    factor = None if match is None else _UNITS.get(match[2].lower())
    if match is None or factor is None or (found := int(float(match[1]) * factor)) < 1:
        raise ValueError(f"a size like 150MB or 64MiB is needed, not {size!r}")
    return found
