"""``tf.random.Generator``: a generator with a state of its own.

Its numbers equal TensorFlow's. This module does not know the sequences that ``tf.random.set_seed`` restarts.
"""

from __future__ import annotations

import math
import secrets
from typing import Any

import numpy as np

from ... import public
from .._values.tensor import EagerTensor, of_array, to_numpy
from ..dtypes import as_dtype, float32, int64, uint64
from . import philox
from .stateless import check_algorithm, check_float, scaled, shape_of, uniform_at

_WORD = 2**64


@public
class Generator:
    """Random numbers from a state of its own: ``Generator.from_seed(1).uniform([2])``."""

    _words: list[int]

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("Argument `copy_from` must not be given together with `state` or `alg`.")
            self._words = list(copy_from._words)
            return
        if alg is None or state is None:
            raise ValueError("Arguments `state` and `alg` must not be None.")
        check_algorithm(alg)
        self.reset(state)

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """A generator with this state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A generator that depends on ``seed`` alone."""
        return cls(state=create_rng_state(seed, alg or "philox"), alg=alg or "philox")

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator that differs in every run."""
        return cls(state=[secrets.randbits(63) for _ in range(3)], alg=alg or "philox")

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """A generator with a key and a counter of two numbers."""
        made = cls(state=[0, 0, 0], alg=alg)
        made.reset_from_key_counter(key, counter)
        return made

    def reset(self, state: Any) -> None:
        """Go to a state: two words of the counter and the key."""
        words = [int(word) % _WORD for word in np.asarray(to_numpy(state)).reshape(-1).tolist()]
        if len(words) != 3:
            raise ValueError(f"a state has 3 numbers, not {len(words)}")
        self._words = words

    def reset_from_seed(self, seed: Any) -> None:
        """Go to the beginning of the sequence of a seed."""
        self.reset(create_rng_state(seed, "philox"))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Go to a key and a counter of two numbers."""
        self.reset(
            [*np.asarray(to_numpy(counter)).reshape(-1).tolist(), int(np.asarray(to_numpy(key)).reshape(()))]
        )

    @property
    def state(self) -> EagerTensor:
        """The state: two words of the counter and the key."""
        return of_array(np.array(self._words, np.uint64).view(np.int64))

    @property
    def algorithm(self) -> int:
        """The number of the algorithm: 1, Philox."""
        return 1

    @property
    def key(self) -> EagerTensor:
        """The key, the last word of the state."""
        return of_array(self.state._array[-1, ...])

    def skip(self, delta: Any) -> EagerTensor:
        """Go on as far as ``delta`` numbers take; the result is the state before."""
        before = self.state
        counter = (self._words[0] | self._words[1] << 64) + int(to_numpy(delta)) * 256
        self._words[:2] = [counter % _WORD, (counter >> 64) % _WORD]
        return before

    def _advance(self, dims: tuple[int, ...]) -> philox.Place:
        """The place of the next numbers, which are passed."""
        place = philox.Place(self._words[2], self._words[0] | self._words[1] << 64)
        self.skip(math.prod(dims))
        return place

    def uniform(
        self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, name: str | None = None
    ) -> EagerTensor:
        """Uniform numbers from ``minval`` up to, but not including, ``maxval``; for floats 1 by default."""
        wanted = as_dtype(dtype)
        if wanted.is_integer and (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype {wanted!s}, minval and maxval must be both `None` or both non-`None`; got "  # noqa: E501
                f"minval={minval} and maxval={maxval}"
            )
        return uniform_at(self._advance(shape_of(shape)), shape, minval, maxval, wanted)

    def uniform_full_int(self, shape: Any, dtype: Any = uint64, name: str | None = None) -> EagerTensor:
        """Uniform integers from the whole range of the dtype."""
        return self.uniform(shape, None, None, dtype)

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = float32,
        name: str | None = None,
    ) -> EagerTensor:
        """Normally distributed numbers."""
        wanted, dims = as_dtype(dtype), shape_of(shape)
        check_float(wanted, mean, stddev)
        numbers = philox.normal(self._advance(dims), math.prod(dims), wanted.as_numpy_dtype)
        return scaled(numbers, shape, mean, stddev, wanted)

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = float32,
        name: str | None = None,
    ) -> EagerTensor:
        """Normally distributed numbers, redrawn if beyond two standard deviations."""
        wanted, dims = as_dtype(dtype), shape_of(shape)
        check_float(wanted, mean, stddev)
        numbers = philox.truncated_normal(self._advance(dims), math.prod(dims), wanted.as_numpy_dtype)
        return scaled(numbers, shape, mean, stddev, wanted)

    def make_seeds(self, count: Any = 1) -> EagerTensor:
        """Seeds for the stateless functions, one in each column: ``[2, count]``."""
        keys = self.uniform_full_int([int(count)], int64)._array
        return of_array(np.stack([keys, np.zeros_like(keys)]))

    def split(self, count: int = 1) -> list[Generator]:
        """``count`` new generators that are independent of each other."""
        keys = self.uniform_full_int([int(count)], int64)._array.tolist()
        return [Generator(state=[0, 0, key], alg="philox") for key in keys]


def create_rng_state(seed: Any, alg: Any) -> EagerTensor:
    """The state of a ``Generator`` for a seed: an integer or a vector of integers."""
    check_algorithm(alg)
    if isinstance(seed, int):
        words = [seed >> 64 * place & (_WORD - 1) for place in range(3)]
    else:
        words = [int(word) % _WORD for word in np.asarray(to_numpy(seed)).reshape(-1).tolist()[:3]]
        words = [0] * (3 - len(words)) + words
    return of_array(np.array(words, np.uint64).view(np.int64))


_global: list[Generator] = []


def get_global_generator() -> Generator:
    """The generator of the process; it differs in every run until ``set_global_generator``."""
    if not _global:
        _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator: Generator) -> None:
    """Makes ``generator`` the one of the process."""
    _global[:] = [generator]
