"""TFRecord without TensorFlow: read, write, check, repair and load TFRecord files and Example data.

Everything public is here; see the README for a tour. Names that TensorFlow has too mean the same.
The payload side is imported when it is first used, so that ``import purerecord`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .deflate import TFRecordOptions
from .errors import (
    ChecksumError,
    ClosedError,
    CompressionError,
    CorruptionError,
    DecodeError,
    EncodeError,
    PureRecordError,
    SchemaError,
    StaleIndexError,
    TruncatedError,
)
from .index import Index, build_index, load_index
from .reader import read_batches, read_records
from .recordfile import RecordFile
from .records import Records
from .writer import ShardedWriter, TFRecordWriter

__version__ = "0.1.0"
