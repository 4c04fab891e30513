"""``tf.image``: what input pipelines do with pictures: decode, resize, crop, flip, change colours.

A picture is ``[height, width, channels]``; most functions take batches of pictures, too. Integers stand for
their whole range and floats for 0 to 1, as in TensorFlow. The random functions draw from ``tf.random``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._missing import missing
from .._values.casting import cast
from .._values.convert import Array
from .._values.operators import invalid
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, shape_tuple, to_numpy
from ..dtypes import float32
from ..random import generator, uniform
from .codecs import (
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    is_jpeg,
)
from .colours import adjust_hue, adjust_saturation, grayscale_to_rgb, hsv_to_rgb, rgb_to_grayscale, rgb_to_hsv
from .pixels import convert_image_dtype
from .resize import ResizeMethod, resize, resize_images

__all__ = [
    "ResizeMethod",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "central_crop",
    "convert_image_dtype",
    "crop_to_bounding_box",
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "flip_left_right",
    "flip_up_down",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "is_jpeg",
    "pad_to_bounding_box",
    "per_image_standardization",
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_hue",
    "random_saturation",
    "resize",
    "resize_image_with_crop_or_pad",
    "resize_images",
    "resize_with_crop_or_pad",
    "resize_with_pad",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rot90",
    "transpose",
]


def _image(image: Any) -> Array:
    array = to_numpy(image)
    if array.ndim not in (3, 4):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    return array


# --- Cutting and padding ----------------------------------------------------------------------------


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> EagerTensor:
    """The part of this size that begins at this row and column."""
    array = _image(image)
    top, left, height, width = map(int, (offset_height, offset_width, target_height, target_width))
    for value, what in ((top, "offset_height"), (left, "offset_width")):
        if value < 0:
            raise ValueError(f"{what} must be >= 0.")
    for value, what in ((height, "target_height"), (width, "target_width")):
        if value <= 0:
            raise ValueError(f"{what} must be > 0.")
    if left + width > array.shape[-2]:
        raise ValueError("width must be >= target + offset.")
    if top + height > array.shape[-3]:
        raise ValueError("height must be >= target + offset.")
    return of_array(array[..., top : top + height, left : left + width, :])


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> EagerTensor:
    """In the middle of zeros: from this row and column on, in a picture of this size."""
    array = _image(image)
    top, left, height, width = map(int, (offset_height, offset_width, target_height, target_width))
    below, right = height - top - array.shape[-3], width - left - array.shape[-2]
    for value, text in (
        (top, "offset_height must be >= 0"),
        (left, "offset_width must be >= 0"),
        (right, "width must be <= target - offset"),
        (below, "height must be <= target - offset"),
    ):
        if value < 0:
            raise ValueError(text)
    margins = [(0, 0)] * (array.ndim - 3) + [(top, below), (left, right), (0, 0)]
    return of_array(np.pad(array, margins))


def central_crop(image: Any, central_fraction: float) -> EagerTensor:
    """The middle, of so large a part of height and width."""
    fraction = float(central_fraction)
    if not 0.0 < fraction <= 1.0:
        raise ValueError("central_fraction must be within (0, 1]")
    array = _image(image)
    if fraction == 1.0:
        return of_array(array)
    height, width = array.shape[-3:-1]
    top, left = int((height - height * fraction) / 2), int((width - width * fraction) / 2)
    return of_array(array[..., top : height - top, left : width - left, :])


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> EagerTensor:
    """The middle cut out, or padded with zeros on all sides, to a size."""
    array = _image(image)
    height, width = int(target_height), int(target_width)
    more_rows, more_columns = height - array.shape[-3], width - array.shape[-2]
    part = crop_to_bounding_box(
        array,
        max(-more_rows // 2, 0),
        max(-more_columns // 2, 0),
        min(height, array.shape[-3]),
        min(width, array.shape[-2]),
    )
    return pad_to_bounding_box(part, max(more_rows // 2, 0), max(more_columns // 2, 0), height, width)


def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> EagerTensor:
    """As large as fits with the proportions kept, the rest zeros."""
    array = _image(image)
    target = int(target_height), int(target_width)
    ratio = max(
        np.float32(old) / np.float32(new) for old, new in zip(array.shape[-3:-1], target, strict=True)
    )
    sizes = [np.float32(old) / ratio for old in array.shape[-3:-1]]
    top, left = (max(0, int((new - size) // 2)) for new, size in zip(target, sizes, strict=True))
    resized = resize(array, [int(size) for size in sizes], method, antialias=antialias)
    return pad_to_bounding_box(resized, top, left, target[0], target[1])


def decode_and_crop_jpeg(contents: Any, crop_window: Any, channels: int = 0, **options: Any) -> EagerTensor:
    """A part of a JPEG: ``[row, column, height, width]``."""
    return crop_to_bounding_box(decode_jpeg(contents, channels, **options), *to_numpy(crop_window).tolist())


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> EagerTensor:
    """A part of this size, anywhere."""
    array = to_numpy(value)
    lengths = shape_tuple(size)
    if len(lengths) != array.ndim or any(
        part > whole for part, whole in zip(lengths, array.shape, strict=True)
    ):
        shapes = f"value.shape = {list(array.shape)}, size = {list(lengths)}"
        raise invalid(f"Need value.shape >= size, got {shapes}")
    key = []
    for part, whole in zip(lengths, array.shape, strict=True):
        first = int(generator(seed).integers(whole - part + 1))
        key.append(slice(first, first + part))
    return of_array(array[tuple(key)])


# --- Turning ----------------------------------------------------------------------------------------


def flip_left_right(image: Any) -> EagerTensor:
    """Mirrored: columns backwards."""
    return of_array(_image(image)[..., ::-1, :])


def flip_up_down(image: Any) -> EagerTensor:
    """Upside down: rows backwards."""
    return of_array(_image(image)[..., ::-1, :, :])


def _flipped_by_chance(image: Any, seed: Any, axis: int) -> EagerTensor:
    array = _image(image)
    if array.ndim == 3:
        return of_array(np.flip(array, axis) if generator(seed).random() < 0.5 else array)
    chosen = generator(seed).random(len(array)) < 0.5
    return of_array(np.where(chosen[:, None, None, None], np.flip(array, axis), array))


def random_flip_left_right(image: Any, seed: Any = None) -> EagerTensor:
    """Mirrored, or not; in a batch each picture by itself."""
    return _flipped_by_chance(image, seed, -2)


def random_flip_up_down(image: Any, seed: Any = None) -> EagerTensor:
    """Upside down, or not; in a batch each picture by itself."""
    return _flipped_by_chance(image, seed, -3)


def rot90(image: Any, k: Any = 1, name: str | None = None) -> EagerTensor:
    """Turned left by so many quarters."""
    array = _image(image)
    return of_array(np.rot90(array, int(k), (array.ndim - 3, array.ndim - 2)))


def transpose(image: Any, name: str | None = None) -> EagerTensor:
    """Rows as columns."""
    return of_array(np.swapaxes(_image(image), -3, -2))


# --- Colours ----------------------------------------------------------------------------------------


def _in_floats(image: Any) -> tuple[EagerTensor, Any]:
    """The picture in float32, 0 to 1, and its own dtype; floats stay as they are."""
    tensor = convert_to_tensor(image)
    if tensor.dtype.is_floating:
        return tensor, tensor.dtype
    return convert_image_dtype(tensor, float32), tensor.dtype


def adjust_brightness(image: Any, delta: Any) -> EagerTensor:
    """``delta`` added, where 1 is the whole range."""
    floats, dtype = _in_floats(image)
    return convert_image_dtype(floats + cast(delta, floats.dtype), dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> EagerTensor:
    """The distance from the mean of each channel multiplied."""
    floats, dtype = _in_floats(images)
    array = to_numpy(floats)
    mean = array.mean(axis=(-3, -2), keepdims=True, dtype=np.float32).astype(array.dtype)
    factor = to_numpy(contrast_factor).astype(array.dtype)
    return convert_image_dtype(of_array((array - mean) * factor + mean), dtype, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> EagerTensor:
    """``gain * image ** gamma``."""
    if float(gamma) < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    floats, dtype = _in_floats(image)
    return convert_image_dtype(floats ** float(gamma) * float(gain), dtype, saturate=True)


def per_image_standardization(image: Any) -> EagerTensor:
    """With mean 0 and variance 1, each picture by itself."""
    array = _image(image).astype(np.float32)
    pixels = int(np.prod(array.shape[-3:]))
    mean = array.mean(axis=(-3, -2, -1), keepdims=True)
    deviation = array.std(axis=(-3, -2, -1), keepdims=True)
    return of_array((array - mean) / np.maximum(deviation, np.float32(1 / np.sqrt(np.float32(pixels)))))


def random_brightness(image: Any, max_delta: float, seed: Any = None) -> EagerTensor:
    """``adjust_brightness`` with something between ``-max_delta`` and ``max_delta``."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, uniform([], -max_delta, max_delta, seed=seed))


def _factor(lower: float, upper: float, seed: Any) -> EagerTensor:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return uniform([], lower, upper, seed=seed)


def random_contrast(image: Any, lower: float, upper: float, seed: Any = None) -> EagerTensor:
    """``adjust_contrast`` with something between ``lower`` and ``upper``."""
    return adjust_contrast(image, _factor(lower, upper, seed))


def random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> EagerTensor:
    """``adjust_saturation`` with something between ``lower`` and ``upper``."""
    return adjust_saturation(image, _factor(lower, upper, seed))


def random_hue(image: Any, max_delta: float, seed: Any = None) -> EagerTensor:
    """``adjust_hue`` with something between ``-max_delta`` and ``max_delta``."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, uniform([], -max_delta, max_delta, seed=seed))


# As TensorFlow 1 called it.
resize_image_with_crop_or_pad = resize_with_crop_or_pad

__getattr__ = missing("image")
