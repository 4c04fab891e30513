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
from .._values.operators import kernel_name, shape_text
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from ..dtypes import int32, of_numpy
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
    **options: Any,
) -> EagerTensor:
    """An image or a batch of images in another ``size``, as float32; ``nearest`` keeps the dtype.

    With ``preserve_aspect_ratio`` the result is as large as fits into ``size``. With ``align_corners``, which
    only TensorFlow 1 has, it is ``resize_images``.
    """
    if "align_corners" in options:
        corners = bool(options.pop("align_corners"))
        return resize_images(images, size, method, corners, preserve_aspect_ratio, **options)
    if options:
        raise TypeError(f"resize() got an unexpected keyword argument {next(iter(options))!r}")
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
    """``resize`` of TensorFlow 1, measured from the corners of pixels."""
    array, height, width = _checked(images, size, preserve_aspect_ratio)
    if array.shape[-3:-1] == (height, width):
        return of_array(array)
    kind = str(_NUMBERS.get(method, method))
    batch = array if array.ndim == 4 else array[None]
    resized = _resized_v1(batch, height, width, kind, bool(align_corners))
    return of_array(resized if array.ndim == 4 else resized[0])


def _resized_v1(  # noqa: PLR0917
    batch: Array, height: int, width: int, kind: str, align: bool, half_pixel: bool = False
) -> Array:
    """A batch resized by a method of TensorFlow 1, which measures from the corners of pixels."""
    lengths = _lengths(batch, height, width)
    if half_pixel:
        return _resized(batch, height, width, kind, antialias=False)
    if kind in ("bicubic", "area"):
        pixels = batch.astype(np.float32)
        for axis, pair in zip((1, 2), lengths, strict=True):
            weights = _cubic_weights_v1(*pair, align) if kind == "bicubic" else _area_weights(*pair, align)
            pixels = np.moveaxis(np.tensordot(weights, pixels, (1, axis)), 0, axis)
        return pixels
    places = [_corners(*pair, align) for pair in lengths]
    if kind == "nearest":
        whole = [(np.floor(place + 0.5) if align else place).astype(np.int64) for place in places]
        rows, columns = (
            np.minimum(place, old - 1) for place, old in zip(whole, batch.shape[1:3], strict=True)
        )
        return batch[:, rows][:, :, columns]
    if kind != "bilinear":
        raise ValueError(f"Resize method is not implemented: {kind}")
    down, across = (_between(place, old) for place, old in zip(places, batch.shape[1:3], strict=True))
    return _blended(batch.astype(np.float32), down, across)


def _cubic_weights_v1(old: int, new: int, align: bool) -> Array:
    """The weights of TensorFlow 1's bicubic: another cubic, and the edge repeated beyond it."""
    places = _corners(old, new, align)
    first = np.floor(places).astype(np.int64)
    steps = np.rint((places - first) * 1024) / 1024
    weights = np.zeros((new, old), np.float32)
    for offset in range(-1, 3):
        x = np.abs(offset - steps)
        near = (1.25 * x - 2.25) * x * x + 1
        far = ((-0.75 * x + 3.75) * x - 6) * x + 3
        columns = np.clip(first + offset, 0, old - 1)
        np.add.at(weights, (np.arange(new), columns), np.where(x <= 1, near, far).astype(np.float32))
    return weights


def _area_weights(old: int, new: int, align: bool) -> Array:
    scale = (old - 1) / (new - 1) if align and new > 1 else old / new
    begins = np.arange(new)[:, None] * scale
    pixels = np.arange(old + 2)
    shared = np.minimum(pixels + 1, begins + scale) - np.maximum(pixels, begins)
    weights = np.maximum(shared, 0)
    weights[:, old - 1] += weights[:, old:].sum(axis=1)  # beyond the edge the last pixel is repeated
    return np.asarray(weights[:, :old] / scale, np.float32)


def _checked_batch(images: Any, size: Any) -> tuple[Array, int, int]:
    array = to_numpy(images)
    if array.ndim != 4:
        raise invalid(f"input must be 4-dimensional{shape_text(array.shape)}")
    lengths = to_numpy(convert_to_tensor(size, int32))
    if lengths.ndim != 1:
        raise invalid(f"shape_t must be 1-dimensional{shape_text(lengths.shape)}")
    if lengths.shape != (2,):
        raise invalid(f"shape_t must have two elements{shape_text(lengths.shape)}")
    height, width = lengths.tolist()
    if height <= 0 or width <= 0:
        raise invalid("output dimensions must be positive")
    if not array.shape[1] or not array.shape[2]:
        raise invalid("input image must be of non-zero size")
    return array, height, width


def _of_batch(kind: str, images: Any, size: Any, align: bool, half_pixel: bool = False) -> EagerTensor:
    if align and half_pixel:
        raise invalid("If half_pixel_centers is True, align_corners must be False.")
    return of_array(_resized_v1(*_checked_batch(images, size), kind, align, half_pixel))


def resize_bilinear(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> EagerTensor:
    """A batch of images in another size, in TensorFlow 1: between the nearest four pixels."""
    return _of_batch("bilinear", images, size, bool(align_corners), bool(half_pixel_centers))


def resize_bicubic(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> EagerTensor:
    """A batch of images in another size, in TensorFlow 1: by a cubic of the nearest sixteen pixels."""
    return _of_batch("bicubic", images, size, bool(align_corners), bool(half_pixel_centers))


def resize_nearest_neighbor(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> EagerTensor:
    """A batch of images in another size, in TensorFlow 1: the nearest pixel."""
    return _of_batch("nearest", images, size, bool(align_corners), bool(half_pixel_centers))


def resize_area(images: Any, size: Any, align_corners: bool = False, name: str | None = None) -> EagerTensor:
    """A batch of images in another size, in TensorFlow 1: the mean of the pixels in the area."""
    return _of_batch("area", images, size, bool(align_corners))


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
    try:
        lengths = to_numpy(convert_to_tensor(size, int32))
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if lengths.shape != (2,):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if array.dtype.kind in "bcO":
        kind = kernel_name(of_numpy(array.dtype))
        raise invalid(
            f"Value for attr 'T' of {kind} is not in the list of allowed values: int8, uint8, int16, uint16, "
            "int32, int64, bfloat16, half, float, double, bfloat16"
        )
    height, width = (int(length) for length in lengths)
    if preserve_aspect_ratio:
        height, width = _within(array.shape[-3:-1], height, width)
    if height <= 0 or width <= 0:
        raise invalid("output dimensions must be positive")
    if not array.shape[-3] or not array.shape[-2]:
        raise invalid("input image must be of non-zero size")
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
