"""The names of classes, from a file that the user names.

This module must not know what the classes are of.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

_MOST_BYTES = 1 << 24


def class_names(path: Any) -> Mapping[int, str]:
    """The names in a ``label_map.pbtxt``, or in the lines of a text, from class 0 on; {} of None."""
    if path is None:
        return {}
    if os.fspath(path).endswith((".pbtxt", ".prototxt")):
        from ..tools.converters.pictures.label_map import LabelMap  # noqa: PLC0415 - imports protobuf

        return LabelMap.read(path).names
    with open(path, "rb") as file:
        text = file.read(_MOST_BYTES)
    try:
        return dict(enumerate(text.decode("utf-8-sig").splitlines()))
    except UnicodeDecodeError:
        raise ValueError(f"{os.fspath(path)}: it is no text; a name is needed in each line") from None
