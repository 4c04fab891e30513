"""Parts of images and images with a border: ``crop_to_bounding_box``, ``resize_with_pad`` and so on.

This module does not know colours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._values.convert import Array
from .._values.operators import shape_text
from .._values.seeds import generator
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, shape_tuple, to_numpy
from ..dtypes import int32
from ..errors import invalid
from .codecs import check_is_jpeg, decode_jpeg
from .pixels import image_array
from .resize import ResizeMethod, resize


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> EagerTensor:
    """The part of the target size that begins at this row and column."""
    array = image_array(image)
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
    """The image at this row and column of an image of zeros of the target size."""
    array = image_array(image)
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
    """The middle of the image: this fraction of its height and width."""
    fraction = float(central_fraction)
    if not 0.0 < fraction <= 1.0:
        raise ValueError("central_fraction must be within (0, 1]")
    array = image_array(image)
    if fraction == 1.0:
        return of_array(array)
    height, width = array.shape[-3:-1]
    top, left = int((height - height * fraction) / 2), int((width - width * fraction) / 2)
    return of_array(array[..., top : height - top, left : width - left, :])


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> EagerTensor:
    """The image in the target size: its middle cut out, or zeros added on all sides."""
    array = image_array(image)
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
    """The image resized to fit into the target size with its proportions, and padded with zeros."""
    array = image_array(image)
    target = int(target_height), int(target_width)
    for length, what in zip(target, ("target_height", "target_width"), strict=True):
        if length <= 0:
            raise ValueError(f"{what} must be > 0.")
    ratio = max(
        np.float32(old) / np.float32(new) for old, new in zip(array.shape[-3:-1], target, strict=True)
    )
    sizes = [np.float32(old) / ratio for old in array.shape[-3:-1]]
    top, left = (max(0, int((new - size) // 2)) for new, size in zip(target, sizes, strict=True))
    resized = resize(array, [int(size) for size in sizes], method, antialias=antialias)
    return pad_to_bounding_box(resized, top, left, target[0], target[1])


def decode_and_crop_jpeg(contents: Any, crop_window: Any, channels: int = 0, **options: Any) -> EagerTensor:
    """The part ``[row, column, height, width]`` of a JPEG."""
    check_is_jpeg("DecodeAndCropJpeg", contents)
    window = to_numpy(convert_to_tensor(crop_window, int32))
    if window.ndim != 1:
        raise invalid(f"crop_window must be 1-D, got shape {shape_text(window.shape)}")
    if len(window) != 4:
        raise invalid(f"crop_window must have four elements {shape_text(window.shape)}")
    pixels = to_numpy(decode_jpeg(contents, channels, **options))
    top, left, height, width = window.tolist()
    inside = 0 <= top <= top + height <= pixels.shape[0] and 0 <= left <= left + width <= pixels.shape[1]
    if not inside or height <= 0 or width <= 0:
        raise invalid("jpeg::Uncompress failed. Invalid JPEG data or crop window.")
    return of_array(pixels[top : top + height, left : left + width])


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> EagerTensor:
    """A part of this size at a random position."""
    array = to_numpy(value)
    lengths = crop_lengths(array, size)
    source = generator(seed)
    key = []
    for part, whole in zip(lengths, array.shape, strict=True):
        first = int(source.integers(whole - part + 1))
        key.append(slice(first, first + part))
    return of_array(array[tuple(key)])


def crop_lengths(array: Array, size: Any) -> tuple[int, ...]:
    """The lengths of a part of an array, which must not be larger than it."""
    lengths = shape_tuple(size)
    if len(lengths) != array.ndim or any(
        part > whole for part, whole in zip(lengths, array.shape, strict=True)
    ):
        shapes = f"value.shape = {list(array.shape)}, size = {list(lengths)}"
        raise invalid(f"Need value.shape >= size, got {shapes}")
    return lengths
