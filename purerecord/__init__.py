"""TFRecord without TensorFlow: read, write, check, repair and load TFRecord files and Example data.

Everything public is here, and the README is a tour of it. Names that TensorFlow also has mean the same.
Most programs need only a part of it at once, so the rest is imported when it is first used.

Each public name stands here twice: in an import that only type checkers read, and in a table that Python
reads. This module must not know what the names do.
"""

from __future__ import annotations

from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, ForwardRef, TypeVar

_T = TypeVar("_T")
# Folders that users import by name. Their public names belong to them, all others to this module.
_PUBLIC_FOLDERS = ("arrow", "ray", "spark", "tf", "tfds", "tools", "view")


def public(thing: _T) -> _T:
    """Set ``__module__`` of a public class or function to the module from which users import it.

    Pickles and reprs name that module. So they do not depend on the file in which ``thing`` is defined.
    """
    home = thing.__module__
    if isinstance(thing, type):  # typing.get_type_hints resolves these where they were written, not here
        thing.__annotations__ = {
            name: ForwardRef(hint, module=home, is_class=True) if isinstance(hint, str) else hint
            for name, hint in vars(thing).get("__annotations__", {}).items()
        }
    folders = [folder for folder in home.split(".")[1:-1] if not folder.startswith("_")]
    if folders and folders[0] not in _PUBLIC_FOLDERS:
        folders = []
    elif folders and folders[0] == "tools":  # its names are those of the folder, wherever they are inside
        folders = folders[:1]
    thing.__module__ = ".".join([__name__, *folders])
    for member in list(vars(thing).values()) if isinstance(thing, type) else ():
        method = getattr(member, "__func__", member)  # of a class method or static method, the function
        if isinstance(method, FunctionType) and method.__module__ == home:
            method.__module__ = thing.__module__
    return thing


if TYPE_CHECKING:
    from .bytes_column import BytesColumn as BytesColumn
    from .container.damage import Damage as Damage
    from .container.index import Index as Index
    from .container.index import build_index as build_index
    from .container.index import load_index as load_index
    from .container.manifest import Manifest as Manifest
    from .container.manifest import ManifestEntry as ManifestEntry
    from .container.manifest import load_manifest as load_manifest
    from .container.reader import RecordReader as RecordReader
    from .container.reader import read_batches as read_batches
    from .container.reader import read_records as read_records
    from .container.record_file import RecordFile as RecordFile
    from .container.sharded_writer import ShardedWriter as ShardedWriter
    from .container.writer import TFRecordWriter as TFRecordWriter
    from .dataset.dataset import Dataset as Dataset
    from .dataset.dataset import DatasetIterator as DatasetIterator
    from .dataset.dataset import TFRecordDataset as TFRecordDataset
    from .dataset.engine.states import merge_states as merge_states
    from .errors import ChecksumError as ChecksumError
    from .errors import ClosedError as ClosedError
    from .errors import CompressionError as CompressionError
    from .errors import CorruptionError as CorruptionError
    from .errors import DecodeError as DecodeError
    from .errors import EncodeError as EncodeError
    from .errors import PureRecordError as PureRecordError
    from .errors import SchemaError as SchemaError
    from .errors import StaleIndexError as StaleIndexError
    from .errors import TruncatedError as TruncatedError
    from .payload.encode.examples import encode_examples as encode_examples
    from .payload.example import decode_example as decode_example
    from .payload.example import decode_sequence_example as decode_sequence_example
    from .payload.example import encode_example as encode_example
    from .payload.example import encode_sequence_example as encode_sequence_example
    from .payload.parse.examples import decode_examples as decode_examples
    from .payload.parse.examples import parse_example as parse_example
    from .payload.parse.examples import parse_single_example as parse_single_example
    from .payload.parse.schema import infer_schema as infer_schema
    from .payload.parse.schema import schema_from_json as schema_from_json
    from .payload.parse.schema import schema_to_json as schema_to_json
    from .payload.parse.schema_pbtxt import schema_from_pbtxt as schema_from_pbtxt
    from .payload.parse.schema_pbtxt import schema_to_pbtxt as schema_to_pbtxt
    from .payload.parse.sequences import parse_sequence_example as parse_sequence_example
    from .payload.parse.sequences import parse_single_sequence_example as parse_single_sequence_example
    from .payload.proto import BytesList as BytesList
    from .payload.proto import Example as Example
    from .payload.proto import Feature as Feature
    from .payload.proto import FeatureList as FeatureList
    from .payload.proto import FeatureLists as FeatureLists
    from .payload.proto import Features as Features
    from .payload.proto import FloatList as FloatList
    from .payload.proto import Int64List as Int64List
    from .payload.proto import SequenceExample as SequenceExample
    from .payload.ragged import Ragged as Ragged
    from .payload.sparse import Sparse as Sparse
    from .payload.specs import FixedLenFeature as FixedLenFeature
    from .payload.specs import FixedLenSequenceFeature as FixedLenSequenceFeature
    from .payload.specs import RaggedFeature as RaggedFeature
    from .payload.specs import SparseFeature as SparseFeature
    from .payload.specs import VarLenFeature as VarLenFeature
    from .payload.tensor import parse_tensor as parse_tensor
    from .payload.tensor import serialize_tensor as serialize_tensor
    from .records import Records as Records
    from .recovery.report import FileReport as FileReport
    from .recovery.report import Report as Report
    from .recovery.report import SalvageReport as SalvageReport
    from .recovery.salvage import salvage as salvage
    from .recovery.salvage import salvage_all as salvage_all
    from .recovery.scan import Frame as Frame
    from .recovery.scan import scan as scan
    from .recovery.validate import validate as validate
    from .storage.compression import TFRecordOptions as TFRecordOptions

