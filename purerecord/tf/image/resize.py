"""``tf.image.resize``: images in another size, with the arithmetic of TensorFlow's kernels.

The centre of the first pixel is half a pixel from the edge. Bilinear and nearest are computed in float32 and
in TensorFlow's order, so the results are equal up to the last bits. The other methods, and all methods with
``antialias``, are weighted sums along each dimension. This module does not know colours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import public
from .._values.convert import Array
from .._values.tensor import EagerTensor, of_array, to_numpy
from ..errors import invalid


@public
class ResizeMethod:
    """The names of the interpolation methods."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# For each new pixel: the old pixels at both sides, and its distance from the first of them.
Neighbours = tuple[Array, Array, Array]

_NUMBERS = {0: "bilinear", 1: "nearest", 2: "bicubic", 3: "area"}  # the numbers of TensorFlow 1


def resize(  # noqa: PLR0917 - TensorFlow's signature
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> EagerTensor:
    """An image or a batch of images in another ``size``, as float32; ``nearest`` keeps the dtype.

    With ``preserve_aspect_ratio`` the result is as large as fits into ``size``.
    """
    array, height, width = _checked(images, size, preserve_aspect_ratio)
    kind = str(_NUMBERS.get(method, method))
    batch = array if array.ndim == 4 else array[None]
    resized = _resized(batch, height, width, kind, antialias)
    return of_array(resized if array.ndim == 4 else resized[0])


def resize_images(  # noqa: PLR0917 - TensorFlow's signature
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> EagerTensor:
    """``resize`` of TensorFlow 1: bilinear and nearest, measured from the corners of pixels."""
    array, height, width = _checked(images, size, preserve_aspect_ratio)
    if array.shape[-3:-1] == (height, width):
        return of_array(array)
    kind = str(_NUMBERS.get(method, method))
    if kind not in ("bilinear", "nearest"):
        raise NotImplementedError(
            f"resize_images is in purerecord.tf for bilinear and nearest, not for {kind}"
        )
    batch = array if array.ndim == 4 else array[None]
    places = [_corners(*pair, bool(align_corners)) for pair in _lengths(batch, height, width)]
    if kind == "nearest":
        whole = [(np.floor(place + 0.5) if align_corners else place).astype(np.int64) for place in places]
        rows, columns = (
            np.minimum(place, old - 1) for place, old in zip(whole, batch.shape[1:3], strict=True)
        )
        resized = batch[:, rows][:, :, columns]
    else:
        down, across = (_between(place, old) for place, old in zip(places, batch.shape[1:3], strict=True))
        resized = _blended(batch.astype(np.float32), down, across)
    return of_array(resized if array.ndim == 4 else resized[0])


def _corners(old: int, new: int, align: bool) -> npt.NDArray[np.float32]:
    """The positions of the new pixels' corners, in old pixels; ``align`` keeps the first and the last."""
    scale = (old - 1) / np.float32(new - 1) if align and new > 1 else old / np.float32(new)
    places: npt.NDArray[np.float32] = np.arange(new, dtype=np.float32) * np.float32(scale)
    return places


def _between(places: Array, old: int) -> Neighbours:
    first = np.floor(places).astype(np.int64)
    return np.minimum(first, old - 1), np.minimum(first + 1, old - 1), places - np.floor(places)


def _checked(images: Any, size: Any, preserve_aspect_ratio: bool) -> tuple[Array, int, int]:
    """The pixels, and the new height and width."""
    array = to_numpy(images)
    if array.ndim not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    lengths = to_numpy(size)
    if lengths.shape != (2,):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if lengths.dtype.kind not in "iu":
        raise ValueError("'size' must be a 1-D int32 Tensor")
    height, width = (int(length) for length in lengths)
    if preserve_aspect_ratio:
        height, width = _within(array.shape[-3:-1], height, width)
    if height <= 0 or width <= 0:
        raise invalid("output dimensions must be positive")
    return array, height, width


def _within(old: tuple[int, ...], height: int, width: int) -> tuple[int, int]:
    """The largest size of the old proportions that fits."""
    scale = min(height / old[0], width / old[1])
    return max(round(scale * old[0]), 1), max(round(scale * old[1]), 1)


def _resized(batch: Array, height: int, width: int, method: str, antialias: bool) -> Array:
    if method == "nearest":
        rows, columns = (_nearest(*lengths) for lengths in _lengths(batch, height, width))
        return batch[:, rows][:, :, columns]
    if method == "bilinear" and not antialias:
        return _bilinear(batch, height, width)
    if method not in (*_KERNELS, "area"):
        raise ValueError(f"Resize method is not implemented: {method}")
    pixels = batch.astype(np.float32)
    for axis, (old, new) in zip((1, 2), _lengths(batch, height, width), strict=True):
        weights = _weights(old, new, method, antialias)
        pixels = np.moveaxis(np.tensordot(weights, pixels, (1, axis)), 0, axis)
    return pixels


def _lengths(batch: Array, height: int, width: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (batch.shape[1], height), (batch.shape[2], width)


def _centres(old: int, new: int) -> Array:
    """The positions of the new pixels' centres, in old pixels from the edge."""
    centres = _own_centres(new)
    centres *= np.float32(old) / np.float32(new)
    return centres


def _own_centres(count: int) -> npt.NDArray[np.float32]:
    """The positions of the centres of ``count`` pixels."""
    middles = np.arange(count, dtype=np.float32)
    middles += 0.5
    return middles


def _nearest(old: int, new: int) -> Array:
    return np.minimum(np.floor(_centres(old, new)).astype(np.int64), old - 1)


def _bilinear(batch: Array, height: int, width: int) -> Array:
    down, across = (_neighbours(*pair) for pair in _lengths(batch, height, width))
    return _blended(batch.astype(np.float32), down, across)


def _blended(pixels: Array, vertically: Neighbours, horizontally: Neighbours) -> Array:
    (above, below, down), (left, right, across) = vertically, horizontally
    across = across[:, None]
    top, bottom = pixels[:, above], pixels[:, below]
    upper = top[:, :, left] + (top[:, :, right] - top[:, :, left]) * across
    lower = bottom[:, :, left] + (bottom[:, :, right] - bottom[:, :, left]) * across
    result: Array = upper + (lower - upper) * down[:, None, None]
    return result


def _neighbours(old: int, new: int) -> Neighbours:
    """For each new pixel: the old pixels at both sides, and its distance from the first of them."""
    places = _centres(old, new) - np.float32(0.5)
    floors = np.floor(places)
    first = np.maximum(floors.astype(np.int64), 0)
    second = np.minimum(np.ceil(places).astype(np.int64), old - 1)
    return first, second, places - floors


# --- Kernels with a radius --------------------------------------------------------------------------


def _weights(old: int, new: int, method: str, antialias: bool) -> Array:
    """A matrix with the weight of each old pixel in each new one."""
    if method == "area":
        ends = np.arange(new + 1) * (old / new)
        pixels = np.arange(old)
        shared = np.minimum(pixels + 1, ends[1:, None]) - np.maximum(pixels, ends[:-1, None])
        return _normalized(np.maximum(shared, 0))
    if method == "bicubic" and not antialias:  # TensorFlow looks these weights up in a table of 1024
        places = (np.arange(new) + 0.5) * (old / new) - 0.5
        centres = np.floor(places) + np.rint((places - np.floor(places)) * 1024) / 1024 + 0.5
    else:  # with the same rounding as TensorFlow, since it decides which pixels are within the radius
        centres = _own_centres(new) * (1 / (np.float32(new) / np.float32(old)))
    spread = max(old / new, 1.0) if antialias else 1.0
    distances = np.abs(_own_centres(old) - centres[:, None]) / spread
    radius, kernel = _KERNELS[method]
    return _normalized(np.where(distances <= radius, kernel(distances), 0))


def _normalized(weights: Array) -> Array:
    sums: Array = weights.sum(axis=1, keepdims=True)
    return (weights / np.where(sums == 0, 1, sums)).astype(np.float32)


def _triangle(x: Array) -> Array:
    return np.where(x < 1, 1 - x, 0)


def _lanczos(radius: int) -> Callable[[Array], Array]:
    return lambda x: np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0)


def _gaussian(x: Array) -> Array:
    sigma = 1.5 / 3.0
    return np.where(x >= 1.5, 0, np.exp(-(x**2) / (2 * sigma**2)))


def _keys_cubic(x: Array) -> Array:
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


def _mitchell_cubic(x: Array) -> Array:
    near = ((7 / 6 * x - 2) * x) * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, near))


_KERNELS: dict[str, tuple[float, Callable[[Array], Array]]] = {
    "bilinear": (1, _triangle),
    "bicubic": (2, _keys_cubic),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, _gaussian),
    "mitchellcubic": (2, _mitchell_cubic),
}
