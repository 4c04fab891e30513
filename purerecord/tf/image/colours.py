"""Colour spaces of ``tf.image``: grey, and hue, saturation and value.

This module does not know sizes and positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._values.convert import Array
from .._values.operators import kernel_name, shape_text
from .._values.shapes import TensorShape
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from ..dtypes import float32
from ..errors import FailedPreconditionError, invalid
from .pixels import convert_image_dtype

_GREY_WEIGHTS = np.array([0.2989, 0.5870, 0.1140])


def rgb_to_grayscale(images: Any, name: str | None = None) -> EagerTensor:
    """One channel: the weighted sum of red, green and blue."""
    tensor = convert_to_tensor(images)
    floats = to_numpy(convert_image_dtype(tensor, float32))
    if floats.ndim and floats.shape[-1] != 3:
        rows = f"[{floats.size // max(floats.shape[-1], 1)},{floats.shape[-1]}]"
        raise invalid(f"Matrix size-incompatible: In[0]: {rows}, In[1]: [3,1]")
    grey = np.tensordot(floats, _GREY_WEIGHTS.astype(floats.dtype), 1)[..., None]
    return convert_image_dtype(of_array(grey), tensor.dtype)


def grayscale_to_rgb(images: Any, name: str | None = None) -> EagerTensor:
    """Three channels, each equal to the grey one."""
    array = to_numpy(images)
    if array.ndim < 2:
        shape = TensorShape(array.shape)
        raise ValueError(f"A grayscale image (shape {shape}) must be at least two-dimensional.")
    if array.shape[-1] != 1:
        raise ValueError("Last dimension of a grayscale image should be size 1.")
    return of_array(np.repeat(array, 3, axis=-1))


def _mixed(images: Any, weights: Array) -> EagerTensor:
    """The channels multiplied by a matrix."""
    array = to_numpy(images)
    if array.dtype.kind != "f":
        name = convert_to_tensor(images).dtype.name
        raise TypeError(f"Cannot convert {weights.tolist()!r} to EagerTensor of dtype {name}")
    if array.ndim < 1 or array.shape[-1] != 3:
        rows = f"[{array.size // max(array.shape[-1], 1)},{array.shape[-1]}]" if array.ndim else "[]"
        raise invalid(f"Matrix size-incompatible: In[0]: {rows}, In[1]: [3,3]")
    return of_array(np.asarray(array @ weights.astype(array.dtype)))


_RGB_TO_YIQ = np.array(
    [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
)
_YIQ_TO_RGB = np.array(
    [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
)
_RGB_TO_YUV = np.array(
    [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
)
_YUV_TO_RGB = np.array([[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]])


def rgb_to_yiq(images: Any) -> EagerTensor:
    """Luma, in-phase and quadrature of red, green and blue from 0 to 1."""
    return _mixed(images, _RGB_TO_YIQ)


def yiq_to_rgb(images: Any) -> EagerTensor:
    """Red, green and blue of luma, in-phase and quadrature."""
    return _mixed(images, _YIQ_TO_RGB)


def rgb_to_yuv(images: Any) -> EagerTensor:
    """Luma and two differences of colours of red, green and blue from 0 to 1."""
    return _mixed(images, _RGB_TO_YUV)


def yuv_to_rgb(images: Any) -> EagerTensor:
    """Red, green and blue of luma and two differences of colours."""
    return _mixed(images, _YUV_TO_RGB)


def rgb_to_hsv(images: Any, name: str | None = None) -> EagerTensor:
    """Hue, saturation and value of red, green and blue from 0 to 1."""
    return of_array(_to_hsv(_colour_floats(images)))


def hsv_to_rgb(images: Any, name: str | None = None) -> EagerTensor:
    """Red, green and blue of hue, saturation and value."""
    return of_array(_to_rgb(_colour_floats(images)))


def _colour_floats(images: Any) -> Array:
    """Three channels of floats. What is no tensor becomes float32."""
    given = isinstance(images, EagerTensor)
    array = to_numpy(images)
    if given and not images.dtype.is_floating:
        allowed = "half, bfloat16, float, double"
        kind = kernel_name(images.dtype)
        raise invalid(f"Value for attr 'T' of {kind} is not in the list of allowed values: {allowed}")
    if not array.ndim:
        raise invalid(f"input must be at least 1D{shape_text(array.shape)}")
    if array.shape[-1] != 3:
        text = f"input must have 3 channels but input only has {array.shape[-1]} channels."
        raise FailedPreconditionError(None, None, text)
    return array if given else array.astype(np.float32)


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


def scalar(name: str, value: Any) -> Any:
    """A scalar of float32. Anything else is an error about the argument ``name``."""
    array = to_numpy(value)
    if array.ndim:
        raise invalid(f"{name} must be scalar: {shape_text(array.shape)}")
    return np.float32(array)


def _change_hsv(image: Any, change: Any) -> EagerTensor:
    """The image after ``change``, which edits an array of hue, saturation and value in place."""
    tensor = convert_to_tensor(image)
    shape = tensor._array.shape
    if len(shape) < 3:
        raise invalid(f"input must be at least 3-D, got shape{shape_text(shape)}")
    if shape[-1] != 3:
        raise invalid(f"input must have 3 channels but instead has {shape[-1]} channels.")
    hsv = _to_hsv(to_numpy(convert_image_dtype(tensor, float32)))
    change(hsv)
    return convert_image_dtype(of_array(_to_rgb(hsv)), tensor.dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> EagerTensor:
    """The saturation multiplied by a factor: 0 makes it grey, 1 changes nothing."""
    factor = scalar("scale", saturation_factor)

    def change(hsv: Array) -> None:
        hsv[..., 1] = np.clip(hsv[..., 1] * factor, 0, 1)

    return _change_hsv(image, change)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> EagerTensor:
    """The hue rotated by ``delta`` of the whole colour circle."""
    turn = scalar("delta", delta)
    if not -1 <= turn <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")

    def change(hsv: Array) -> None:
        hsv[..., 0] = (hsv[..., 0] + turn) % np.float32(1)

    return _change_hsv(image, change)
