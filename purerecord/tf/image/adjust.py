"""Brightness, contrast, gamma and standardization of images, and random changes of their colours.

This module does not know sizes and positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._values.casting import cast
from .._values.operators import shape_text
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from ..dtypes import float16, float32, int32, uint8
from ..errors import invalid
from ..random import uniform
from .codecs import decode_jpeg, encode_jpeg
from .colours import adjust_hue, adjust_saturation, scalar
from .pixels import convert_image_dtype, image_array


def _in_floats(image: Any) -> tuple[EagerTensor, Any]:
    """The image with floats from 0 to 1, and its own dtype. An image of floats stays as it is."""
    tensor = convert_to_tensor(image)
    if tensor.dtype.is_floating:
        return tensor, tensor.dtype
    return convert_image_dtype(tensor, float32), tensor.dtype


def adjust_brightness(image: Any, delta: Any) -> EagerTensor:
    """``delta`` added to the pixels; 1 is the whole range."""
    floats, dtype = _in_floats(image)
    return convert_image_dtype(floats + cast(delta, floats.dtype), dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> EagerTensor:
    """The distance of the pixels from the mean of their channel, multiplied by a factor."""
    floats, dtype = _in_floats(images)
    array = to_numpy(floats)
    factor = scalar("contrast_factor", contrast_factor).astype(array.dtype)
    if array.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{shape_text(array.shape)}")
    mean = array.mean(axis=(-3, -2), keepdims=True, dtype=np.float32).astype(array.dtype)
    return convert_image_dtype(of_array((array - mean) * factor + mean), dtype, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> EagerTensor:
    """``gain * image ** gamma``."""
    tensor = convert_to_tensor(image)
    floats = tensor if tensor.dtype in (float16, float32) else convert_image_dtype(tensor, float32)
    power, factor = (convert_to_tensor(value, floats.dtype) for value in (gamma, gain))
    if bool((power._array < 0).any()):
        raise ValueError("Gamma should be a non-negative real number.")
    return convert_image_dtype(factor * floats**power, tensor.dtype, saturate=True)


def per_image_standardization(image: Any) -> EagerTensor:
    """The image scaled to mean 0 and variance 1; in a batch each image by itself."""
    array = image_array(image).astype(np.float32)
    pixels = int(np.prod(array.shape[-3:]))
    mean = array.mean(axis=(-3, -2, -1), keepdims=True)
    deviation = array.std(axis=(-3, -2, -1), keepdims=True)
    return of_array((array - mean) / np.maximum(deviation, np.float32(1 / np.sqrt(np.float32(pixels)))))


def random_brightness(image: Any, max_delta: float, seed: Any = None) -> EagerTensor:
    """``adjust_brightness`` by a random number between ``-max_delta`` and ``max_delta``."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, uniform([], -max_delta, max_delta, seed=seed))


def check_range(lower: float, upper: float) -> None:
    """Raise an error unless factors can lie between ``lower`` and ``upper``."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def _random_factor(lower: float, upper: float, seed: Any) -> EagerTensor:
    check_range(lower, upper)
    return uniform([], lower, upper, seed=seed)


def random_contrast(image: Any, lower: float, upper: float, seed: Any = None) -> EagerTensor:
    """``adjust_contrast`` by a random factor between ``lower`` and ``upper``."""
    return adjust_contrast(image, _random_factor(lower, upper, seed))


def random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> EagerTensor:
    """``adjust_saturation`` by a random factor between ``lower`` and ``upper``."""
    return adjust_saturation(image, _random_factor(lower, upper, seed))


def adjust_jpeg_quality(
    image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> EagerTensor:
    """The image after it was encoded as a JPEG of this quality and decoded."""
    tensor = convert_to_tensor(image)
    pixels = convert_image_dtype(tensor, uint8, saturate=True)
    quality = to_numpy(convert_to_tensor(jpeg_quality, int32))
    if quality.ndim:
        raise invalid(f"quality must be scalar: {shape_text(quality.shape)}")
    encoded = encode_jpeg(pixels, quality=int(quality))
    decoded = decode_jpeg(encoded, channels=pixels.shape[-1], dct_method=dct_method)
    return convert_image_dtype(decoded, tensor.dtype, saturate=True)


def check_qualities(lowest: int, highest: int) -> None:
    """Raise an error unless qualities of JPEGs can lie between the two."""
    if not 0 <= lowest <= 100 or not 0 <= highest <= 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if lowest >= highest:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")


def random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any = None
) -> EagerTensor:
    """``adjust_jpeg_quality`` to a random quality."""
    check_qualities(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, uniform([], min_jpeg_quality, max_jpeg_quality, int32, seed))


def random_hue(image: Any, max_delta: float, seed: Any = None) -> EagerTensor:
    """``adjust_hue`` by a random number between ``-max_delta`` and ``max_delta``."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, uniform([], -max_delta, max_delta, seed=seed))
