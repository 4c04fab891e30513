"""``tf.print``: tensors as TensorFlow's print operation writes them.

This module does not know datasets.
"""

from __future__ import annotations

import builtins
import sys
from typing import Any

import numpy as np

from .tensor import EagerTensor


def print(*inputs: Any, **options: Any) -> None:  # noqa: A001 - TensorFlow's name
    """Prints values to standard error or ``output_stream``."""
    stream = options.get("output_stream", sys.stderr)
    summarize = options.get("summarize", 3)
    text = options.get("sep", " ").join(_text(value, summarize) for value in inputs)
    if len(inputs) == 1 and isinstance(inputs[0], EagerTensor) and not inputs[0].ndim:
        text = _scalar_text(inputs[0]._array[()])  # a single string has no quotes
    if isinstance(stream, str) and stream.startswith("file://"):
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            builtins.print(text, end=options.get("end", "\n"), file=file)
    else:
        builtins.print(text, end=options.get("end", "\n"), file=stream)


def tensor_text(value: EagerTensor, summarize: int = 3) -> str:
    """The text of a tensor: the first and last ``summarize`` elements of each dimension."""
    return _array_text(value._array, summarize)


def _text(value: Any, summarize: int) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{key!r}: {_text(item, summarize)}" for key, item in value.items())
        return f"{{{inner}}}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(repr(item) if isinstance(item, str) else _text(item, summarize) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, EagerTensor):
        return _array_text(value._array, summarize)
    return str(value)


def _array_text(array: Any, summarize: int) -> str:
    """The text of an array: the first and last ``summarize`` elements of each dimension."""
    if not array.ndim:
        value = array[()]
        return f'"{_scalar_text(value)}"' if isinstance(value, bytes) else _scalar_text(value)
    rows = [
        _array_text(array[i, ...], summarize).replace("\n", "\n ")
        for i in _shown_indices(len(array), summarize)
    ]
    if summarize >= 0 and len(array) > 2 * summarize:
        rows.insert(summarize, "...")
    gap = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " "
    return f"[{gap.join(rows)}]"


def _shown_indices(length: int, summarize: int) -> list[int]:
    if summarize < 0 or length <= 2 * summarize:
        return list(range(length))
    return [*range(summarize), *range(length - summarize, length)]


def _scalar_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, np.bool_):
        return str(int(value))
    if isinstance(value, np.floating):
        text = f"{value:.9g}" if isinstance(value, np.float32) else repr(float(value))
        return np.format_float_positional(value, trim="-") if "e" not in text else text
    return str(value)
