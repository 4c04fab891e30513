"""TFRecord without TensorFlow: read, write, check, repair and load TFRecord files and Example data.

Everything public is here; the README is a tour. Names that TensorFlow has too mean the same.
What most programs do not need at once is imported when it is first used, so importing this is quick.
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
from .shards import ShardedWriter
from .writer import TFRecordWriter

if TYPE_CHECKING:
    from .damage import Damage
    from .dataset import Dataset, TFRecordDataset
    from .example import decode_example, decode_sequence_example, encode_example, encode_sequence_example
    from .features import (
        FixedLenFeature,
        FixedLenSequenceFeature,
        RaggedFeature,
        SparseFeature,
        VarLenFeature,
    )
    from .parse import decode_examples, parse_example, parse_single_example
    from .proto import (
        BytesList,
        Example,
        Feature,
        FeatureList,
        FeatureLists,
        Features,
        FloatList,
        Int64List,
        SequenceExample,
    )
    from .ragged import Ragged, Sparse
    from .recovery import Frame, salvage, scan
    from .report import FileReport, Report
    from .scatter import encode_examples
    from .schema import infer_schema, schema_from_json, schema_to_json
    from .sequence import parse_sequence_example, parse_single_sequence_example
    from .share import merge_states
    from .tensor import parse_tensor, serialize_tensor
    from .validation import validate

__version__ = "0.1.0"

_LAZY = {
    "damage": ["Damage"],
    "dataset": ["Dataset", "TFRecordDataset"],
    "recovery": ["Frame", "salvage", "scan"],
    "report": ["FileReport", "Report"],
    "validation": ["validate"],
    "scatter": ["encode_examples"],
    "example": ["decode_example", "decode_sequence_example", "encode_example", "encode_sequence_example"],
    "features": [
        "FixedLenFeature",
        "FixedLenSequenceFeature",
        "RaggedFeature",
        "SparseFeature",
        "VarLenFeature",
    ],
    "parse": ["decode_examples", "parse_example", "parse_single_example"],
    "proto": [
        "BytesList",
        "Example",
        "Feature",
        "FeatureList",
        "FeatureLists",
        "Features",
        "FloatList",
        "Int64List",
        "SequenceExample",
    ],
    "ragged": ["Ragged", "Sparse"],
    "schema": ["infer_schema", "schema_from_json", "schema_to_json"],
    "sequence": ["parse_sequence_example", "parse_single_sequence_example"],
    "share": ["merge_states"],
    "tensor": ["parse_tensor", "serialize_tensor"],
}
_HOME = {name: module for module, names in _LAZY.items() for name in names}

__all__ = [
    "BytesList",
    "ChecksumError",
    "ClosedError",
    "CompressionError",
    "CorruptionError",
    "Damage",
    "Dataset",
    "DecodeError",
    "EncodeError",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FileReport",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "FloatList",
    "Frame",
    "Index",
    "Int64List",
    "PureRecordError",
    "Ragged",
    "RaggedFeature",
    "RecordFile",
    "Records",
    "Report",
    "SchemaError",
    "SequenceExample",
    "ShardedWriter",
    "Sparse",
    "SparseFeature",
    "StaleIndexError",
    "TFRecordDataset",
    "TFRecordOptions",
    "TFRecordWriter",
    "TruncatedError",
    "VarLenFeature",
    "build_index",
    "decode_example",
    "decode_examples",
    "decode_sequence_example",
    "encode_example",
    "encode_examples",
    "encode_sequence_example",
    "infer_schema",
    "load_index",
    "merge_states",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "read_batches",
    "read_records",
    "salvage",
    "scan",
    "schema_from_json",
    "schema_to_json",
    "serialize_tensor",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
