"""``tf.random``: random numbers, the same ones after the same ``set_seed``.

The numbers have TensorFlow's distributions but other values. As in TensorFlow, the operations with one
``seed`` share one sequence, which ``set_seed`` restarts; in a function of a dataset each operation has its
own. Without any seed, every run differs. This module does not know datasets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._missing import missing
from ._values.seeds import generator, set_seed
from ._values.tensor import EagerTensor, convert_to_tensor, of_array, shape_tuple, to_numpy
from .dtypes import as_dtype, float32
from .errors import invalid

__all__ = [
    "normal",
    "set_seed",
    "shuffle",
    "truncated_normal",
    "uniform",
]


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
    dims = shape_tuple(shape)
    if wanted.is_integer:
        if maxval is None:
            raise ValueError(f"Must specify maxval for integer dtype {wanted!r}")
        low, high = to_numpy(minval), to_numpy(maxval)
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
    wanted = as_dtype(dtype).as_numpy_dtype
    numbers = generator(seed).standard_normal(shape_tuple(shape))
    return of_array(np.asarray(numbers * to_numpy(stddev) + to_numpy(mean)).astype(wanted))


def truncated_normal(  # noqa: PLR0917 - TensorFlow's signature
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: Any = None,
    name: str | None = None,
) -> EagerTensor:
    """Normally distributed numbers, redrawn if beyond two standard deviations."""
    source = generator(seed)
    numbers = np.asarray(source.standard_normal(shape_tuple(shape)))
    while bool((far := np.abs(numbers) > 2).any()):
        numbers[far] = source.standard_normal(int(far.sum()))
    scaled = numbers * to_numpy(stddev) + to_numpy(mean)
    return of_array(np.asarray(scaled).astype(as_dtype(dtype).as_numpy_dtype))


def shuffle(value: Any, seed: Any = None, name: str | None = None) -> EagerTensor:
    """The elements of the first dimension in random order."""
    return of_array(generator(seed).permutation(to_numpy(value)))


__getattr__ = missing("random")
