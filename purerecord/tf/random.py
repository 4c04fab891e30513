"""``tf.random``: random numbers, the same ones after the same ``set_seed``.

The numbers have TensorFlow's distributions but other values; those of the stateless functions and of
``Generator`` have its values, too. As in TensorFlow, the operations with one
``seed`` share one sequence, which ``set_seed`` restarts; in a function of a dataset each operation has its
own. Without any seed, every run differs. This module does not know datasets.
"""

from __future__ import annotations

from enum import Enum
from types import SimpleNamespace
from typing import Any

import numpy as np

from ._missing import missing
from ._random.generator import Generator, create_rng_state, get_global_generator, set_global_generator
from ._random.stateless import (
    check_float,
    fold_in,
    scaled,
    shape_of,
    split,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)
from ._values.seeds import generator, set_seed
from ._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from .dtypes import as_dtype, bfloat16, float16, float32, float64, int32, int64
from .errors import invalid

__all__ = [
    "Algorithm",
    "Generator",
    "categorical",
    "create_rng_state",
    "experimental",
    "fold_in",
    "gamma",
    "get_global_generator",
    "normal",
    "poisson",
    "set_global_generator",
    "set_seed",
    "shuffle",
    "split",
    "stateless_normal",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]


class Algorithm(Enum):
    """The algorithms of generators; Philox is the one there is here."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


experimental = SimpleNamespace(
    Generator=Generator,
    create_rng_state=create_rng_state,
    get_global_generator=get_global_generator,
    set_global_generator=set_global_generator,
    stateless_fold_in=fold_in,
    stateless_split=split,
)


_UNIFORM = (float16, bfloat16, float32, float64, int32, int64)


def uniform(  # noqa: PLR0917 - TensorFlow's signature
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: Any = None,
    name: str | None = None,
) -> EagerTensor:
    """Uniform numbers from ``minval`` up to, but not including, ``maxval``; for floats 1 by default."""
    wanted = as_dtype(dtype)
    dims = shape_of(shape)
    if wanted not in _UNIFORM:
        raise ValueError(f"Argument `dtype` got invalid value {wanted!s}. Accepted dtypes are {_UNIFORM}.")
    if wanted.is_integer:
        if maxval is None:
            raise ValueError(f"Must specify maxval for integer dtype {wanted!r}")
        low, high = (to_numpy(convert_to_tensor(limit, wanted)) for limit in (minval, maxval))
        if low.ndim or high.ndim:
            which, shown = ("minval", low.shape) if low.ndim else ("maxval", high.shape)
            raise invalid(f"{which} must be 0-D, got shape [{','.join(map(str, shown))}]")
        if not bool(np.all(low < high)):
            raise invalid(f"Need minval < maxval, got {low} >= {high}")
        return of_array(np.asarray(generator(seed).integers(low, high, dims, wanted.as_numpy_dtype)))
    low = to_numpy(convert_to_tensor(minval, wanted))
    high = to_numpy(convert_to_tensor(1 if maxval is None else maxval, wanted))
    numbers = generator(seed).random(dims, np.float64 if wanted.size == 8 else np.float32)
    return of_array(np.asarray(numbers * (high - low) + low).astype(wanted.as_numpy_dtype))


def normal(  # noqa: PLR0917 - TensorFlow's signature
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: Any = None,
    name: str | None = None,
) -> EagerTensor:
    """Normally distributed numbers."""
    wanted = as_dtype(dtype)
    check_float(wanted, mean, stddev)
    numbers = generator(seed).standard_normal(shape_of(shape)).astype(wanted.as_numpy_dtype)
    return scaled(numbers, shape, mean, stddev, wanted)


def truncated_normal(  # noqa: PLR0917 - TensorFlow's signature
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: Any = None,
    name: str | None = None,
) -> EagerTensor:
    """Normally distributed numbers, redrawn if beyond two standard deviations."""
    wanted = as_dtype(dtype)
    check_float(wanted, mean, stddev)
    source = generator(seed)
    numbers = np.asarray(source.standard_normal(shape_of(shape)))
    while bool((far := np.abs(numbers) > 2).any()):
        numbers[far] = source.standard_normal(int(far.sum()))
    return scaled(numbers.astype(wanted.as_numpy_dtype), shape, mean, stddev, wanted)


def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None
) -> EagerTensor:
    """Samples from categories, ``[batch, num_samples]``; ``logits`` has the logarithms of their weights."""
    weights = to_numpy(logits)
    wanted = as_dtype("int64" if dtype is None else dtype)
    if weights.ndim != 2:
        raise invalid(f"logits should be a matrix, got shape [{','.join(map(str, weights.shape))}]")
    count = int(to_numpy(num_samples))
    if count < 0:
        raise invalid(f"num_samples should be non-negative, got {count}")
    if not weights.shape[1]:
        raise invalid("num_classes should be positive, got 0")
    noise = generator(seed).gumbel(size=(len(weights), count, weights.shape[1]))
    return of_array(np.argmax(weights[:, None, :] + noise, axis=-1).astype(wanted.as_numpy_dtype))


def multinomial(
    logits: Any,
    num_samples: Any,
    seed: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
) -> EagerTensor:
    """``categorical`` in TensorFlow 1."""
    return categorical(logits, num_samples, output_dtype, seed)


def gamma(  # noqa: PLR0917 - TensorFlow's signature
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = float32,
    seed: Any = None,
    name: str | None = None,
) -> EagerTensor:
    """Gamma distributed numbers: for each ``alpha`` (shape) and ``beta`` (rate) those of ``shape``."""
    wanted = as_dtype(dtype)
    check_float(wanted, alpha)
    form = to_numpy(convert_to_tensor(alpha, wanted))
    rate = to_numpy(convert_to_tensor(1 if beta is None else beta, wanted))
    dims = (*shape_of(shape), *np.broadcast_shapes(form.shape, rate.shape))
    numbers = generator(seed).standard_gamma(np.broadcast_to(form, dims).astype(np.float64))
    return of_array(np.asarray(numbers / rate).astype(wanted.as_numpy_dtype))


def poisson(
    shape: Any, lam: Any, dtype: Any = float32, seed: Any = None, name: str | None = None
) -> EagerTensor:
    """Poisson distributed numbers: for each rate ``lam`` those of ``shape``."""
    wanted = as_dtype(dtype)
    rate = to_numpy(convert_to_tensor(lam))
    dims = (*shape_of(shape), *rate.shape)
    numbers = generator(seed).poisson(np.broadcast_to(rate, dims).astype(np.float64))
    return of_array(np.asarray(numbers).astype(wanted.as_numpy_dtype))


def poisson_v1(
    lam: Any, shape: Any, dtype: Any = float32, seed: Any = None, name: str | None = None
) -> EagerTensor:
    """``poisson`` in TensorFlow 1."""
    return poisson(shape, lam, dtype, seed)


def shuffle(value: Any, seed: Any = None, name: str | None = None) -> EagerTensor:
    """The elements of the first dimension in random order."""
    array = to_numpy(value)
    return of_array(generator(seed).permutation(array) if array.ndim else array)


__getattr__ = missing("random")
