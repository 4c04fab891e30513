"""The protobuf messages of TensorFlow's Example family and TensorProto.

They are real protobuf messages with TensorFlow's full names (``tensorflow.Example``), but they live in a
descriptor pool of their own: TensorFlow, or any other library that brings the same messages, can be
imported before or after. Bytes, text format and JSON are interchangeable; the classes are not, so pass
messages between libraries as bytes. Importing this module imports protobuf; the codecs of this package
do without it. The messages' fields are described in ``proto/*.proto``.
"""

from __future__ import annotations

import base64
import copyreg
from typing import Any

# protobuf's types come as a separate package, which may be there or not.
from google.protobuf import (  # type: ignore[import-untyped,unused-ignore]
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)

from ._descriptors import FILE_DESCRIPTOR_SET

__all__ = [
    "BytesList",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
    "TensorProto",
    "TensorShapeProto",
]


def _make_pool() -> Any:
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(FILE_DESCRIPTOR_SET))
    for file in files.file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


def _make_class(name: str) -> Any:
    descriptor = _pool.FindMessageTypeByName(f"tensorflow.{name}")
    if hasattr(message_factory, "GetMessageClass"):
        message = message_factory.GetMessageClass(descriptor)
    else:  # protobuf 4.21
        message = message_factory.MessageFactory(_pool).GetPrototype(descriptor)
    message.__module__ = __name__
    # Left alone, pickle would look in the default pool, and find nothing or TensorFlow's class.
    copyreg.pickle(message, _reduce)
    _classes[descriptor.full_name] = message
    # Not every version makes nested messages by itself, or shows them as attributes of the outer one.
    for nested in descriptor.nested_types:
        inner = _make_class(f"{name}.{nested.name}")
        if not hasattr(message, nested.name):
            setattr(message, nested.name, inner)
    return message


def _reduce(message: Any) -> tuple[Any, tuple[str, bytes]]:
    return _restore, (message.DESCRIPTOR.full_name, message.SerializeToString())


def _restore(full_name: str, payload: bytes) -> Any:
    return _classes[full_name].FromString(payload)


_classes: dict[str, Any] = {}
_pool = _make_pool()

BytesList = _make_class("BytesList")
FloatList = _make_class("FloatList")
Int64List = _make_class("Int64List")
Feature = _make_class("Feature")
Features = _make_class("Features")
FeatureList = _make_class("FeatureList")
FeatureLists = _make_class("FeatureLists")
Example = _make_class("Example")
SequenceExample = _make_class("SequenceExample")
TensorShapeProto = _make_class("TensorShapeProto")
TensorProto = _make_class("TensorProto")
