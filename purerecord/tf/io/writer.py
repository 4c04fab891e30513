"""``tf.io.TFRecordWriter``: the core's writer with TensorFlow's arguments and errors.

This module does not know what a record holds.
"""

from __future__ import annotations

import os
from typing import Any

from ... import public
from ...container.writer import TFRecordWriter as CoreWriter
from .._values.tensor import EagerTensor
from ..errors import FailedPreconditionError, translated


@public
class TFRecordCompressionType:
    """The numbers of compression types in TensorFlow 1."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


@public
class TFRecordWriter:
    """Writes records to a TFRecord file, with TensorFlow's bytes and errors."""

    def __init__(self, path: Any, options: Any = None) -> None:
        if isinstance(path, EagerTensor):
            path = path.numpy()
        with translated():
            self._writer = CoreWriter(os.fsdecode(path), options)

    def write(self, record: Any) -> None:
        """Write one record: bytes, or text, which is stored as UTF-8."""
        if not isinstance(record, (bytes, bytearray, str)):
            raise TypeError(
                "write(): incompatible function arguments. A record must be bytes or str, not "
                f"{type(record).__name__}; a message has SerializeToString(), a tensor has numpy()"
            )
        self._check_open()
        with translated():
            self._writer.write(record)

    def flush(self) -> None:
        """Pass all records so far to the operating system."""
        self._check_open()
        with translated():
            self._writer.flush()

    def _check_open(self) -> None:
        if self._writer.closed:
            raise FailedPreconditionError(None, None, "Writer is closed.")

    def close(self) -> None:
        """Write the rest and close the file. A second call does nothing."""
        with translated():
            self._writer.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
