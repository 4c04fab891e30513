"""``tf.io``: records, Examples, tensors as bytes, and whole files.

Almost every function is one of the core's, with tensors for arguments and results and TensorFlow's errors.

    writer          ``TFRecordWriter``
    record_files    the records of a file as TensorFlow reads them; ``tf_record_iterator``
    specs           ``FixedLenFeature``, ``VarLenFeature``, ``RaggedFeature``, ...
    parsing         ``parse_example``, ``parse_sequence_example``, ...
    tensors         ``serialize_tensor``, ``parse_tensor``, ``decode_raw``
    csv             ``decode_csv``
    encodings       ``decode_compressed``, ``decode_base64``, ``encode_base64``
    protos          ``decode_proto``, ``encode_proto``, ``decode_json_example``
    files           ``read_file``, ``write_file``, ``matching_files``

``tf.io.gfile`` is the module ``gfile`` of the folder above. The functions for image files, such as
``decode_jpeg``, are those of ``image.codecs``, which is imported when one of them is first used. This folder
does not know datasets.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...storage.compression import TFRecordOptions
from .. import gfile
from .._missing import missing
from .csv import decode_csv
from .encodings import decode_base64, decode_compressed, encode_base64
from .files import matching_files, read_file, write_file
from .parsing import (
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from .protos import decode_json_example, decode_proto, encode_proto
from .record_files import tf_record_iterator
from .specs import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from .tensors import (
    decode_raw,
    deserialize_many_sparse,
    parse_tensor,
    serialize_many_sparse,
    serialize_sparse,
    serialize_tensor,
)
from .writer import TFRecordCompressionType, TFRecordWriter

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "decode_base64",
    "decode_compressed",
    "decode_csv",
    "decode_json_example",
    "decode_proto",
    "decode_raw",
    "deserialize_many_sparse",
    "encode_base64",
    "encode_proto",
    "gfile",
    "matching_files",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "read_file",
    "serialize_many_sparse",
    "serialize_sparse",
    "serialize_tensor",
    "tf_record_iterator",
    "write_file",
]

_missing = missing("io")


def __getattr__(name: str) -> Any:
    """A function for image files, imported on first use."""
    codecs = import_module("..image.codecs", __package__)
    return getattr(codecs, name) if name in codecs.__all__ else _missing(name)


def __dir__() -> list[str]:
    return sorted([*__all__, *import_module("..image.codecs", __package__).__all__])
