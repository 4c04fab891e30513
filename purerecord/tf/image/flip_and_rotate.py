"""Images mirrored, rotated and transposed: ``flip_left_right``, ``rot90`` and so on.

This module does not know colours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._values.seeds import generator
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from ..dtypes import int32
from .pixels import image_array


def flip_left_right(image: Any) -> EagerTensor:
    """The image mirrored: its columns reversed."""
    return of_array(image_array(image)[..., ::-1, :])


def flip_up_down(image: Any) -> EagerTensor:
    """The image upside down: its rows reversed."""
    return of_array(image_array(image)[..., ::-1, :, :])


def _random_flip(image: Any, seed: Any, axis: int) -> EagerTensor:
    array = image_array(image)
    if array.ndim == 3:
        return of_array(np.flip(array, axis) if generator(seed).random() < 0.5 else array)
    chosen = generator(seed).random(len(array)) < 0.5
    return of_array(np.where(chosen[:, None, None, None], np.flip(array, axis), array))


def random_flip_left_right(image: Any, seed: Any = None) -> EagerTensor:
    """The image mirrored or not, at random; in a batch each image independently."""
    return _random_flip(image, seed, -2)


def random_flip_up_down(image: Any, seed: Any = None) -> EagerTensor:
    """The image upside down or not, at random; in a batch each image independently."""
    return _random_flip(image, seed, -3)


def rot90(image: Any, k: Any = 1, name: str | None = None) -> EagerTensor:
    """The image rotated counter-clockwise by ``k`` quarter turns."""
    array = image_array(image)
    turns = to_numpy(convert_to_tensor(k, int32))
    if turns.ndim:
        raise ValueError(f"Shape {turns.shape} must have rank 0")
    return of_array(np.rot90(array, int(turns), (array.ndim - 3, array.ndim - 2)))


def transpose(image: Any, name: str | None = None) -> EagerTensor:
    """The image with rows and columns exchanged."""
    return of_array(np.swapaxes(image_array(image), -3, -2))
