"""``tf.strings``: the functions that input pipelines apply to paths and labels.

This module does not know files.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..payload.ragged import Ragged
from ._missing import missing
from ._text import regex
from ._text.elementwise import each, string_array
from ._text.formatting import format  # noqa: A004 - TensorFlow's name
from ._text.hashing import to_hash_bucket, to_hash_bucket_fast, to_hash_bucket_strong
from ._text.numbers import as_float, as_integer
from ._text.splitting import bytes_split, ngrams
from ._text.unicode import (
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_split,
    unicode_split_with_offsets,
    unicode_transcode,
    with_rows,
)
from ._values import ragged_operations
from ._values.convert import Array
from ._values.convert import strings as bytes_array
from ._values.dispatch import each_element, for_ragged
from ._values.operators import kernel_name, shape_text
from ._values.ragged_sparse import RaggedTensor
from ._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from .dtypes import as_dtype, float32, float64, int32, int64, of_numpy, string, uint32, uint64
from .errors import OutOfRangeError, invalid

__all__ = [
    "as_string",
    "bytes_split",
    "format",
    "join",
    "length",
    "lower",
    "ngrams",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_hash_bucket",
    "to_hash_bucket_fast",
    "to_hash_bucket_strong",
    "to_number",
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_split",
    "unicode_split_with_offsets",
    "unicode_transcode",
    "unsorted_segment_join",
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


def _attribute(name: str, value: Any) -> bytes:
    """An argument that TensorFlow takes as text only, not as a tensor."""
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"Expected string for argument '{name}' not {value!r}.")
    return value.encode() if isinstance(value, str) else value


def _scalar(what: str, value: Any) -> bytes:
    """A string that may be given as a scalar tensor."""
    array = _strings(value)
    if array.ndim:
        raise invalid(f"{what} {shape_text(array.shape)}")
    return bytes(array[()])


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:  # noqa: A002
    """The number of bytes, or of characters of UTF-8, in each string."""
    if _is_utf8(unit):
        return each("StringLength", lambda text: len(re.sub(rb"[\x80-\xbf]", b"", text)), input, np.int32)
    return each("StringLength", len, input, np.int32)


def _is_utf8(unit: str) -> bool:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise invalid(
            f'Value for attr \'unit\' of "{unit}" is not in the list of allowed values: "BYTE", "UTF8_CHAR"'
        )
    return unit == "UTF8_CHAR"


def _characters(text: bytes) -> list[bytes]:
    """The characters of UTF-8. As in TensorFlow, any byte begins one unless it can continue another."""
    return re.findall(rb"(?s).[\x80-\xbf]*", text)


def _is_unicode(encoding: Any) -> bool:
    if encoding not in ("", "utf-8"):
        raise invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
    return bool(encoding == "utf-8")


def lower(input: Any, encoding: str = "", name: str | None = None) -> Any:  # noqa: A002
    """The strings in lower case: ASCII, or all of Unicode with ``encoding="utf-8"``."""
    if _is_unicode(encoding):
        return each("StringLower", lambda text: text.decode(errors="replace").lower().encode(), input)
    return each("StringLower", bytes.lower, input)


def upper(input: Any, encoding: str = "", name: str | None = None) -> Any:  # noqa: A002
    """The strings in upper case: ASCII, or all of Unicode with ``encoding="utf-8"``."""
    if _is_unicode(encoding):
        return each("StringUpper", lambda text: text.decode(errors="replace").upper().encode(), input)
    return each("StringUpper", bytes.upper, input)


def strip(input: Any, name: str | None = None) -> Any:  # noqa: A002
    """The strings without white space at both ends."""
    return each("StringStrip", bytes.strip, input)


def join(inputs: Any, separator: Any = "", name: str | None = None) -> Any:
    """Strings joined; tensors of strings are joined element by element."""
    if isinstance(inputs, (str, bytes)):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join' Op, not {inputs!r}.")
    between = _attribute("separator", separator)
    ragged = next((part for part in inputs if isinstance(part, RaggedTensor)), None)
    if ragged is not None:
        flat = [part.flat_values if isinstance(part, RaggedTensor) else part for part in inputs]
        return ragged.with_flat_values(join(flat, separator))
    whole = list(inputs)
    convert = not all(isinstance(part, EagerTensor) for part in whole)  # what TensorFlow raises depends on it
    parts = [string_array(part, "StringJoin", convert=convert) for part in whole]
    shape = next((part.shape for part in parts if part.ndim), ())
    for part in parts:
        if part.ndim and part.shape != shape:
            raise invalid(f"Input shapes do not match: {shape_text(shape)} vs. {shape_text(part.shape)}")
    if not parts:
        return of_array(b"")
    rows = zip(*(np.broadcast_to(part, shape).reshape(-1).tolist() for part in parts), strict=True)
    return of_array(bytes_array([between.join(row) for row in rows], shape))


@for_ragged(ragged_operations.reduce_join)
def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: Any = "", name: str | None = None
) -> EagerTensor:
    """The strings joined along dimensions, or all of them."""
    array = string_array(inputs, "ReduceJoin")
    between = _attribute("separator", separator)
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


def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> EagerTensor:
    """The strings with the same segment number joined, in the order in which they come."""
    array, ids = _strings(inputs), _whole_numbers(segment_ids, "Tindices")
    count = int(to_numpy(num_segments))
    if not ids.ndim:
        raise invalid("Segment_id cannot have rank 0")
    for place, (size, own) in enumerate(zip(ids.shape, array.shape, strict=False)):
        if size != own:
            raise invalid(f"Segment dimension is {size} while input dimension is {own} in rank {place}")
    if ids.ndim > array.ndim:
        raise invalid("Number of dimensions of segment_ids must not exceed that of the inputs")
    if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < count:
        raise invalid("segment_ids are not allowed to exceed num_segments or to have negative values.")
    columns = int(np.prod(array.shape[ids.ndim :], dtype=np.int64))
    rows = array.reshape(ids.size, columns)
    joined: list[list[list[bytes]]] = [[[] for _ in range(columns)] for _ in range(count)]
    for number, row in zip(ids.reshape(-1).tolist(), rows.tolist(), strict=True):
        if number >= 0:
            for place, text in enumerate(row):
                joined[number][place].append(text)
    between = _attribute("separator", separator)
    texts = [between.join(parts) for segment in joined for parts in segment]
    return of_array(bytes_array(texts, (count, *array.shape[ids.ndim :])))


def reduce_join_v1(  # noqa: PLR0917 - TensorFlow's signature
    inputs: Any,
    axis: Any = None,
    keep_dims: bool | None = None,
    separator: Any = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> EagerTensor:
    """The strings joined along dimensions, or all of them, in TensorFlow 1."""
    kept = bool(keep_dims if keepdims is None else keepdims)
    return reduce_join(inputs, reduction_indices if axis is None else axis, kept, separator)


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:  # noqa: A002
    """The parts between separators or white space: a tensor for one string, else a ragged tensor."""
    if isinstance(input, RaggedTensor):
        if input.dtype is not string:
            raise ValueError(
                f"Tensor conversion requested dtype string for RaggedTensor with dtype {input.dtype.name}"
            )
        pieces = split(input.flat_values, sep, maxsplit)
        return with_rows(input, pieces._ragged)
    array = _strings(input)
    between = (_scalar("sep must be a scalar, got shape:", sep) if sep is not None else b"") or None
    limit = int(maxsplit)
    rows = [text.split(between, limit) if limit else [text] for text in array.reshape(-1).tolist()]
    pieces = bytes_array([piece for row in rows for piece in row], (sum(map(len, rows)),))
    if not array.ndim:
        return of_array(pieces)
    return with_rows(of_array(array), Ragged(pieces, np.cumsum([0, *map(len, rows)], dtype=np.int64)))


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Any:  # noqa: A002
    """``len`` bytes or characters from ``pos`` on, -1 for all; a negative ``pos`` counts from the end."""
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(substr(input.flat_values, pos, len, unit))
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


def _whole_numbers(value: Any, attribute: str = "T") -> Array:
    array = convert_to_tensor(value)._array
    if array.dtype not in (np.int32, np.int64):
        kind = kernel_name(of_numpy(array.dtype))
        raise invalid(
            f"Value for attr {attribute!r} of {kind} is not in the list of allowed values: int32, int64"
        )
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
) -> Any:
    """The strings with matches of ``pattern`` replaced; ``\\\\1`` in ``rewrite`` is a group."""
    arguments = [input, pattern, rewrite]
    if not isinstance(pattern, (str, bytes)) and not all(isinstance(one, EagerTensor) for one in arguments):
        arguments = [
            one if isinstance(one, RaggedTensor) else convert_to_tensor(one, string) for one in arguments
        ]
    expression = _scalar("Pattern must be scalar, but received", pattern)
    new = _scalar("Rewrite must be scalar, but received", rewrite)
    regex.compiled(expression)
    op = "StaticRegexReplace" if isinstance(pattern, (str, bytes)) else "RegexReplace"
    return each(op, lambda text: regex.replaced(expression, new, text, bool(replace_global)), input)


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Any:  # noqa: A002
    """Whether the whole string matches ``pattern``."""
    expression = _scalar("Pattern must be scalar, but received", pattern)
    regex.compiled(expression)
    op = "StaticRegexFullMatch" if isinstance(pattern, (str, bytes)) else "RegexFullMatch"
    return each(op, lambda text: regex.full_match(expression, text), input, np.bool_)


def to_number(input: Any, out_type: Any = float32, name: str | None = None) -> Any:  # noqa: A002
    """The strings parsed as numbers."""
    wanted = as_dtype(out_type)
    if wanted not in (float32, float64, int32, int64, uint32, uint64):
        raise invalid(
            f"Value for attr 'out_type' of {kernel_name(wanted)} is not in the list of allowed values: float, "  # noqa: E501
            "double, int32, int64, uint32, uint64"
        )
    parse = as_integer if wanted.is_integer else as_float

    def parsed(text: bytes) -> Any:
        number = parse(text, wanted)
        if number is None:
            shown = text.decode(errors="replace").partition("\0")[0]
            raise invalid(f"StringToNumberOp could not correctly convert string: {shown}")
        return number

    with np.errstate(over="ignore"):
        return each("StringToNumber", parsed, input, wanted.as_numpy_dtype)


def to_hash_bucket_v1(
    string_tensor: Any = None,
    num_buckets: Any = None,
    name: str | None = None,
    input: Any = None,  # noqa: A002 - TensorFlow's name
) -> Any:
    """For each string the number of its bucket, by TensorFlow's own hash, in TensorFlow 1."""
    return to_hash_bucket(string_tensor if input is None else input, num_buckets)


def string_to_number(
    string_tensor: Any = None,
    out_type: Any = float32,
    name: str | None = None,
    input: Any = None,  # noqa: A002 - TensorFlow's name
) -> Any:
    """The strings parsed as numbers, in TensorFlow 1."""
    return to_number(string_tensor if input is None else input, out_type)


@each_element
def as_string(  # noqa: PLR0917 - TensorFlow's signature
    input: Any,  # noqa: A002 - TensorFlow's name
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """Numbers as text. ``fill`` is a flag of C's ``printf``: "0", "+", "-", "#" or a space."""
    if isinstance(input, RaggedTensor):
        made = as_string(input.flat_values, precision, scientific, shortest, width, fill)
        return input.with_flat_values(made)
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


__getattr__ = missing("strings")
