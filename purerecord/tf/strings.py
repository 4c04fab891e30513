"""``tf.strings``: the functions that input pipelines apply to paths and labels.

This module does not know files.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..payload.ragged import Ragged
from ._missing import missing
from ._values.convert import Array
from ._values.convert import strings as bytes_array
from ._values.operators import shape_text
from ._values.ragged_sparse import RaggedTensor
from ._values.tensor import EagerTensor, convert_to_tensor, of_array
from .dtypes import as_dtype, float32, string
from .errors import OutOfRangeError, invalid

__all__ = [
    "as_string",
    "join",
    "length",
    "lower",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_number",
    "upper",
]


def _strings(value: Any) -> Array:
    return convert_to_tensor(value, string)._array


def _each(function: Callable[[bytes], Any], value: Any, dtype: Any = object) -> EagerTensor:
    array = _strings(value)
    made = np.empty(array.size, dtype)
    for position, text in enumerate(array.reshape(-1).tolist()):
        made[position] = function(text)
    return of_array(made.reshape(array.shape))


def _raw(value: Any) -> bytes:
    text = convert_to_tensor(value)._array[()]
    return text if isinstance(text, bytes) else bytes(text)


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> EagerTensor:  # noqa: A002
    """The number of bytes, or of characters of UTF-8, in each string."""
    if unit == "UTF8_CHAR":
        return _each(lambda text: len(text.decode(errors="replace")), input, np.int32)
    return _each(len, input, np.int32)


def lower(input: Any, encoding: str = "", name: str | None = None) -> EagerTensor:  # noqa: A002
    """The strings in lower case: ASCII, or all of Unicode with ``encoding="utf-8"``."""
    if encoding:
        return _each(lambda text: text.decode(encoding).lower().encode(), input)
    return _each(bytes.lower, input)


def upper(input: Any, encoding: str = "", name: str | None = None) -> EagerTensor:  # noqa: A002
    """The strings in upper case: ASCII, or all of Unicode with ``encoding="utf-8"``."""
    if encoding:
        return _each(lambda text: text.decode(encoding).upper().encode(), input)
    return _each(bytes.upper, input)


def strip(input: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The strings without white space at both ends."""
    return _each(bytes.strip, input)


def join(inputs: Any, separator: Any = "", name: str | None = None) -> EagerTensor:
    """Strings joined; tensors of strings are joined element by element."""
    between = _raw(separator)
    parts = [_strings(part) for part in inputs]
    shape = next((part.shape for part in parts if part.ndim), ())
    for part in parts:
        if part.ndim and part.shape != shape:
            raise invalid(f"Input shapes do not match: {shape_text(shape)} vs. {shape_text(part.shape)}")
    arrays = np.broadcast_arrays(*parts)
    rows = zip(*(array.reshape(-1).tolist() for array in arrays), strict=True)
    return of_array(bytes_array([between.join(row) for row in rows], arrays[0].shape))


def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: Any = "", name: str | None = None
) -> EagerTensor:
    """The strings joined along dimensions, or all of them."""
    array, between = _strings(inputs), _raw(separator)
    places = list(range(array.ndim)) if axis is None else np.atleast_1d(axis).tolist()
    for place in places:
        if not -array.ndim <= place < array.ndim:
            text = f"Invalid reduction dimension {place} for input with {array.ndim} dimension(s)"
            raise OutOfRangeError(None, None, text)
    axes = [place % array.ndim for place in places]
    kept = [place for place in range(array.ndim) if place not in axes]
    shape = [1 if place in axes else length for place, length in enumerate(array.shape)]
    outer = tuple(array.shape[place] for place in kept)
    count = int(np.prod(outer, dtype=np.int64))
    rows = np.transpose(array, [*kept, *axes]).reshape(count, -1).tolist() if array.size else [()] * count
    texts = [between.join(row) for row in rows]
    return of_array(bytes_array(texts, tuple(shape) if keepdims else outer))


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:  # noqa: A002
    """The parts between separators or white space: a tensor for one string, else a ragged tensor."""
    array = _strings(input)
    between = None if sep is None or not _raw(sep) else _raw(sep)
    rows = [text.split(between, maxsplit) for text in array.reshape(-1).tolist()]
    pieces = bytes_array([piece for row in rows for piece in row], (sum(map(len, rows)),))
    if not array.ndim:
        return of_array(pieces)
    ragged = Ragged(pieces, np.cumsum([0, *map(len, rows)]))
    for place in range(array.ndim - 1, 0, -1):
        outer = int(np.prod(array.shape[:place], dtype=np.int64))
        ragged = Ragged(ragged, np.arange(outer + 1) * array.shape[place])
    return RaggedTensor(ragged)


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> EagerTensor:  # noqa: A002
    """``len`` bytes from ``pos`` on; a negative ``pos`` counts from the end."""
    first, count = int(pos), int(len)

    def part(text: bytes) -> bytes:
        begin = first + text.__len__() if first < 0 else first
        if not 0 <= begin <= text.__len__():
            raise invalid(f"pos {first} out of range for string b'{text.decode(errors='replace')}'")
        return text[begin : begin + count]

    return _each(part, input)


def regex_replace(
    input: Any,  # noqa: A002 - TensorFlow's name
    pattern: Any,
    rewrite: Any,
    replace_global: bool = True,
    name: str | None = None,
) -> EagerTensor:
    """The strings with matches of ``pattern`` replaced; ``\\\\1`` in ``rewrite`` is a group, as in ``re``."""
    compiled, new = re.compile(_raw(pattern)), _raw(rewrite).replace(b"\\0", b"\\g<0>")
    return _each(lambda text: compiled.sub(new, text, 0 if replace_global else 1), input)


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """Whether the whole string matches ``pattern``."""
    compiled = re.compile(_raw(pattern))
    return _each(lambda text: compiled.fullmatch(text) is not None, input, np.bool_)


def to_number(input: Any, out_type: Any = float32, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The strings parsed as numbers."""
    wanted = as_dtype(out_type)

    def parsed(text: bytes) -> Any:
        try:
            return int(text) if wanted.is_integer else float(text)
        except ValueError:
            raise invalid(f"StringToNumberOp could not correctly convert string: {text.decode()}") from None

    return _each(parsed, input, wanted.as_numpy_dtype)


def as_string(  # noqa: PLR0917 - TensorFlow's signature
    input: Any,  # noqa: A002 - TensorFlow's name
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> EagerTensor:
    """Numbers as text."""
    array = convert_to_tensor(input)._array
    padding = f"{fill}{width}" if width >= 0 else ""
    if array.dtype.kind == "f":
        kind = "g" if shortest else "e" if scientific else "f"
        form = f"{padding}{'' if precision < 0 else f'.{precision}'}{kind}"
    else:
        form = f"{padding}d"
    texts: list[str | bytes] = []
    for value in array.reshape(-1).tolist():
        if isinstance(value, bool):
            texts.append(str(value).lower())
        else:
            texts.append(value if isinstance(value, bytes) else format(value, form))
    return of_array(bytes_array(texts, array.shape))


__getattr__ = missing("strings")
