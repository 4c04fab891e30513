"""Random changes of images that depend on a seed of two integers alone: ``stateless_random_crop``, ...

They equal TensorFlow's. This module does not know the sequences that ``tf.random.set_seed`` restarts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._random.stateless import stateless_uniform
from .._values.tensor import EagerTensor, of_array, to_numpy
from ..dtypes import int32
from .adjust import adjust_brightness, adjust_contrast, adjust_jpeg_quality, check_qualities, check_range
from .colours import adjust_hue, adjust_saturation
from .crop_and_pad import crop_lengths
from .pixels import image_array


def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> EagerTensor:
    """``adjust_brightness`` by a random number between ``-max_delta`` and ``max_delta``."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, stateless_uniform([], seed, -max_delta, max_delta))


def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> EagerTensor:
    """``adjust_contrast`` by a random factor between ``lower`` and ``upper``."""
    check_range(lower, upper)
    return adjust_contrast(image, stateless_uniform([], seed, lower, upper))


def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> EagerTensor:
    """``adjust_saturation`` by a random factor between ``lower`` and ``upper``."""
    check_range(lower, upper)
    return adjust_saturation(image, stateless_uniform([], seed, lower, upper))


def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> EagerTensor:
    """``adjust_hue`` by a random number between ``-max_delta`` and ``max_delta``."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, stateless_uniform([], seed, -max_delta, max_delta))


def stateless_random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any
) -> EagerTensor:
    """``adjust_jpeg_quality`` to a random quality."""
    check_qualities(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, int32))


def _flipped(image: Any, seed: Any, axis: int) -> EagerTensor:
    array = image_array(image)
    if array.ndim == 3:
        chance = to_numpy(stateless_uniform([], seed))
        return of_array(np.flip(array, axis) if chance < 0.5 else array)
    chances = to_numpy(stateless_uniform([len(array)], seed))
    chosen = np.round(chances).astype(np.bool_)[:, None, None, None]
    return of_array(np.where(chosen, np.flip(array, axis), array))


def stateless_random_flip_left_right(image: Any, seed: Any) -> EagerTensor:
    """The image mirrored or not; in a batch each image independently."""
    return _flipped(image, seed, -2)


def stateless_random_flip_up_down(image: Any, seed: Any) -> EagerTensor:
    """The image upside down or not; in a batch each image independently."""
    return _flipped(image, seed, -3)


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> EagerTensor:
    """A part of this size at a random position."""
    array = to_numpy(value)
    lengths = crop_lengths(array, size)
    drawn = to_numpy(stateless_uniform([array.ndim], seed, 0, int32.max, int32)).tolist()
    parts = zip(drawn, lengths, array.shape, strict=True)
    first = [number % (whole - part + 1) for number, part, whole in parts]
    key = tuple(slice(begin, begin + part) for begin, part in zip(first, lengths, strict=True))
    return of_array(array[key])
