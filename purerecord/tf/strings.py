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
from ._values import ragged_operations
from ._values.convert import Array
from ._values.convert import strings as bytes_array
from ._values.dispatch import each_element, for_ragged
from ._values.operators import kernel_name, shape_text
from ._values.ragged_sparse import RaggedTensor
from ._values.tensor import EagerTensor, convert_to_tensor, of_array
from .dtypes import as_dtype, float32, of_numpy, string
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
    if isinstance(value, EagerTensor) and value.dtype is not string:
        name = kernel_name(value.dtype)
        raise invalid(
            "cannot compute as input #0(zero-based) was expected to be a string tensor "
            f"but is a {name} tensor"
        )
    return convert_to_tensor(value, string)._array


def _each(function: Callable[[bytes], Any], value: Any, dtype: Any = object) -> EagerTensor:
    array = _strings(value)
    made = np.empty(array.size, dtype)
    for position, text in enumerate(array.reshape(-1).tolist()):
        made[position] = function(text)
    return of_array(made.reshape(array.shape))


def _raw(value: Any) -> bytes:
    text: Any = convert_to_tensor(value, string)._array[()]
    return bytes(text)


@each_element
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> EagerTensor:  # noqa: A002
    """The number of bytes, or of characters of UTF-8, in each string."""
    if _is_utf8(unit):
        return _each(lambda text: len(re.sub(rb"[\x80-\xbf]", b"", text)), input, np.int32)
    return _each(len, input, np.int32)


def _is_utf8(unit: str) -> bool:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise invalid(
            f'Value for attr \'unit\' of "{unit}" is not in the list of allowed values: "BYTE", "UTF8_CHAR"'
        )
    return unit == "UTF8_CHAR"


def _characters(text: bytes) -> list[bytes]:
    """The characters of UTF-8. As in TensorFlow, any byte begins one unless it can continue another."""
    return re.findall(rb"(?s).[\x80-\xbf]*", text)


@each_element
def lower(input: Any, encoding: str = "", name: str | None = None) -> EagerTensor:  # noqa: A002
    """The strings in lower case: ASCII, or all of Unicode with ``encoding="utf-8"``."""
    if encoding:
        return _each(lambda text: text.decode(encoding).lower().encode(), input)
    return _each(bytes.lower, input)


@each_element
def upper(input: Any, encoding: str = "", name: str | None = None) -> EagerTensor:  # noqa: A002
    """The strings in upper case: ASCII, or all of Unicode with ``encoding="utf-8"``."""
    if encoding:
        return _each(lambda text: text.decode(encoding).upper().encode(), input)
    return _each(bytes.upper, input)


