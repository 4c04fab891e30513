"""Strings as Unicode code points: ``unicode_decode``, ``unicode_encode``, ``unicode_split``, ...

Python's codecs decode; bytes that are no text in the encoding are replaced, ignored or an error. This module
does not know other operations on strings.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ...payload.ragged import Ragged
from .._values.convert import strings
from .._values.operators import kernel_name
from .._values.ragged_sparse import RaggedTensor, unwrap
from .._values.tensor import EagerTensor, convert_to_tensor, of_array
from ..dtypes import of_numpy
from ..errors import invalid
from .elementwise import each, string_tensor, texts_of

_ENCODINGS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
_ERRORS = ("strict", "replace", "ignore")
_REPLACEMENT = 0xFFFD


class _Decoder:
    """Strings of one encoding as pairs of a code point and the number of bytes that it takes."""

    def __init__(self, encoding: Any, errors: str, replacement: Any, control: bool) -> None:
        name = encoding.decode() if isinstance(encoding, bytes) else str(encoding)
        _check_errors(errors)
        self._replacement = int(replacement)
        if not _is_scalar_value(self._replacement):
            raise invalid("replacement_char out of unicode codepoint range")
        self._codec = _codec(name)
        self._errors = errors
        self._control = bool(control)
        self._single = self._codec.name in ("ascii", "iso8859-1")

    def __call__(self, text: bytes) -> list[tuple[int, int]]:
        """The code points of a string, each with the offset of its first byte."""
        found = []
        at = 0
        for point, size in self._points(text):
            if point is None:
                if self._errors == "strict":
                    raise invalid("Invalid formatting on input string")
                if self._errors == "replace":
                    found.append((self._replacement, at))
            elif self._control and point <= 0x1F:
                found.append((self._replacement, at))
            else:
                found.append((point, at))
            at += size
        return found

    def _points(self, text: bytes) -> Iterator[tuple[int | None, int]]:
        if text.isascii() and self._codec.name in ("utf-8", "ascii", "iso8859-1"):
            for octet in text:
                yield octet, 1
            return
        at = 0
        while at < len(text):
            try:
                good, bad, resume = self._codec.decode(text[at:])[0], b"", len(text)
            except UnicodeDecodeError as error:
                good = self._codec.decode(text[at : at + error.start])[0]
                resume = at + error.end
                bad = text[at + error.start : resume]
            for character in good:
                yield ord(character), len(self._codec.encode(character)[0])
            if bad:
                yield None, len(bad)
            at = resume


def _codec(name: str) -> codecs.CodecInfo:
    plain = re.sub(r"^(?i:utf)-?(16|32)-?([bl]e)$", r"utf-\1-\2", name)
    try:
        return codecs.lookup(plain)
    except (LookupError, ValueError):
        raise invalid(f"Could not create converter for input encoding: {name}") from None


def _check_errors(errors: str) -> None:
    if errors not in _ERRORS:
        raise invalid(
            f"Value for attr 'errors' of \"{errors}\" is not in the list of allowed values: "
            '"strict", "replace", "ignore"'
        )


def _is_scalar_value(point: int) -> bool:
    return 0 <= point < 0xD800 or 0xE000 <= point <= 0x10FFFF


class _Encoder:
    """Code points as strings of one encoding."""

    def __init__(self, encoding: Any, errors: str, replacement: Any) -> None:
        if encoding not in _ENCODINGS:
            raise invalid(
                f"Value for attr 'output_encoding' of \"{encoding}\" is not in the list of allowed values: "
                '"UTF-8", "UTF-16-BE", "UTF-32-BE"'
            )
        _check_errors(errors)
        self._codec = _codec(encoding)
        self._errors = errors
        self._replacement = int(replacement)
        if not _is_scalar_value(self._replacement):
            raise invalid("replacement_char out of unicode codepoint range")

    def __call__(self, points: list[int]) -> bytes:
        characters = []
        for point in points:
            if _is_scalar_value(point):
                characters.append(chr(point))
            elif self._errors == "strict":
                raise invalid("Code point is out of range for Unicode, or is a surrogate.")
            elif self._errors == "replace":
                characters.append(chr(self._replacement))
        return bytes(self._codec.encode("".join(characters))[0])


# --- Decoding ---------------------------------------------------------------------------------------


def _decoded(op: str, value: Any, decode: _Decoder) -> tuple[Any, Any]:
    """The code points and their offsets: tensors for one string, else ragged tensors."""
    tensor = string_tensor(value, op)
    flat = tensor.flat_values if isinstance(tensor, RaggedTensor) else tensor
    rows = [decode(text) for text in texts_of(flat._array)]
    points = np.array([point for row in rows for point, _ in row], np.int32)
    offsets = np.array([offset for row in rows for _, offset in row], np.int64)
    if isinstance(tensor, EagerTensor) and not tensor.ndim:
        return of_array(points), of_array(offsets)
    splits = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return with_rows(tensor, Ragged(points, splits)), with_rows(tensor, Ragged(offsets, splits))


def with_rows(tensor: EagerTensor | RaggedTensor, rows: Ragged) -> RaggedTensor:
    """A ragged tensor with the outer dimensions of ``tensor``, and a row for each of its values."""
    if isinstance(tensor, RaggedTensor):
        for splits in reversed(tensor._ragged.nested_row_splits):
            rows = Ragged(rows, splits)
        return RaggedTensor(rows)
    shape = tensor._array.shape
    for place in range(len(shape) - 1, 0, -1):
        outer = int(np.prod(shape[:place], dtype=np.int64))
        rows = Ragged(rows, np.arange(outer + 1, dtype=np.int64) * shape[place])
    return RaggedTensor(rows)


def unicode_decode(  # noqa: PLR0917 - TensorFlow's signature
    input: Any,  # noqa: A002 - TensorFlow's name
    input_encoding: Any,
    errors: str = "replace",
    replacement_char: Any = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The code points of each string: a vector for one string, else a ragged tensor."""
    decode = _Decoder(input_encoding, errors, replacement_char, replace_control_characters)
    return _decoded("UnicodeDecode", input, decode)[0]


