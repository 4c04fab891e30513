"""``tf.io``: records, Examples, tensors as bytes, and whole files.

Almost everything is one of the core's functions with tensors around it and TensorFlow's errors. Parsing is
in ``parsing``, folders in ``gfile``, pictures in ``image``. This module does not know datasets.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import numpy as np

from ...container.writer import TFRecordWriter as CoreWriter
from ...errors import DecodeError, SchemaError
from ...payload import tensor as core
from ...storage.compression import TFRecordOptions
from .. import gfile
from .._missing import missing
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from ..dtypes import as_dtype
from ..errors import FailedPreconditionError, InvalidArgumentError, join, translated
from .parsing import (
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from .record_files import TFRecordIterator
from .specs import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "decode_raw",
    "gfile",
    "matching_files",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "read_file",
    "serialize_tensor",
    "tf_record_iterator",
    "write_file",
]

_RAW = "float16 float32 float64 int32 uint16 uint8 int16 int8 int64 complex64 complex128 bool bfloat16"
_SHORT = {"float16": "half", "float32": "float", "float64": "double"}  # as TensorFlow's kernels call them


class TFRecordCompressionType:
    """The old numbers for compression."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordWriter:
    """Writes records to a TFRecord file; bytes and errors are TensorFlow's."""

    def __init__(self, path: Any, options: Any = None) -> None:
        if isinstance(path, EagerTensor):
            path = path.numpy()
        with translated():
            self._writer = CoreWriter(os.fsdecode(path), options)

    def write(self, record: Any) -> None:
        """Add one record: bytes, or text, which is stored as UTF-8."""
        if not isinstance(record, (bytes, bytearray, str)):
            raise TypeError(
                "write(): incompatible function arguments. A record must be bytes or str, not "
                f"{type(record).__name__}; a message has SerializeToString(), a tensor has numpy()"
            )
        self._check_open()
        with translated():
            self._writer.write(record)

    def flush(self) -> None:
        """Hand everything so far to the operating system."""
        self._check_open()
        with translated():
            self._writer.flush()

    def _check_open(self) -> None:
        if self._writer.closed:
            raise FailedPreconditionError(None, None, "Writer is closed.")

    def close(self) -> None:
        """Write the rest and close the file; a second call does nothing."""
        with translated():
            self._writer.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class tf_record_iterator:  # noqa: N801 - TensorFlow's name
    """The records of one file as ``bytes``; goes on when the file has grown."""

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

    def close(self) -> None:
        """Close the file; nothing more comes."""
        self._closed = True
        self._records.close()


# --- Tensors ----------------------------------------------------------------------------------------


def serialize_tensor(tensor: Any, name: str | None = None) -> EagerTensor:
    """The serialized TensorProto of a tensor, as a scalar string."""
    with translated():
        return of_array(core.serialize_tensor(to_numpy(tensor)))


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> EagerTensor:
    """The tensor in a serialized TensorProto, which must be of type ``out_type``."""
    payload = _strings(serialized)
    if payload.ndim:
        shape = ",".join(map(str, payload.shape))
        raise _invalid(f"Expected `serialized` to be a scalar, got shape: [{shape}]")
    wanted = as_dtype(out_type)
    try:
        array = core.parse_tensor(payload[()])
    except DecodeError as error:
        what = (
            "Could not parse `serialized` as TensorProto"
            if "not a TensorProto" in str(error)
            else ("Cannot parse tensor from proto")
        )
        raise join(InvalidArgumentError, error, f"{what}: {error}") from error
    except SchemaError as error:
        raise join(InvalidArgumentError, error, str(error)) from error
    found = of_array(array)
    if found.dtype != wanted:
        names = (_SHORT.get(dtype.name, dtype.name) for dtype in (found.dtype, wanted))
        raise _invalid("Type mismatch between parsed tensor ({}) and dtype ({})".format(*names))
    return found


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> EagerTensor:
    """The bytes of each string as a vector of ``out_type``.

    With ``fixed_length``, each string is cut or filled up with zero bytes to that length; else all must have
    one length.
    """
    strings = _strings(input_bytes)
    dtype = as_dtype(out_type)
    if dtype.name not in _RAW.split():
        allowed = ", ".join(_SHORT.get(known, known) for known in _RAW.split())
        raise _invalid(
            f"Value for attr 'out_type' of {dtype.name} is not in the list of allowed values: {allowed}"
        )
    size = dtype.size
    values = strings.reshape(-1).tolist()
    if fixed_length is None:
        length = len(values[0]) if values else 0
        for position, value in enumerate(values):
            if len(value) != length:
                raise _invalid(
                    "DecodeRaw requires input strings to all be the same size, but element "
                    f"{position} has size {length} != {len(value)}"
                )
        if length % size:
            kind = _SHORT.get(dtype.name, dtype.name)
            raise _invalid(
                f"Input to DecodeRaw has length {length} that is not a multiple of {size}, the size of {kind}"
            )
    else:
        length = int(fixed_length)
        if length <= 0 or length % size:
            raise _invalid(f"fixed_length ({length}) must be a multiple of the size of out_type ({size})")
        values = [value[:length].ljust(length, b"\0") for value in values]
    flat = np.frombuffer(bytearray(b"".join(values)), np.uint8)
    array = _as_numbers(flat, dtype.dtype, swap=little_endian != (sys.byteorder == "little"))
    return of_array(array.reshape(*strings.shape, length // size))


def _as_numbers(octets: Any, dtype: Any, *, swap: bool) -> Any:
    if dtype == np.bool_:
        return octets != 0
    array = octets.view(dtype)
    return array.byteswap() if swap else array


# --- Files ------------------------------------------------------------------------------------------


def read_file(filename: Any, name: str | None = None) -> EagerTensor:
    """All bytes of a file, as a scalar string."""
    with gfile.GFile(_name(filename), "rb") as file:
        return of_array(file.read())


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Write a whole file; the folder is made if it is missing."""
    path = _name(filename)
    folder = os.path.dirname(path)
    if folder and not gfile.exists(folder):
        gfile.makedirs(folder)
    with gfile.GFile(path, "wb") as file:
        file.write(_strings(contents)[()])


def matching_files(pattern: Any, name: str | None = None) -> EagerTensor:
    """The files that match a pattern, or several, sorted, as a vector of strings."""
    patterns = [os.fsdecode(one) for one in _strings(pattern).reshape(-1).tolist()]
    return convert_to_tensor(np.array([path.encode() for path in sorted(gfile.glob(patterns))], object))


def _name(filename: Any) -> str:
    if isinstance(filename, os.PathLike):
        return os.fsdecode(filename)
    array = _strings(filename)
    if array.ndim:
        shape = ",".join(map(str, array.shape))
        raise _invalid(f"Input filename tensor must be scalar, but had shape: [{shape}]")
    return os.fsdecode(array[()])


def _strings(value: Any) -> Any:
    """An array of ``bytes`` objects."""
    array = to_numpy(value)
    if array.dtype.kind != "O":
        raise InvalidArgumentError(
            None, None, f"cannot compute with a {array.dtype.name} tensor: a string is needed"
        )
    return array


def _invalid(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


_IMAGES = (
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "is_jpeg",
)
_missing = missing("io")


def __getattr__(name: str) -> Any:
    """The functions for pictures, which need Pillow and are imported when they are asked for."""
    if name not in _IMAGES:
        return _missing(name)
    return getattr(import_module("..image", __package__), name)
