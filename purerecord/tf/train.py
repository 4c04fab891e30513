"""``tf.train``: ``Example``, ``SequenceExample`` and their parts, which are the core's messages.

Only the three lists differ. New versions of protobuf refuse booleans, which many tutorials store in an
``Int64List``, and they refuse tensors. So ``Int64List``, ``FloatList`` and ``BytesList`` are classes that
convert their values, make messages of the core's classes, and act as these classes otherwise. This module
knows neither files nor tensors; for it, a tensor is an object with ``__array__``.
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
    """A metaclass whose classes act as a message class: calls make messages, ``isinstance`` accepts them."""

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
    """The items of ``value``. Arrays and tensors become lists of Python objects, which is faster, too."""
    if hasattr(value, "__array__"):
        value = np.asarray(value)
        return value.tolist() if value.ndim == 1 and value.dtype.kind not in "SU" else value
    if not hasattr(value, "__iter__"):
        raise TypeError("must assign iterable")
    return value


def _as_python(item: Any) -> Any:
    """A scalar tensor or array as a Python object; any other item as it is."""
    if hasattr(item, "__array__") and not isinstance(item, np.generic):
        array = np.asarray(item)
        return array.item() if array.ndim == 0 else item
    return item


def _as_integer(item: Any) -> Any:
    item = _as_python(item)
    return int(item) if isinstance(item, (bool, np.bool_)) else item


class Int64List(metaclass=_ListType):
    """``Int64List(value=[1, 2, 3])``; booleans are stored as 0 and 1."""

    message = proto.Int64List
    convert = staticmethod(_as_integer)


class FloatList(metaclass=_ListType):
    """``FloatList(value=[0.5, 1])``; values beyond the range of float32 become infinite."""

    message = proto.FloatList
    convert = staticmethod(_as_python)


class BytesList(metaclass=_ListType):
    """``BytesList(value=[b"..."])``; text must be encoded first."""

    message = proto.BytesList
    convert = staticmethod(_as_python)


__getattr__ = missing("train")
