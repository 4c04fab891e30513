"""Colour spaces of ``tf.image``: grey, and hue, saturation and value.

This module does not know sizes and positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._values.convert import Array
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from ..dtypes import float32
from .pixels import convert_image_dtype

_GREY_WEIGHTS = np.array([0.2989, 0.5870, 0.1140])


def rgb_to_grayscale(images: Any, name: str | None = None) -> EagerTensor:
    """One channel: the weighted sum of red, green and blue."""
    tensor = convert_to_tensor(images)
    floats = to_numpy(convert_image_dtype(tensor, float32))
    grey = np.tensordot(floats, _GREY_WEIGHTS.astype(floats.dtype), 1)[..., None]
    return convert_image_dtype(of_array(grey), tensor.dtype)


def grayscale_to_rgb(images: Any, name: str | None = None) -> EagerTensor:
    """Three channels, each equal to the grey one."""
    return of_array(np.repeat(to_numpy(images), 3, axis=-1))


def rgb_to_hsv(images: Any, name: str | None = None) -> EagerTensor:
    """Hue, saturation and value of red, green and blue from 0 to 1."""
    return of_array(_to_hsv(to_numpy(images)))


def hsv_to_rgb(images: Any, name: str | None = None) -> EagerTensor:
    """Red, green and blue of hue, saturation and value."""
    return of_array(_to_rgb(to_numpy(images)))


def _to_hsv(rgb: Array) -> Array:
    red, green, blue = np.moveaxis(rgb, -1, 0)
    # Two calls over whole channels: one reduction over the last axis of three takes ten times as long.
    value = np.maximum(np.maximum(red, green), blue)
    spread = value - np.minimum(np.minimum(red, green), blue)
    with np.errstate(all="ignore"):
        saturation = np.where(value > 0, spread / value, 0)
        sixth = 1 / (6 * spread)
        hue = np.where(
            red == value,
            sixth * (green - blue),
            np.where(green == value, sixth * (blue - red) + 2 / 6, sixth * (red - green) + 4 / 6),
        )
    hue = np.where(spread > 0, hue, 0)
    hue = np.where(hue < 0, hue + 1, hue)
    return np.stack([hue, saturation, value], axis=-1).astype(rgb.dtype)


def _to_rgb(hsv: Array) -> Array:
    hue, saturation, value = np.moveaxis(hsv, -1, 0)
    sixths = hue * 6
    shares = [np.abs(sixths - 3) - 1, 2 - np.abs(sixths - 2), 2 - np.abs(sixths - 4)]
    channels = [(1 - saturation + saturation * np.clip(share, 0, 1)) * value for share in shares]
    return np.stack(channels, axis=-1).astype(hsv.dtype)


def _change_hsv(image: Any, change: Any) -> EagerTensor:
    """The image after ``change``, which edits an array of hue, saturation and value in place."""
    tensor = convert_to_tensor(image)
    hsv = _to_hsv(to_numpy(convert_image_dtype(tensor, float32)))
    change(hsv)
    return convert_image_dtype(of_array(_to_rgb(hsv)), tensor.dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> EagerTensor:
    """The saturation multiplied by a factor: 0 makes it grey, 1 changes nothing."""
    factor = np.float32(to_numpy(saturation_factor))

    def change(hsv: Array) -> None:
        hsv[..., 1] = np.clip(hsv[..., 1] * factor, 0, 1)

    return _change_hsv(image, change)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> EagerTensor:
    """The hue rotated by ``delta`` of the whole colour circle."""
    turn = np.float32(to_numpy(delta))

    def change(hsv: Array) -> None:
        hsv[..., 0] = (hsv[..., 0] + turn) % np.float32(1)

    return _change_hsv(image, change)