def unicode_decode_with_offsets(  # noqa: PLR0917 - TensorFlow's signature
    input: Any,  # noqa: A002 - TensorFlow's name
    input_encoding: Any,
    errors: str = "replace",
    replacement_char: Any = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The code points of each string, and the offset of the first byte of each."""
    decode = _Decoder(input_encoding, errors, replacement_char, replace_control_characters)
    return _decoded("UnicodeDecodeWithOffsets", input, decode)


def unicode_split(
    input: Any,  # noqa: A002 - TensorFlow's name
    input_encoding: Any,
    errors: str = "replace",
    replacement_char: Any = _REPLACEMENT,
    name: str | None = None,
) -> Any:
    """The characters of each string, as strings."""
    return unicode_split_with_offsets(input, input_encoding, errors, replacement_char)[0]


def unicode_split_with_offsets(
    input: Any,  # noqa: A002 - TensorFlow's name
    input_encoding: Any,
    errors: str = "replace",
    replacement_char: Any = _REPLACEMENT,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The characters of each string, and the offset of the first byte of each."""
    decode = _Decoder(input_encoding, errors, replacement_char, False)
    points, offsets = _decoded("UnicodeDecode", input, decode)
    encode = _Encoder(input_encoding, errors, replacement_char)
    flat = points.flat_values if isinstance(points, RaggedTensor) else points
    characters = of_array(strings([encode([point]) for point in flat._array.tolist()], flat._array.shape))
    return (points.with_flat_values(characters) if flat is not points else characters), offsets


# --- Encoding ---------------------------------------------------------------------------------------


def unicode_encode(
    input: Any,  # noqa: A002 - TensorFlow's name
    output_encoding: str,
    errors: str = "replace",
    replacement_char: Any = _REPLACEMENT,
    name: str | None = None,
) -> Any:
    """The strings of rows of code points, which are the innermost dimension of ``input``."""
    encode = _Encoder(output_encoding, errors, replacement_char)
    if isinstance(input, RaggedTensor):
        inner = unwrap(input.values)
        if isinstance(inner, Ragged) or inner.ndim > 1:
            encoded = unicode_encode(input.values, output_encoding, errors, replacement_char)
            return RaggedTensor(Ragged(unwrap(encoded), unwrap(input.row_splits)))
        values, splits = inner.tolist(), unwrap(input.row_splits).tolist()
        rows = [encode(values[first:end]) for first, end in pairwise(splits)]
        return of_array(strings(rows, (len(rows),)))
    array = convert_to_tensor(input)._array
    if not array.ndim:
        raise ValueError("input_tensor's rank must be at least 1.")
    if array.dtype != np.int32:
        name = kernel_name(of_numpy(array.dtype))
        raise invalid(
            "cannot compute UnicodeEncode as input #0(zero-based) was expected to be a int32 tensor but is a "
            f"{name} tensor"
        )
    made = [encode(row) for row in array.reshape(-1, array.shape[-1]).tolist()] if array.size else []
    made = made or [b""] * int(np.prod(array.shape[:-1], dtype=np.int64))
    return of_array(strings(made, array.shape[:-1]))


def unicode_transcode(  # noqa: PLR0917 - TensorFlow's signature
    input: Any,  # noqa: A002 - TensorFlow's name
    input_encoding: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: Any = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The strings in another encoding."""
    decode = _Decoder(input_encoding, errors, replacement_char, replace_control_characters)
    encode = _Encoder(output_encoding, errors, replacement_char)
    return each("UnicodeTranscode", lambda text: encode([point for point, _ in decode(text)]), input)
