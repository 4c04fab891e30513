"""``tf.lookup``: tables from keys to values, such as vocabularies.

A table here is a dictionary. This module does not know datasets.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ._missing import missing
from ._text.hashing import fingerprint64
from ._text.numbers import as_float, as_integer
from ._values.convert import Array, strings
from ._values.operators import kernel_name, shape_text
from ._values.ragged_sparse import RaggedTensor, SparseTensor
from ._values.tensor import EagerTensor, convert_to_tensor, of_array
from .dtypes import DType, as_dtype, int64, string
from .errors import FailedPreconditionError, invalid
from .gfile import GFile

__all__ = [
    "KeyValueTensorInitializer",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
    "experimental",
]


class TextFileIndex:
    """What of a line ``TextFileInitializer`` takes, if it is not the column of a number."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class KeyValueTensorInitializer:
    """The keys and values of a table, given as tensors or lists."""

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None
    ) -> None:
        self._keys, self._values = convert_to_tensor(keys, key_dtype), convert_to_tensor(values, value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._keys.dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

    def pairs(self) -> list[tuple[Any, Any]]:
        """All keys with their values."""
        keys, values = self._keys._array, self._values._array
        if keys.shape != values.shape:
            raise invalid(
                f"Expected shape {shape_text(keys.shape)} for value, got {shape_text(values.shape)}"
            )
        return list(zip(keys.reshape(-1).tolist(), values.reshape(-1).tolist(), strict=True))


class TextFileInitializer:
    """The keys and values of a table in the lines of a text file.

    ``key_index`` and ``value_index`` are the numbers of columns, or those of ``TextFileIndex``.
    """

    def __init__(  # noqa: PLR0917 - TensorFlow's signature
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        if not isinstance(filename, EagerTensor) and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        for what, dtype, index, wording in (
            ("key", self.key_dtype, key_index, "if `key_index` is"),
            ("value", self.value_dtype, value_index, "for `value_index`"),
        ):
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"`{what}_index` should be >= -2, received: {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype is not int64:
                raise ValueError(f"`{what}_dtype` must be int64 {wording} -1, received: {dtype!s}")
            if index == TextFileIndex.WHOLE_LINE and not (dtype is string or dtype.is_integer):
                raise ValueError(
                    f"`{what}_dtype` must be either integer or string for `{what}_index` -2, received: {dtype!s}"  # noqa: E501
                )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError("`vocab_size` should be a positive integer, or None.")
        self._filename = filename.numpy().decode() if isinstance(filename, EagerTensor) else filename
        self._indices = (int(key_index), int(value_index))
        self._size, self._delimiter, self._offset = vocab_size, delimiter.encode(), int(value_index_offset)

    def pairs(self) -> list[tuple[Any, Any]]:
        """All keys with their values."""
        if len(self._delimiter) != 1:
            raise invalid("delimiter should be only 1 char")
        with GFile(self._filename, "rb") as file:
            lines = [line.rstrip(b"\r\n") if line.endswith(b"\r\n") else line.rstrip(b"\n") for line in file]
        if self._size is not None and len(lines) < self._size:
            raise invalid(
                f"Invalid vocab_size in {self._filename}: expected {self._size} but got {len(lines)}"
            )
        key, value = self._indices
        return [
            (
                self._part(line, number, key, self.key_dtype, 0),
                self._part(line, number, value, self.value_dtype, self._offset),
            )
            for number, line in enumerate(lines[: self._size])
        ]

    def _part(self, line: bytes, number: int, index: int, dtype: DType, offset: int) -> Any:
        if index == TextFileIndex.LINE_NUMBER:
            return number + offset
        if index == TextFileIndex.WHOLE_LINE:
            text = line
        else:
            columns = line.split(self._delimiter)
            if index >= len(columns):
                needed = max(self._indices) + 1
                raise invalid(
                    f"Invalid number of columns in {self._filename} line {number} "
                    f"({line.decode(errors='replace')}) : expected at least {needed} got {len(columns)}"
                )
            text = columns[index]
        if dtype is string:
            return text
        parsed = as_integer(text, dtype) if dtype.is_integer else as_float(text, dtype)
        if parsed is None:
            shown = text.decode(errors="replace")
            raise invalid(
                f"Field {shown} in line {number} of {self._filename} is not a valid {kernel_name(dtype)}."
            )
        return parsed


class _Table:
    """A dictionary from keys of one dtype to values of another one."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str | None) -> None:
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self.default_value = convert_to_tensor(default_value, self.value_dtype)
        self.name = name or "hash_table"
        self._values: dict[Any, Any] = {}

    def size(self, name: str | None = None) -> EagerTensor:
        """The number of keys."""
        return of_array(np.array(len(self._values), np.int64))

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys: of a dense, ragged or sparse tensor. A missing key has the default value."""
        if isinstance(keys, RaggedTensor):
            return keys.with_flat_values(self.lookup(keys.flat_values))
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, self.lookup(keys.values), keys.dense_shape)
        return of_array(self._found(self._checked(keys)))

    __getitem__ = lookup

    def _checked(self, keys: Any) -> Array:
        tensor = keys if isinstance(keys, EagerTensor) else convert_to_tensor(keys, self.key_dtype)
        if tensor.dtype is not self.key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self.key_dtype!s}, received: {tensor.dtype!s}"
            )
        return tensor._array

    def _found(self, keys: Array, defaults: Array | None = None) -> Array:
        fill = self.default_value._array if defaults is None else defaults
        shape = self.default_value._array.shape
        each = fill.reshape((-1, *shape)) if defaults is not None and fill.shape != shape else None
        rows = [
            self._values.get(key, fill if each is None else each[number])
            for number, key in enumerate(keys.reshape(-1).tolist())
        ]
        return self._stacked(rows, keys.shape)

    def _stacked(self, rows: list[Any], shape: tuple[int, ...]) -> Array:
        inner = self.default_value._array.shape
        flat = [leaf for row in rows for leaf in np.asarray(row, object).reshape(-1).tolist()]
        if self.value_dtype is string:
            return strings(flat, (*shape, *inner))
        return np.array(flat, self.value_dtype.as_numpy_dtype).reshape((*shape, *inner))

    def export(self, name: str | None = None) -> tuple[EagerTensor, EagerTensor]:
        """All keys and all values."""
        keys = list(self._values)
        dtype = self.key_dtype
        array = strings(keys, (len(keys),)) if dtype is string else np.array(keys, dtype.as_numpy_dtype)
        return of_array(array), of_array(self._stacked(list(self._values.values()), (len(keys),)))


