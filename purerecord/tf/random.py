"""``tf.random``: random numbers, the same ones after the same ``set_seed``.

The numbers have TensorFlow's distributions but other values. As in TensorFlow, the operations with one
``seed`` share one sequence, which ``set_seed`` restarts. Without any seed, every run differs. The generators
are state of the whole process; only ``purerecord.tf`` uses them. This module does not know datasets.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ._missing import missing
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

_lock = threading.Lock()
_global_seed: int | None = None
_generators: dict[int | None, np.random.Generator] = {}


def set_seed(seed: Any) -> None:
    """Restarts all sequences from this global seed; None makes them unpredictable."""
    global _global_seed  # noqa: PLW0603 - the global seed of TensorFlow
    with _lock:
        _global_seed = None if seed is None else int(seed)
        _generators.clear()


def generator(seed: Any = None) -> np.random.Generator:
    """The generator that all operations with this ``seed``, or with none, share."""
    own = None if seed is None else int(seed)
    with _lock:
        if own not in _generators:
            entropy = [number & (2**64 - 1) for number in (_global_seed, own) if number is not None]
            # A global seed of 5 must not give the numbers of an operation seed of 5.
            kind = (_global_seed is not None) * 2 + (own is not None)
            _generators[own] = np.random.default_rng([kind, *entropy] if entropy else None)
        return _generators[own]


def shuffle_seed(seed: Any = None) -> str:
    """The seed of a shuffle: from ``seed`` and the global seed, or a new random one if ``seed`` is None."""
    return f"{int(generator().integers(2**31))}" if seed is None else f"{_global_seed} {int(seed)}"


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
    numbers = np.asarray(generator(seed).standard_normal(shape_tuple(shape)))
    while bool((far := np.abs(numbers) > 2).any()):
        numbers[far] = generator(seed).standard_normal(int(far.sum()))
    scaled = numbers * to_numpy(stddev) + to_numpy(mean)
    return of_array(np.asarray(scaled).astype(as_dtype(dtype).as_numpy_dtype))


def shuffle(value: Any, seed: Any = None, name: str | None = None) -> EagerTensor:
    """The elements of the first dimension in random order."""
    return of_array(generator(seed).permutation(to_numpy(value)))


__getattr__ = missing("random")