__version__ = "0.1.0"

# Which module defines which names. Reading and writing files needs these: they are imported at once.
_AT_IMPORT = {
    "errors": [
        "ChecksumError",
        "ClosedError",
        "CompressionError",
        "CorruptionError",
        "DecodeError",
        "EncodeError",
        "PureRecordError",
        "SchemaError",
        "StaleIndexError",
        "TruncatedError",
    ],
    "bytes_column": ["BytesColumn"],
    "records": ["Records"],
    "storage.compression": ["TFRecordOptions"],
    "container.index": ["Index", "build_index", "load_index"],
    "container.reader": ["RecordReader", "read_batches", "read_records"],
    "container.record_file": ["RecordFile"],
    "container.writer": ["TFRecordWriter"],
    "container.sharded_writer": ["ShardedWriter"],
}
# These are imported when they are first used.
_ON_FIRST_USE = {
    "container.damage": ["Damage"],
    "recovery.report": ["FileReport", "Report", "SalvageReport"],
    "recovery.scan": ["Frame", "scan"],
    "recovery.salvage": ["salvage", "salvage_all"],
    "recovery.validate": ["validate"],
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
    "payload.example": [
        "decode_example",
        "decode_sequence_example",
        "encode_example",
        "encode_sequence_example",
    ],
    "payload.tensor": ["parse_tensor", "serialize_tensor"],
    "payload.ragged": ["Ragged"],
    "payload.sparse": ["Sparse"],
    "payload.specs": [
        "FixedLenFeature",
        "FixedLenSequenceFeature",
        "RaggedFeature",
        "SparseFeature",
        "VarLenFeature",
    ],
    "payload.encode.examples": ["encode_examples"],
    "payload.parse.examples": ["decode_examples", "parse_example", "parse_single_example"],
    "payload.parse.sequences": ["parse_sequence_example", "parse_single_sequence_example"],
    "payload.parse.schema": ["infer_schema", "schema_from_json", "schema_to_json"],
    "payload.parse.schema_pbtxt": ["schema_from_pbtxt", "schema_to_pbtxt"],
    "container.manifest": ["Manifest", "ManifestEntry", "load_manifest"],
    "dataset.dataset": ["Dataset", "DatasetIterator", "TFRecordDataset"],
    "dataset.engine.states": ["merge_states"],
}
_HOME = {name: module for module, names in {**_AT_IMPORT, **_ON_FIRST_USE}.items() for name in names}

if not TYPE_CHECKING:  # a type checker takes the imports above instead, and would not understand this list
    __all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOME, "__version__"])


for _names in _AT_IMPORT.values():
    for _name in _names:
        __getattr__(_name)
