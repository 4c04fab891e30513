"""The protobuf messages of TensorFlow's Example family, TensorProto, and Event.

They are real protobuf messages with TensorFlow's full names (``tensorflow.Example``), in a descriptor pool
of their own. So TensorFlow, or another library with the same messages, can be imported before or after.
Bytes, text format and JSON are interchangeable, but the classes are not: pass messages between libraries as
bytes. ``proto/*.proto`` describes the fields.

Importing this module imports protobuf, which the other modules of the package do without. It does not know
how Examples are encoded and decoded.
"""

from __future__ import annotations

import base64
import copyreg
from operator import methodcaller
from typing import Any

# protobuf's types come as a separate package, which may not be installed.
from google.protobuf import (  # type: ignore[import-untyped,unused-ignore]
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)

from ._descriptors import FILE_DESCRIPTOR_SET

# The messages that ``purerecord`` and ``purerecord.tf.train`` export. Both list the names once more: the
# former must not import protobuf, and type checkers read only literal lists. A test compares the lists.
MESSAGES = (
    "BytesList",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
)


def _make_pool() -> Any:
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(FILE_DESCRIPTOR_SET))
    for file in files.file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


def message_class(descriptor: Any, pool: Any) -> Any:
    """The class of a message in ``pool``."""
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)  # protobuf 4.21


def _make_class(name: str) -> Any:
    """The class of the message ``name``, which may be nested: "Outer.Inner"."""
    descriptor = _pool.FindMessageTypeByName(f"tensorflow.{name}")
    message = message_class(descriptor, _pool)
    # Pickles name the class by these two, so that they do not depend on where this module lies.
    message.__module__ = "purerecord" if name.partition(".")[0] in MESSAGES else __name__
    message.__qualname__ = name
    copyreg.pickle(message, _reduce)
    # Not every version makes nested messages by itself, or shows them as attributes of the outer one.
    for nested in descriptor.nested_types:
        inner = _make_class(f"{name}.{nested.name}")
        if not hasattr(message, nested.name):
            setattr(message, nested.name, inner)
    return message


def _reduce(message: Any) -> tuple[Any, tuple[Any]]:
    """How to pickle ``message``: as its class and its bytes.

    protobuf's own way looks up nested messages in the default pool, which lacks them or has TensorFlow's.
    """
    return methodcaller("FromString", message.SerializeToString()), (type(message),)


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
Event = _make_class("Event")
