"""Images measured and taken apart: ``psnr``, ``total_variation``, ``sobel_edges``, ``extract_patches``, ...

This module does not know image files.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._values.casting import cast
from .._values.convert import Array
from .._values.operators import binary, shape_text
from .._values.shapes import TensorShape
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from ..dtypes import float32
from ..errors import OutOfRangeError, UnimplementedError, invalid
from .pixels import convert_image_dtype


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> EagerTensor:
    """The peak signal-to-noise ratio of two images, in decibels; ``max_val`` is the range of the pixels."""
    one, two = convert_to_tensor(a), convert_to_tensor(b)
    peak = to_numpy(convert_image_dtype(cast(max_val, one.dtype), float32))
    first, second = (to_numpy(convert_image_dtype(image, float32)) for image in (one, two))
    binary("SquaredDifference", np.subtract, first, second)  # for its error
    for image in (first, second):
        if image.ndim < 3:
            raise ValueError(f"The image must be at least three-dimensional, got {TensorShape(image.shape)}")
    mean = np.square(first - second).mean(axis=(-3, -2, -1), dtype=np.float32)
    with np.errstate(divide="ignore"):
        found = 20 * np.log(peak) / np.log(np.float32(10)) - np.float32(10 / np.log(10)) * np.log(mean)
    return of_array(np.asarray(found, np.float32))


def total_variation(images: Any, name: str | None = None) -> EagerTensor:
    """The sum of the differences between neighbouring pixels, of each image."""
    array = to_numpy(images)
    if array.ndim not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    down = np.abs(array[..., 1:, :, :] - array[..., :-1, :, :])
    across = np.abs(array[..., 1:, :] - array[..., :-1, :])
    sums = [part.sum(axis=(-3, -2, -1), dtype=array.dtype) for part in (down, across)]
    return of_array(np.asarray(sums[0] + sums[1], array.dtype))


def image_gradients(image: Any) -> tuple[EagerTensor, EagerTensor]:
    """The differences between each pixel and the one below, and the one to its right; 0 at the end."""
    array = to_numpy(image)
    if array.ndim != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {TensorShape(array.shape)}."
        )
    down, across = np.zeros_like(array), np.zeros_like(array)
    down[:, :-1] = array[:, 1:] - array[:, :-1]
    across[:, :, :-1] = array[:, :, 1:] - array[:, :, :-1]
    return of_array(down), of_array(across)


def sobel_edges(image: Any) -> EagerTensor:
    """The edges of a batch of images by Sobel's filter: ``[batch, height, width, channels, 2]``, dy and dx."""  # noqa: E501
    array = to_numpy(image)
    if array.ndim != 4:
        raise ValueError(f"sobel_edges expects a batch of images, not the shape {TensorShape(array.shape)}")
    padded = np.pad(array, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="reflect")

    def part(row: int, column: int) -> Array:
        return padded[:, row : row + array.shape[1], column : column + array.shape[2]]

    down = part(2, 0) + 2 * part(2, 1) + part(2, 2) - part(0, 0) - 2 * part(0, 1) - part(0, 2)
    across = part(0, 2) + 2 * part(1, 2) + part(2, 2) - part(0, 0) - 2 * part(1, 0) - part(2, 0)
    return of_array(np.stack([down, across], axis=-1).astype(array.dtype))


def extract_patches(  # noqa: PLR0917 - TensorFlow's signature
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> EagerTensor:
    """The patches of a batch of images, each as one row of values: ``[batch, rows, columns, values]``."""
    array = to_numpy(images)
    if array.ndim != 4:
        raise invalid(f"input must be 4-dimensional{shape_text(array.shape)}")
    for what, values in (("ksizes", sizes), ("strides", strides), ("rates", rates)):
        if len(values) != 4:
            raise invalid(f"Length for attr {what!r} of {len(values)} must be 4")
        if values[0] != 1 or values[3] != 1:
            raise UnimplementedError(None, None, f"Only support {what} across space.")
        if min(values[1:3]) < 1:
            raise OutOfRangeError(None, None, f"{what} is out of range.")
    if padding not in ("SAME", "VALID"):
        raise invalid(
            f'Value for attr \'padding\' of "{padding}" is not in the list of allowed values: "SAME", "VALID"'
        )
    margins, places = [], []
    for length, size, stride, rate in zip(
        array.shape[1:3], sizes[1:3], strides[1:3], rates[1:3], strict=True
    ):
        reach = (size - 1) * rate + 1
        if padding == "VALID" and length < reach:
            raise invalid(
                f"Computed output size would be negative: {(length - reach + stride) // stride} [input_size: "
                f"{length}, effective_filter_size: {reach}, stride: {stride}]"
            )
        count = -(-length // stride) if padding == "SAME" else -(-(length - reach + 1) // stride)
        missing = max((count - 1) * stride + reach - length, 0) if padding == "SAME" else 0
        margins.append((missing // 2, missing - missing // 2))
        places.append(np.arange(count)[:, None] * stride + np.arange(size) * rate)
    padded = np.pad(array, [(0, 0), *margins, (0, 0)])
    patches = padded[:, places[0][:, None, :, None], places[1][None, :, None, :]]
    shape = (len(array), len(places[0]), len(places[1]), sizes[1] * sizes[2] * array.shape[3])
    return of_array(patches.reshape(shape))


def extract_image_patches(  # noqa: PLR0917 - TensorFlow's signature
    images: Any,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    sizes: Any = None,
) -> EagerTensor:
    """``extract_patches`` of TensorFlow 1."""
    return extract_patches(images, ksizes if sizes is None else sizes, strides, rates, padding)