class StaticHashTable(_Table):
    """A table that is filled once, by an initializer."""

    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype, default_value, name)
        for key, value in initializer.pairs():
            if key in self._values and self._values[key] != value:
                shown = [part.decode(errors="replace") if isinstance(part, bytes) else part
                         for part in (key, self._values[key], value)]  # fmt: skip
                text = "HashTable has different value for same key. Key {} has {} and trying to add value {}"
                raise FailedPreconditionError(None, None, text.format(*shown))
            self._values[key] = value


class StaticVocabularyTable:
    """A table of numbers that gives unknown keys the numbers behind, by their hashes."""

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        self._table = None
        self.key_dtype = string if lookup_key_dtype is None else as_dtype(lookup_key_dtype)
        self.value_dtype = int64
        self.name = name or "string_to_index"
        if initializer is not None:
            if initializer.value_dtype is not int64:
                raise TypeError(
                    f"Invalid `value_dtype`, expected {int64!s} but got {initializer.value_dtype!s}."
                )
            if initializer.key_dtype is not self.key_dtype and not (
                initializer.key_dtype.is_integer and self.key_dtype.is_integer
            ):
                raise TypeError(
                    "Invalid `key_dtype`, expected an integer or string dtype as the initializer's, got "
                    f"{initializer.key_dtype!s} and {self.key_dtype!s}."
                )
            self._table = StaticHashTable(initializer, -1)
        self._buckets = int(num_oov_buckets)

    def _known(self) -> int:
        return 0 if self._table is None else len(self._table._values)

    def size(self, name: str | None = None) -> EagerTensor:
        """The number of numbers: those of the keys and those of unknown keys."""
        return of_array(np.array(self._known() + self._buckets, np.int64))

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The numbers of keys: of a dense, ragged or sparse tensor."""
        if isinstance(keys, RaggedTensor):
            return keys.with_flat_values(self.lookup(keys.flat_values))
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, self.lookup(keys.values), keys.dense_shape)
        tensor = keys if isinstance(keys, EagerTensor) else convert_to_tensor(keys, self.key_dtype)
        if tensor.dtype is not self.key_dtype:
            raise TypeError(
                f"Dtype of argument `keys` must be {self.key_dtype!s}, received: {tensor.dtype!s}"
            )
        known = {} if self._table is None else self._table._values
        found = [
            known[key] if key in known else self._bucket(key) for key in tensor._array.reshape(-1).tolist()
        ]
        return of_array(np.array(found, np.int64).reshape(tensor._array.shape))

    __getitem__ = lookup

    def _bucket(self, key: Any) -> int:
        text = key if isinstance(key, bytes) else str(key).encode()
        return self._known() + fingerprint64(text) % self._buckets


class MutableHashTable(_Table):
    """A table whose keys can be inserted and removed."""

    def __init__(  # noqa: PLR0917
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name)

    def lookup(  # type: ignore[override]
        self, keys: Any, dynamic_default_values: Any = None, name: str | None = None
    ) -> Any:
        """The values of keys; of missing ones those of ``dynamic_default_values``, or the default value."""
        if dynamic_default_values is None:
            return super().lookup(keys)
        defaults = convert_to_tensor(dynamic_default_values, self.value_dtype)._array
        return of_array(self._found(self._checked(keys), defaults))

    __getitem__ = lookup  # type: ignore[assignment]

    def _parts(self, keys: Any, values: Any) -> tuple[Array, Array]:
        names = convert_to_tensor(keys, self.key_dtype)._array
        contents = convert_to_tensor(values, self.value_dtype)._array
        wanted = (*names.shape, *self.default_value._array.shape)
        if contents.shape != wanted:
            raise invalid(f"Expected shape {shape_text(wanted)} for value, got {shape_text(contents.shape)}")
        return names, contents

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Sets the values of keys."""
        names, contents = self._parts(keys, values)
        rows = contents.reshape(names.size, *self.default_value._array.shape)
        for key, row in zip(names.reshape(-1).tolist(), rows, strict=True):
            self._values[key] = row

    def remove(self, keys: Any, name: str | None = None) -> None:
        """Removes keys; those that are missing do not matter."""
        for key in self._checked(keys).reshape(-1).tolist():
            self._values.pop(key, None)

    erase = remove


class DenseHashTable(MutableHashTable):
    """A ``MutableHashTable`` with two keys that must not be used, which TensorFlow needs."""

    def __init__(  # noqa: PLR0917 - TensorFlow's signature
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name)
        self._reserved = {
            convert_to_tensor(key, self.key_dtype)._array.item(): what
            for key, what in ((empty_key, "empty_key"), (deleted_key, "deleted_key"))
        }
        if len(self._reserved) < 2:
            raise invalid("Empty and deleted keys cannot be equal")

    def _checked(self, keys: Any) -> Array:
        array = super()._checked(keys)
        for key in array.reshape(-1).tolist():
            if key in self._reserved:
                raise invalid(f"Using the {self._reserved[key]} as a table key is not allowed")
        return array

    def _parts(self, keys: Any, values: Any) -> tuple[Array, Array]:
        names, contents = super()._parts(keys, values)
        self._checked(of_array(names))
        return names, contents


experimental = SimpleNamespace(DenseHashTable=DenseHashTable, MutableHashTable=MutableHashTable)

__getattr__ = missing("lookup")
