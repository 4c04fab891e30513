"""Arrays in numpy's own format, read and written some rows at a time. No pickles.

This module must not know records.
"""

from __future__ import annotations

import math
import os
import shutil
from typing import Any, BinaryIO

import numpy as np

from ....errors import EncodeError

_COPIED = 1 << 20
_LARGEST = 1 << 46  # bytes: no file is as large
_HEADERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class NpyReader:
    """An array that is read row by row: its ``dtype``, its ``shape``, its name for errors."""

    def __init__(self, file: Any, name: str) -> None:
        self.name = name
        self._file = file
        try:
            version = np.lib.format.read_magic(file)
            if version not in _HEADERS:
                raise EncodeError(
                    f"array of version {version[0]}.{version[1]}, which is not read", feature=name
                )
            self.shape, fortran, self.dtype = _HEADERS[version](file)
        except ValueError as error:
            raise EncodeError(f"is no array: {str(error).splitlines()[0]}", feature=name) from None
        if self.dtype.hasobject:
            reason = (
                "Python objects, which only unpickling could read; save strings as S or U, numbers as numbers"
            )
            raise EncodeError(reason, feature=name)
        if not self.shape:
            raise EncodeError("has no rows, it is one value; leave it out (--columns)", feature=name)
        if min(self.shape) < 0:
            raise EncodeError(f"is no array: its shape is {self.shape}", feature=name)
        self.rows = self.shape[0]
        self.row_bytes = self.dtype.itemsize * math.prod(self.shape[1:])
        # Of an array in Fortran's order, the values of a row lie apart.
        self.whole = fortran and len(self.shape) > 1
        self._array = self._transposed() if self.whole else None
        self._done = 0

    def _transposed(self) -> Any:
        data = self._data(self.rows)
        return np.frombuffer(data, self.dtype).reshape(self.shape[::-1]).transpose()

    def _data(self, rows: int) -> bytes:
        size = rows * self.row_bytes
        data: bytes = self._file.read(size) if size < _LARGEST else b""
        if len(data) < size:
            raise EncodeError("the file ends inside of this array", feature=self.name)
        return data

    def read(self, rows: int) -> Any:
        """The next rows."""
        begin, self._done = self._done, self._done + rows
        if self._array is not None:
            return self._array[begin : self._done]
        return np.frombuffer(self._data(rows), self.dtype).reshape(rows, *self.shape[1:])


class NpySpool:
    """An array that is written row by row to a temporary file, because its length stands before it."""

    def __init__(self, path: str, dtype: Any, shape: tuple[int, ...]) -> None:
        self._path = path
        self._file = open(path, "wb")  # noqa: SIM115 - closed below
        self._dtype = np.dtype(dtype)
        self._shape = shape  # of a row
        self._size = 0
        self.last: Any = None  # the last row

    def write(self, values: Any) -> None:
        """Write more rows, which may be flat."""
        if not len(values):
            return
        self.last = values[-1]
        self._size += self._file.write(np.ascontiguousarray(values, self._dtype).data.cast("B"))

    def finish(self, target: BinaryIO | Any) -> None:
        """Write the whole array to ``target``."""
        self._file.close()
        row = self._dtype.itemsize * int(np.prod(self._shape, dtype=np.int64))
        header = {
            "descr": np.lib.format.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (self._size // row if row else 0, *self._shape),
        }
        np.lib.format.write_array_header_1_0(target, header)
        with open(self._path, "rb") as file:
            shutil.copyfileobj(file, target, _COPIED)
        os.unlink(self._path)

    def close(self) -> None:
        """Close the temporary file."""
        self._file.close()