@each_element
def strip(input: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The strings without white space at both ends."""
    return _each(bytes.strip, input)


def _join_ragged(dense: Any, inputs: Any, separator: Any = "", name: str | None = None) -> Any:
    """Ragged tensors of strings, joined element by element."""
    return ragged_operations.each_value(dense, inputs, separator)


@for_ragged(_join_ragged)
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


@for_ragged(ragged_operations.reduce_join)
def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: Any = "", name: str | None = None
) -> EagerTensor:
    """The strings joined along dimensions, or all of them."""
    array, between = _strings(inputs), _raw(separator)
    places = list(range(array.ndim))[::-1] if axis is None else np.atleast_1d(axis).tolist()
    for place in places:
        if not -array.ndim <= place < array.ndim:
            text = f"Invalid reduction dimension {place} for input with {array.ndim} dimension(s)"
            raise OutOfRangeError(None, None, text)
    axes = [place % array.ndim for place in places]
    for place in axes:
        if axes.count(place) > 1:
            raise invalid(f"Duplicate reduction dimension {place}")
    kept = [place for place in range(array.ndim) if place not in axes]
    shape = [1 if place in axes else length for place, length in enumerate(array.shape)]
    outer = tuple(array.shape[place] for place in kept)
    count = int(np.prod(outer, dtype=np.int64))
    rows = (
        np.transpose(array, [*kept, *axes[::-1]]).reshape(count, -1).tolist() if array.size else [()] * count
    )
    texts = [between.join(row) for row in rows]
    return of_array(bytes_array(texts, tuple(shape) if keepdims else outer))


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:  # noqa: A002
    """The parts between separators or white space: a tensor for one string, else a ragged tensor."""
    if isinstance(input, RaggedTensor):
        if input.dtype is not string:
            raise ValueError(
                f"Tensor conversion requested dtype string for RaggedTensor with dtype {input.dtype.name}"
            )
        return input.with_flat_values(split(input.flat_values, sep, maxsplit))
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


@each_element
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> EagerTensor:  # noqa: A002
    """``len`` bytes or characters from ``pos`` on, -1 for all; a negative ``pos`` counts from the end."""
    array, first, count = _strings(input), _whole_numbers(pos), _whole_numbers(len)
    if first.shape != count.shape:
        shapes = f"{shape_text(first.shape)} vs. {shape_text(count.shape)}"
        raise invalid(f"pos and len should have the same shape, got: {shapes}")
    try:
        texts, begins, counts = np.broadcast_arrays(array, first, count)
    except ValueError:
        shapes = f"{shape_text(array.shape)} vs. {shape_text(first.shape)}"
        raise invalid(f"Incompatible shapes: {shapes}") from None
    rows = zip(*(part.reshape(-1).tolist() for part in (texts, begins, counts)), strict=True)
    cut = _cut_characters if _is_utf8(unit) else _cut_bytes
    return of_array(
        bytes_array(
            [cut(text, begin, size, index) for index, (text, begin, size) in enumerate(rows)], texts.shape
        )
    )


def _whole_numbers(value: Any) -> Array:
    array = convert_to_tensor(value)._array
    if array.dtype not in (np.int32, np.int64):
        kind = kernel_name(of_numpy(array.dtype))
        raise invalid(f"Value for attr 'T' of {kind} is not in the list of allowed values: int32, int64")
    return array


def _cut_bytes(text: bytes, pos: int, count: int, index: int) -> bytes:
    begin = pos + len(text) if pos < 0 else pos
    if not 0 <= begin <= len(text):
        shown = text.decode(errors="replace")
        raise invalid(f"pos {pos} out of range for string b'{shown}' at index {index}")
    return text[begin : None if count < 0 else begin + count]


def _cut_characters(text: bytes, pos: int, count: int, index: int) -> bytes:
    characters = _characters(text)
    begin = pos + len(characters) if pos < 0 else pos
    if not 0 <= begin <= len(characters):
        raise invalid(f"pos {pos} out of range for string at index {index}")
    return b"".join(characters[begin : None if count < 0 else begin + count])


@each_element
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


@each_element
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """Whether the whole string matches ``pattern``."""
    compiled = re.compile(_raw(pattern))
    return _each(lambda text: compiled.fullmatch(text) is not None, input, np.bool_)


@each_element
def to_number(input: Any, out_type: Any = float32, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The strings parsed as numbers."""
    wanted = as_dtype(out_type)

    def parsed(text: bytes) -> Any:
        try:
            return int(text) if wanted.is_integer else float(text)
        except ValueError:
            raise invalid(f"StringToNumberOp could not correctly convert string: {text.decode()}") from None

    return _each(parsed, input, wanted.as_numpy_dtype)


@each_element
def as_string(  # noqa: PLR0917 - TensorFlow's signature
    input: Any,  # noqa: A002 - TensorFlow's name
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> EagerTensor:
    """Numbers as text. ``fill`` is a flag of C's ``printf``: "0", "+", "-", "#" or a space."""
    tensor = convert_to_tensor(input)
    array, dtype = tensor._array, tensor.dtype
    if len(fill) > 1:
        raise invalid("Fill string must be one or fewer characters")
    if scientific and shortest:
        raise invalid("Cannot select both scientific and shortest notation")
    if dtype.is_integer or dtype.is_bool:
        if precision >= 0:
            raise invalid(f"precision not supported for datatype {kernel_name(dtype)}")
        if scientific or shortest:
            name = kernel_name(dtype)
            raise invalid(f"scientific and shortest format not supported for datatype {name}")
    if fill not in ("", " ", "+", "-", "0", "#"):
        raise invalid(f'Fill argument not supported: "{fill}"')
    if fill in ("+", " ") and dtype.name.startswith("uint"):
        fill = ""  # numbers without a sign show none
    form = f"%{fill}{width if width >= 0 else ''}"
    if dtype is string:
        form += "s"
    elif dtype.is_integer:
        form += "d"
    else:
        form += ("" if precision < 0 else f".{precision}") + ("g" if shortest else "e" if scientific else "f")
    texts = [_formatted(form, value) for value in array.reshape(-1).tolist()]
    return of_array(bytes_array(texts, array.shape))


def _formatted(form: str, value: Any) -> str | bytes:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, complex):
        return f"({form % value.real},{form % value.imag})"
    return form.encode() % value if isinstance(value, bytes) else form % value


def string_split(  # noqa: PLR0917
    source: Any,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """The parts of a vector of strings between any of the bytes in ``sep``, in TensorFlow 1."""
    array = _strings(source)
    if array.ndim != 1:
        raise invalid(f"input must be a vector, got shape: {shape_text(array.shape)}")
    marks = b" " if sep is None and delimiter is None else _raw(delimiter if sep is None else sep)
    rows = []
    for text in array.tolist():
        parts = re.split(b"[" + re.escape(marks) + b"]", text) if marks else [bytes([byte]) for byte in text]
        rows.append([part for part in parts if part or not skip_empty])
    pieces = bytes_array([piece for row in rows for piece in row], (sum(map(len, rows)),))
    made = RaggedTensor(Ragged(pieces, np.cumsum([0, *map(len, rows)])))
    if result_type == "SparseTensor":
        return made.to_sparse()
    if result_type == "RaggedTensor":
        return made
    raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


__getattr__ = missing("strings")
