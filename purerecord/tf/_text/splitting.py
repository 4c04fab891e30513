"""Strings in parts: ``bytes_split``, ``ngrams``, and ``string_split`` of TensorFlow 1.

This module does not know encodings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...payload.ragged import Ragged
from ...payload.sparse import Sparse
from .._values.convert import strings
from .._values.operators import shape_text
from .._values.ragged_sparse import RaggedTensor, SparseTensor, unwrap
from .._values.tensor import EagerTensor, convert_to_tensor, of_array
from ..dtypes import string
from ..errors import invalid
from .elementwise import string_tensor, texts_of
from .unicode import with_rows


def bytes_split(input: Any, name: str | None = None) -> Any:  # noqa: A002 - TensorFlow's name
    """The bytes of each string: a vector for one string, else a ragged tensor."""
    tensor = input if isinstance(input, RaggedTensor) else convert_to_tensor(convert_to_tensor(input), string)
    flat = tensor.flat_values if isinstance(tensor, RaggedTensor) else tensor
    rows = [[text[at : at + 1] for at in range(len(text))] for text in texts_of(flat._array)]
    return _rows_of(tensor, rows)


def _rows_of(tensor: EagerTensor | RaggedTensor, rows: list[list[bytes]]) -> Any:
    """One row of strings for each value of ``tensor``."""
    values = strings([part for row in rows for part in row], (sum(map(len, rows)),))
    if isinstance(tensor, EagerTensor) and not tensor.ndim:
        return of_array(values)
    return with_rows(tensor, Ragged(values, np.cumsum([0, *map(len, rows)], dtype=np.int64)))


# --- TensorFlow 1 -----------------------------------------------------------------------------------


def string_split(  # noqa: PLR0917 - TensorFlow's signature
    source: Any,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """The parts of each string of a vector between any bytes of ``sep``, in TensorFlow 1."""
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    if delimiter is not None and sep is not None:
        raise ValueError("Cannot specify both 'delimiter' and 'sep'.")
    given = delimiter if sep is None else sep
    between = b" " if given is None else bytes(convert_to_tensor(given)._array[()])
    array = unwrap(string_tensor(source, "StringSplit", convert=True))
    if array.ndim != 1:
        raise invalid(f"input must be a vector, got shape: {shape_text(array.shape)}")
    rows = [list(_parts(text, between, bool(skip_empty))) for text in texts_of(array)]
    ragged = Ragged(
        strings([part for row in rows for part in row], (sum(map(len, rows)),)),
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
    )
    return RaggedTensor(ragged) if result_type == "RaggedTensor" else _as_sparse(ragged)


def _parts(text: bytes, between: bytes, skip_empty: bool) -> Iterator[bytes]:
    if not between:
        parts = [text[at : at + 1] for at in range(len(text))]
    else:
        parts = re.split(b"[" + re.escape(between) + b"]", text)
    return (part for part in parts if part or not skip_empty)


def _as_sparse(ragged: Ragged) -> SparseTensor:
    lengths = np.diff(ragged.row_splits)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    columns = np.arange(len(rows)) - np.repeat(ragged.row_splits[:-1], lengths)
    indices = np.stack([rows, columns], axis=1).astype(np.int64)
    shape = (len(lengths), int(lengths.max(initial=0)))
    return SparseTensor.of(Sparse(indices, ragged.flat_values, shape))


# --- n-grams ----------------------------------------------------------------------------------------


def ngrams(  # noqa: PLR0917 - TensorFlow's signature
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Each ``ngram_width`` consecutive strings of the innermost dimension, joined."""
    left, right = _padding(pad_values)
    if padding_width is not None and padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
    tensor = string_tensor(data, "StringNGrams", convert=True)
    if isinstance(tensor, EagerTensor) and not tensor.ndim:
        raise ValueError("Data must have rank>0")
    if any(width < 1 for width in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    window = _Windows(widths, separator.encode(), left, right, padding_width, bool(preserve_short_sequences))
    if pad_values is None:
        window.padding = 0
    if isinstance(tensor, RaggedTensor):
        return RaggedTensor(_ragged_ngrams(tensor._ragged, window))
    array = tensor._array
    rows = [window(row) for row in array.reshape(-1, array.shape[-1]).tolist()]
    if not rows:
        return of_array(array[..., :0])
    values = strings([gram for row in rows for gram in row], (sum(map(len, rows)),))
    return of_array(values.reshape(*array.shape[:-1], len(rows[0])))


def _ragged_ngrams(ragged: Ragged, window: _Windows) -> Ragged:
    inner = ragged.values
    if isinstance(inner, Ragged):
        return Ragged(_ragged_ngrams(inner, window), ragged.row_splits)
    values, splits = inner.tolist(), ragged.row_splits.tolist()
    rows = [window(values[first:end]) for first, end in pairwise(splits)]
    joined = strings([gram for row in rows for gram in row], (sum(map(len, rows)),))
    return Ragged(joined, np.cumsum([0, *map(len, rows)], dtype=ragged.row_splits.dtype))


def _padding(pad_values: Any) -> tuple[bytes, bytes]:
    pair = pad_values if isinstance(pad_values, (list, tuple)) else (pad_values, pad_values)
    if pad_values is None:
        return b"", b""
    if not all(isinstance(value, (str, bytes)) for value in pair[:2]):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    left, right = (value.encode() if isinstance(value, str) else value for value in pair[:2])
    return left, right


class _Windows:
    """The n-grams of one sequence. ``padding`` is None for as much as each width allows."""

    def __init__(  # noqa: PLR0917
        self,
        widths: Sequence[int],
        separator: bytes,
        left: bytes,
        right: bytes,
        padding: int | None,
        keep_short: bool,
    ) -> None:
        self._widths = widths
        self._separator = separator
        self._left, self._right = left, right
        self.padding = padding
        self._keep_short = keep_short

    def __call__(self, row: list[bytes]) -> list[bytes]:
        grams = [gram for width in self._widths for gram in self._of_width(row, width, self._pad(width))]
        if grams or not self._keep_short or not row:
            return grams
        # A sequence that is too short for all widths is one n-gram, padded as the narrowest.
        pad = min(self._widths) - 1 if self.padding is None else self.padding
        return self._of_width(row, len(row) + 2 * pad, pad)

    def _pad(self, width: int) -> int:
        return width - 1 if self.padding is None else min(self.padding, width - 1)

    def _of_width(self, row: list[bytes], width: int, pad: int) -> list[bytes]:
        padded = [self._left] * pad + row + [self._right] * pad
        return [
            self._separator.join(padded[first : first + width]) for first in range(len(padded) - width + 1)
        ]
