"""Runs one program with TensorFlow and with purerecord.tf, and brings both results into one form."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np

# Our messages name no iterators that TensorFlow's optimisations insert, and do not number datasets.
IN_FUNCTION = re.compile(r"^(Error in .* passed to \w+)(?::\d+)?( transformation) with iterator: \S+: ")
WRAPPING = re.compile(r"^\{\{.*?\}\} | \[Op:.*$|\nTraceback.*|\n\t.*$", re.DOTALL)


def plain(value: Any) -> Any:  # noqa: PLR0911
    """An element or a part of one, of either library, in a form that can be compared."""
    if isinstance(value, (dict, tuple, list)):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        return {key: plain(part) for key, part in parts}
    if hasattr(value, "nested_row_splits"):
        return ("ragged", plain(value.flat_values), [plain(splits) for splits in value.nested_row_splits])
    if hasattr(value, "dense_shape"):
        return ("sparse", *(plain(part) for part in (value.indices, value.values, value.dense_shape)))
    if hasattr(value, "has_value"):
        return ("optional", plain(value.get_value()) if value.has_value() else None)
    if hasattr(value, "element_spec") and hasattr(value, "__iter__"):
        return ("dataset", [plain(element) for element in value])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, {key: plain(part) for key, part in vars(value).items()})
    if hasattr(value, "numpy"):
        return (value.dtype.name, value.shape.as_list(), plain(value.numpy()))
    return _plain_value(value)


def _plain_value(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)) and not isinstance(value, bytes):
        return (str(value.dtype), value.shape, repr(value.tolist()))  # all NaNs have the same repr
    return value if isinstance(value, (bytes, str, int, float, bool, type(None))) else repr(value)


def error_of(error: Exception) -> tuple[str, str]:
    """The class and the text of an error, without what TensorFlow adds around it."""
    text = WRAPPING.sub("", str(error)).strip()
    text = IN_FUNCTION.sub(r"\1\2: ", text)
    return type(error).__name__, re.sub(r" at 0x[0-9a-f]+", "", text)


def run(tf: Any, program: Callable[[Any], Any]) -> Any:
    """The result of ``program(tf)``. Of a dataset, its cardinality and elements."""
    try:
        result = program(tf)
        if isinstance(result, tf.data.Dataset):
            number = int(result.cardinality())
            return {"number": number, "elements": [plain(element) for element in result.take(40)]}
        return plain(result)
    except Exception as error:  # the test compares the errors
        return error_of(error)


def steps(dataset: Any) -> list[Any]:
    """The elements of a dataset, with the class of each error in its place. At most 40."""
    found: list[Any] = []
    iterator = iter(dataset)
    while len(found) < 40:
        try:
            found.append(plain(next(iterator)))
        except StopIteration:
            return found
        except Exception as error:  # the test compares the classes
            found.append(type(error).__name__)
    return found


def pattern(epochs: list[list[Any]]) -> list[Any]:
    """Random elements in a form that can be compared: each value as the number of values seen before it."""
    numbers: dict[str, int] = {}

    def number(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(number, value))
        return numbers.setdefault(repr(plain(value)), len(numbers))

    return [[number(element) for element in epoch] for epoch in epochs]


def specs(tf: Any, program: Callable[[Any], Any]) -> Any:
    """The element spec of the dataset that ``program(tf)`` returns."""
    return program(tf).element_spec


def fits(ours: Any, theirs: Any) -> bool:  # noqa: PLR0911
    """Whether our spec equals TensorFlow's, or has the same dtype and a more specific shape."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(fits(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, tuple):
        pairs = zip(ours, theirs, strict=True)
        return len(ours) == len(theirs) and all(fits(*pair) for pair in pairs)
    if type(ours).__name__ != type(theirs).__name__:
        return False
    if dataclasses.is_dataclass(theirs):
        return fits(vars(ours), vars(theirs))
    if hasattr(theirs, "element_spec"):  # the spec of a dataset or of an optional
        return fits(ours.element_spec, theirs.element_spec)
    if not hasattr(theirs, "dtype"):
        return repr(ours) == repr(theirs)
    if ours.dtype.name != theirs.dtype.name:
        return False
    return theirs.shape.rank is None or theirs.shape.is_compatible_with(ours.shape.as_list())
