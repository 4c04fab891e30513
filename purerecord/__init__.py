"""TFRecord without TensorFlow: read, write, check, repair and load TFRecord files and Example data.

Everything public is here; the README is a tour. Names that TensorFlow has too mean the same.
What most programs do not need at once is imported when it is first used, so importing this is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .container.index import Index, build_index, load_index
from .container.reader import read_batches, read_records
from .container.record_file import RecordFile
from .container.sharded_writer import ShardedWriter
from .container.writer import TFRecordWriter
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
from .records import Records
from .storage.compression import TFRecordOptions

if TYPE_CHECKING:
    from .container.damage import Damage
    from .dataset.dataset import Dataset, TFRecordDataset
    from .dataset.engine.states import merge_states
    from .payload.encode.examples import encode_examples
    from .payload.example import (
        decode_example,
        decode_sequence_example,
        encode_example,
        encode_sequence_example,
    )
    from .payload.parse.examples import decode_examples, parse_example, parse_single_example
    from .payload.parse.schema import infer_schema, schema_from_json, schema_to_json
    from .payload.parse.sequences import parse_sequence_example, parse_single_sequence_example
    from .payload.proto import (
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
    from .payload.ragged import Ragged
    from .payload.sparse import Sparse
    from .payload.specs import (
        FixedLenFeature,
        FixedLenSequenceFeature,
        RaggedFeature,
        SparseFeature,
        VarLenFeature,
    )
    from .payload.tensor import parse_tensor, serialize_tensor
    from .recovery.report import FileReport, Report
    from .recovery.salvage import salvage
    from .recovery.scan import Frame, scan
    from .recovery.validate import validate

__version__ = "0.1.0"

_LAZY = {
    "container.damage": ["Damage"],
    "dataset": ["Dataset", "TFRecordDataset"],
    "recovery.salvage": ["salvage"],
    "recovery.scan": ["Frame", "scan"],
    "recovery.report": ["FileReport", "Report"],
    "recovery.validate": ["validate"],
    "payload.encode.examples": ["encode_examples"],
    "payload.example": [
        "decode_example",
        "decode_sequence_example",
        "encode_example",
        "encode_sequence_example",
    ],
    "payload.specs": [
        "FixedLenFeature",
        "FixedLenSequenceFeature",
        "RaggedFeature",
        "SparseFeature",
        "VarLenFeature",
    ],
    "payload.parse.examples": ["decode_examples", "parse_example", "parse_single_example"],
    "payload.proto": [
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
    "payload.ragged": ["Ragged"],
    "payload.sparse": ["Sparse"],
    "payload.parse.schema": ["infer_schema", "schema_from_json", "schema_to_json"],
    "payload.parse.sequences": ["parse_sequence_example", "parse_single_sequence_example"],
    "dataset.engine.states": ["merge_states"],
    "payload.tensor": ["parse_tensor", "serialize_tensor"],
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
