"""``tf.random.stateless_uniform`` and so on: random numbers that are a function of their seed.

They equal TensorFlow's, normally distributed ones up to the last bits. This module does not know the
sequences that ``tf.random.set_seed`` restarts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._values.operators import kernel_name
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, shape_tuple, to_numpy
from ..dtypes import (
    DType,
    as_dtype,
    bfloat16,
    float16,
    float32,
    float64,
    int32,
    int64,
    of_numpy,
    uint32,
    uint64,
)
from ..errors import UnimplementedError, invalid
from . import philox

_FLOATS = (float16, bfloat16, float32, float64)
_UNIFORM = (*_FLOATS, int32, int64, uint32, uint64)


def place_of(seed: Any, alg: Any = "auto_select") -> philox.Place:
    """The beginning of the sequence of a seed, which is two integers."""
    check_algorithm(alg)
    array = to_numpy(seed)
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 4:
        kind = kernel_name(of_numpy(array.dtype))
        raise invalid(f"Value for attr 'Tseed' of {kind} is not in the list of allowed values: int32, int64")
    if array.shape != (2,):
        raise invalid(f"seed must have shape [2], not [{','.join(map(str, array.shape))}]")
    first, second = array.tolist()
    return philox.Place.of_seed(first, second)


def check_algorithm(alg: Any) -> None:
    """Raise an error for another algorithm than Philox, which is TensorFlow's choice on a CPU."""
    name = {1: "philox", 2: "threefry", 3: "auto_select"}.get(alg, str(alg).lower())
    if name == "threefry":
        raise UnimplementedError(None, None, "tf.random is in purerecord.tf with the algorithm philox only")
    if name not in ("philox", "auto_select"):
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are philox for the Philox algorithm, "  # noqa: E501
            "threefry for the ThreeFry algorithm, and auto_select for auto-selection."
        )


def uniform_at(place: philox.Place, shape: Any, minval: Any, maxval: Any, wanted: DType) -> EagerTensor:
    """Uniform numbers from the sequence at ``place``."""
    dims = shape_of(shape)
    count, numpy = math.prod(dims), wanted.as_numpy_dtype
    if wanted.is_integer:
        low = high = None
        if minval is not None:
            low, high = (to_numpy(convert_to_tensor(limit, wanted)) for limit in (minval, maxval))
            if low.ndim or high.ndim:
                shape_ = low.shape or high.shape
                raise invalid(f"minval must be 0-D, got shape [{','.join(map(str, shape_))}]")
            if not low < high:
                raise invalid(f"Need minval < maxval, got {low} >= {high}")
        return of_array(philox.integers(place, count, low, high, numpy).reshape(dims))
    lowest = to_numpy(convert_to_tensor(minval, wanted))
    highest = to_numpy(convert_to_tensor(1 if maxval is None else maxval, wanted))
    numbers = philox.uniform(place, count, numpy).reshape(dims)
    return of_array(np.asarray(numbers * (highest - lowest) + lowest))


def shape_of(shape: Any) -> tuple[int, ...]:
    """A shape whose lengths must not be negative."""
    dims = shape_tuple(shape)
    for length in dims:
        if length < 0:
            raise invalid(f"Dimension {length} must be >= 0")
    return dims


def scaled(numbers: Any, shape: Any, mean: Any, stddev: Any, dtype: DType) -> EagerTensor:
    """Standard normal numbers with another mean and deviation."""
    middle, deviation = (to_numpy(convert_to_tensor(value, dtype)) for value in (mean, stddev))
    return of_array(np.asarray(numbers.reshape(shape_of(shape)) * deviation + middle))


def check_float(dtype: DType, *parameters: Any) -> None:
    """Raise an error for another dtype than a floating-point one, or if the parameters do not have it."""
    for parameter in parameters:
        convert_to_tensor(parameter, dtype)
    if dtype not in _FLOATS:
        raise invalid(
            f"Value for attr 'dtype' of {kernel_name(dtype)} is not in the list of allowed values: half, "
            "bfloat16, float, double"
        )


def stateless_uniform(  # noqa: PLR0917 - TensorFlow's signature
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> EagerTensor:
    """Uniform numbers that depend on ``seed`` (two integers) alone."""
    wanted = as_dtype(dtype)
    if wanted not in _UNIFORM:
        raise ValueError(f"Argument `dtype` got invalid value {wanted!s}. Accepted dtypes are {_UNIFORM}.")
    if wanted.is_integer:
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer `dtype` argument {wanted!s}, argument `minval` and `maxval` must be both None or "  # noqa: E501
                f"not None. Got `minval`={minval} and `maxval`={maxval}."
            )
        if minval is not None and wanted.is_unsigned:
            raise ValueError(
                f"Argument `dtype` got invalid value {wanted!s} when argument `minval` is not None. Please "
                "don't use unsigned integers in this case."
            )
    return uniform_at(place_of(seed, alg), shape, minval, maxval, wanted)


def stateless_normal(  # noqa: PLR0917 - TensorFlow's signature
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> EagerTensor:
    """Normally distributed numbers that depend on ``seed`` (two integers) alone."""
    wanted = as_dtype(dtype)
    check_float(wanted, mean, stddev)
    place = place_of(seed, alg)
    numbers = philox.normal(place, math.prod(shape_of(shape)), wanted.as_numpy_dtype)
    return scaled(numbers, shape, mean, stddev, wanted)


def stateless_truncated_normal(  # noqa: PLR0917 - TensorFlow's signature
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> EagerTensor:
    """``stateless_normal`` whose numbers are redrawn if beyond two standard deviations."""
    wanted = as_dtype(dtype)
    check_float(wanted, mean, stddev)
    place = place_of(seed, alg)
    numbers = philox.truncated_normal(place, math.prod(shape_of(shape)), wanted.as_numpy_dtype)
    return scaled(numbers, shape, mean, stddev, wanted)


def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> EagerTensor:
    """``num`` new seeds made from one, ``[num, 2]``."""
    tensor = convert_to_tensor(seed)
    return stateless_uniform([int(num), 2], tensor, None, None, tensor.dtype, alg=alg)


def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> EagerTensor:
    """A new seed made from one and a number, such as that of a step."""
    number = convert_to_tensor(data)
    first = stateless_uniform([], seed, None, None, number.dtype, alg=alg)
    return of_array(np.stack([first._array, number._array]))
