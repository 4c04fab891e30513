"""``tf.train``: Example and its relatives, which are purerecord's own messages.

Only the three lists need help: newest protobuf refuses the booleans that half of all tutorials store, and
TensorFlow's tensors. So ``Int64List`` and its siblings are classes that make messages of the real class
and recognise them, and stand for that class in everything else. This module does not know files, nor what
a tensor is beyond its ``__array__``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..payload import proto
from ..payload.proto import Example, Feature, FeatureList, FeatureLists, Features, SequenceExample
from ._missing import missing

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
]


class _ListType(type):
    """Stands for a message class: calls make its messages, ``isinstance`` knows them."""

    message: Any
    convert: Callable[[Any], Any]

    def __call__(cls, *, value: Any = ()) -> Any:
        if value is None:
            return cls.message()
        return cls.message(value=[cls.convert(item) for item in _items(value)])

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.message)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.message)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.message, name)


def _items(value: Any) -> Any:
    """What is in ``value``: arrays and tensors as lists of Python's own objects, which is faster too."""
    if hasattr(value, "__array__"):
        value = np.asarray(value)
        return value.tolist() if value.ndim == 1 and value.dtype.kind not in "SU" else value
    if not hasattr(value, "__iter__"):
        raise TypeError("must assign iterable")
    return value


def _plain(item: Any) -> Any:
    """A scalar tensor or array as the Python object in it."""
    if hasattr(item, "__array__") and not isinstance(item, np.generic):
        array = np.asarray(item)
        return array.item() if array.ndim == 0 else item
    return item


def _whole_number(item: Any) -> Any:
    item = _plain(item)
    return int(item) if isinstance(item, (bool, np.bool_)) else item


class Int64List(metaclass=_ListType):
    """``Int64List(value=[1, 2, 3])``; booleans are stored as 0 and 1."""

    message = proto.Int64List
    convert = staticmethod(_whole_number)


class FloatList(metaclass=_ListType):
    """``FloatList(value=[0.5, 1])``; what float32 cannot hold becomes infinite."""

    message = proto.FloatList
    convert = staticmethod(_plain)


class BytesList(metaclass=_ListType):
    """``BytesList(value=[b"..."])``; text has to be encoded first."""

    message = proto.BytesList
    convert = staticmethod(_plain)


__getattr__ = missing("train")
