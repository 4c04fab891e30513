"""Operations of ``purerecord.tf``: each expression is evaluated with both libraries.

Equal means the same dtype, shape and values to four digits, or the same class of error. The expressions of
one function are one test.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

import numpy as np
import pytest

import purerecord.tf as ours
from tests.support.facade_operations import NOT_FOR, ODD_ARGUMENTS, OF_RAGGED, OPERATIONS, RAGGED_TENSORS
from tests.support.interop import interop

tf = interop("tensorflow")


def plain(value: Any) -> Any:  # noqa: PLR0911 - a table of kinds
    """A value of either library as built-in types."""
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if hasattr(value, "nested_row_splits"):
        splits = [plain(part) for part in value.nested_row_splits]
        return ("ragged", plain(value.flat_values), splits, str(value.shape))
    if hasattr(value, "dense_shape"):
        return ("sparse", plain(value.indices), plain(value.values), plain(value.dense_shape))
    if hasattr(value, "as_numpy_dtype"):
        return ("dtype", value.name)
    if hasattr(value, "numpy") and hasattr(value, "dtype"):
        return ("tensor", value.dtype.name, *rounded(np.asarray(value)))
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, repr(value.tolist()))
    if isinstance(value, np.generic):
        return ("scalar", str(value.dtype), repr(value.item()))
    return re.sub("0x[0-9a-f]+", "", repr(value))


def rounded(array: Any) -> Any:
    """The shape, and the values as text: of floats four digits, and no sign of zero and NaN."""
    if array.dtype.kind not in "fcV":
        return array.shape, repr(array.tolist())
    parts = [
        f"{part + 0.0:.4g}".replace("-nan", "nan")
        for number in np.asarray(array, np.complex128).reshape(-1).tolist()
        for part in (number.real, number.imag)
    ]
    return array.shape, ["0" if part == "-0" else part for part in parts]


def outcome(namespace: Any, expression: str) -> Any:
    """The value of an expression, or the class of the error that it raises."""
    try:
        return plain(eval(expression, {"tf": namespace, "np": np}))
    except Exception as error:
        return type(error).__name__


def function_of(expression: str) -> str:
    return re.split(r"[(\[]", expression, maxsplit=1)[0]


def by_function(expressions: list[str]) -> list[Any]:
    ordered = sorted(expressions, key=function_of)
    return [pytest.param(list(part), id=name) for name, part in groupby(ordered, function_of)]


def differences(expressions: list[str]) -> list[Any]:
    results = [(expression, outcome(tf, expression), outcome(ours, expression)) for expression in expressions]
    return [result for result in results if repr(result[1]) != repr(result[2])]


@pytest.mark.parametrize("expressions", by_function(OPERATIONS))
def test_operation_gives_the_same_value_or_the_same_error(expressions):
    assert not differences(expressions)


@pytest.mark.parametrize("expressions", by_function(ODD_ARGUMENTS))
def test_odd_arguments_give_the_same_value_or_the_same_error(expressions):
    assert not differences(expressions)


@pytest.mark.parametrize("letter", RAGGED_TENSORS)
def test_ragged_tensor_gives_the_same_in_every_operation(letter):
    expressions = [
        re.sub(r"\bX\b", RAGGED_TENSORS[letter], template)
        for template in OF_RAGGED
        if letter not in NOT_FOR.get(template, "")
    ]
    assert len(expressions) > 300
    assert not differences(expressions)
