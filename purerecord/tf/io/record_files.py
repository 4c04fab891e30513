"""The records of a TFRecord file as TensorFlow reads them, with its errors and its idea of the end.

The core reads and checks. TensorFlow takes two kinds of truncation for a normal end of the file: an
incomplete header, and a compressed file that is cut between two records. This module does the same. After an
error it leaves out the rest of the file. It does not know what a record holds.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

from ...container.frame_stream import FrameStream
from ...container.frames import HEADER
from ...container.looks_like import open_source
from ...errors import CompressionError, CorruptionError, TruncatedError
from ...storage.compression import TFRecordOptions
from ...storage.url import local_path
from ..errors import DataLossError, UnimplementedError, combined_error, translate, translated
from ..gfile import known_scheme

_COMPRESSION_TYPES = ("", "GZIP", "ZLIB")


class TFRecordIterator(Iterator[bytes]):
    """The records of one file. At the end it can be asked again and yields what was appended meanwhile."""

    def __init__(self, path: Any, compression: str = "") -> None:
        self._compression = compression
        name = local_path(path)
        with translated(), known_scheme(name):
            self._stream = FrameStream(open_source(name, compression))
        self._loaded: Iterator[bytes] = iter(())
        self._truncation: Exception | None = None  # raised again by every later call

    def __next__(self) -> bytes:
        for record in self._loaded:
            return record
        if self._truncation is not None:
            raise self._truncation
        try:
            payloads = self._stream.payloads()
        except (CorruptionError, OSError) as error:
            translated_error = self._as_tensorflow(error)
            if translated_error is None:
                raise StopIteration from None
            raise translated_error from error
        if payloads is None:
            raise StopIteration
        self._loaded = iter(payloads)
        return next(self)

    def _as_tensorflow(self, error: Exception) -> Exception | None:
        """TensorFlow's error, or None if TensorFlow takes this damage for the end of the file."""
        if isinstance(error, TruncatedError) and error.expected == HEADER:
            return None
        if isinstance(error, CompressionError) and "is cut" in error.reason:
            damage = self._stream.skip()
            if damage.end - damage.begin < HEADER:
                return None
            text = f"truncated record at {damage.begin}' failed with EOF reached"
            self._truncation = combined_error(DataLossError, error, text)
            return self._truncation
        return translate(error, compressed=bool(self._compression))

    def close(self) -> None:
        """Close the file. No more records follow."""
        self._loaded = iter(())
        self._stream.close()

    def __del__(self) -> None:
        if hasattr(self, "_stream"):
            self.close()


class tf_record_iterator:  # noqa: N801 - TensorFlow's name
    """The records of one file as ``bytes``; at the end it can go on if the file has grown."""

    def __init__(self, path: Any, options: Any = None) -> None:
        compression = TFRecordOptions.get_compression_type_string(options)
        self._records = TFRecordIterator(os.fsdecode(path), compression)
        self._closed = False

    def __iter__(self) -> tf_record_iterator:
        return self

    def __next__(self) -> bytes:
        if self._closed:
            raise StopIteration
        return next(self._records)

    def reopen(self) -> None:
        """Does nothing: at the end the iterator sees by itself what was appended."""

    def close(self) -> None:
        """Close the file. No more records follow."""
        self._closed = True
        self._records.close()


def compression_of(compression_type: Any) -> str:
    """The compression that an argument names. As in TensorFlow, an unknown name is logged and means none."""
    name = compression_type.decode() if isinstance(compression_type, bytes) else str(compression_type or "")
    if name == "SNAPPY":
        raise UnimplementedError(None, None, "purerecord does not read SNAPPY")
    if name not in _COMPRESSION_TYPES:
        logging.getLogger("purerecord").error(
            "Unsupported compression_type: %s. No compression will be used.", name
        )
        return ""
    return name
