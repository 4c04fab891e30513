"""Bounding boxes of ``tf.image``: random ones for crops, drawn ones, overlapping ones, and their contents.

A box is ``[top, left, bottom, right]`` in parts of the height and width. This module does not know image
files.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._random.philox import Place, Words32
from .._random.stateless import place_of
from .._values.convert import Array
from .._values.operators import kernel_name, shape_text
from .._values.seeds import generator
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from ..dtypes import float32, of_numpy
from ..errors import OutOfRangeError, invalid

# --- Random boxes -----------------------------------------------------------------------------------


class _Box(NamedTuple):
    """A box in pixels."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def area(self) -> int:
        return max(self.bottom - self.top, 0) * max(self.right - self.left, 0)

    def shared(self, other: _Box) -> int:
        """The area that both cover."""
        return _Box(
            max(self.top, other.top),
            max(self.left, other.left),
            min(self.bottom, other.bottom),
            min(self.right, other.right),
        ).area


class _Limits(NamedTuple):
    """What a random box must fulfil."""

    covered: float
    aspect: tuple[float, float]
    area: tuple[float, float]
    attempts: int


class SampleDistortedBoundingBoxV2(NamedTuple):
    """The result of ``sample_distorted_bounding_box``."""

    begin: EagerTensor
    size: EagerTensor
    bboxes: EagerTensor


class StatelessSampleDistortedBoundingBox(NamedTuple):
    """The result of ``stateless_sample_distorted_bounding_box``."""

    begin: EagerTensor
    size: EagerTensor
    bboxes: EagerTensor


def sample_distorted_bounding_box(  # noqa: PLR0917 - TensorFlow's signature
    image_size: Any,
    bounding_boxes: Any,
    seed: Any = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
    **options: Any,
) -> SampleDistortedBoundingBoxV2:
    """A random box that covers enough of one of the boxes, as (begin, size, box).

    ``begin`` and ``size`` are for ``tf.slice``, the box is for ``draw_bounding_boxes``.
    """
    own = options.get("seed2") or seed or None  # 0 is no seed, and TensorFlow 1 has two of them
    place = Place(int(generator(own).integers(2**63)), 0)
    limits = _limits(min_object_covered, aspect_ratio_range, area_range, max_attempts)
    whole_if_none = bool(use_image_if_no_bounding_boxes)
    parts = _sampled(Words32(place), image_size, bounding_boxes, limits, whole_if_none)
    return SampleDistortedBoundingBoxV2(*parts)


def stateless_sample_distorted_bounding_box(  # noqa: PLR0917 - TensorFlow's signature
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> StatelessSampleDistortedBoundingBox:
    """``sample_distorted_bounding_box`` that depends on ``seed`` (two integers) alone."""
    words = Words32(place_of(seed))
    limits = _limits(min_object_covered, aspect_ratio_range, area_range, max_attempts)
    parts = _sampled(words, image_size, bounding_boxes, limits, bool(use_image_if_no_bounding_boxes))
    return StatelessSampleDistortedBoundingBox(*parts)


def _limits(covered: Any, aspect: Any, area: Any, attempts: int | None) -> _Limits:
    """The limits, checked; None is TensorFlow's default."""
    share = float(to_numpy(convert_to_tensor(covered, float32)))
    if share < 0:
        raise invalid(f"Min object covered must be non-negative: {share:g}")
    aspects = [0.75, 1.33] if aspect is None else [float(value) for value in aspect]
    if len(aspects) != 2:
        raise invalid("Aspect ratio range field must specify 2 dimensions")
    if min(aspects) <= 0:
        raise invalid(f"Aspect ratio range must be non-negative: [{aspects[0]:g}, {aspects[1]:g}]")
    areas = [0.05, 1.0] if area is None else [float(value) for value in area]
    if len(areas) != 2:
        raise invalid("Area range field must specify 2 dimensions")
    if not all(0 < value <= 1 for value in areas):
        what = "non-negative" if min(areas) <= 0 else "less then or equal to 1.0"
        raise invalid(f"Area range must be {what}: [{areas[0]:g}, {areas[1]:g}]")
    tries = 100 if attempts is None else int(attempts)
    if tries <= 0:
        raise invalid(f"Max attempts must be non-negative: {tries}")
    return _Limits(share, (aspects[0], aspects[1]), (areas[0], areas[1]), tries)


def _sampled(
    words: Words32, image_size: Any, bounding_boxes: Any, limits: _Limits, whole_if_none: bool
) -> tuple[EagerTensor, EagerTensor, EagerTensor]:
    sizes = to_numpy(image_size)
    if sizes.ndim != 1:
        raise invalid(f"image_size must be 1-dimensional{shape_text(sizes.shape)}")
    if sizes.shape != (3,):
        raise invalid(f"image_size must contain 3 elements{shape_text(sizes.shape)}")
    height, width, depth = sizes.tolist()
    if height <= 0:
        raise invalid(f"image height must be positive, got {height}")
    if width <= 0:
        raise invalid(f"image width must be positive, got {width}")
    if depth <= 0:
        raise invalid(f"image must have at least one channel, got {depth}")
    whole = _Box(0, 0, height, width)
    boxes = _in_pixels(to_numpy(convert_to_tensor(bounding_boxes, float32)), height, width)
    if not boxes and not whole_if_none:
        raise invalid(
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish "
            "to not provide any bounding boxes."
        )
    box = next(
        (
            made
            for _ in range(limits.attempts)
            if (made := _random_box(words, height, width, limits)) is not None
            and _covers(made, boxes or [whole], limits.covered)
        ),
        whole,
    )
    kind = sizes.dtype
    begin = np.array([box.top, box.left, 0], kind)
    size = np.array([box.bottom - box.top, box.right - box.left, -1], kind)
    ends = np.array(box, np.float32) / np.array([height, width] * 2, np.float32)
    return of_array(begin), of_array(size), of_array(ends.reshape(1, 1, 4))


def _in_pixels(array: Array, height: int, width: int) -> list[_Box]:
    if array.ndim != 3:
        raise invalid(
            "input boxes must be 3-dimensional [batch, num_boxes, coords]: " + shape_text(array.shape)
        )
    if array.shape[2] != 4:
        raise invalid(f"bounding boxes must have shape [4] or [*, 4], got {shape_text(array.shape)}")
    rows = array.reshape(-1, 4)
    for row in rows:
        if bool(((row < 0) | (row > 1)).any()):
            raise invalid(f"All bounding box coordinates must be in [0.0, 1.0]: {float(row.max()):g}")
    scale = np.array([height, width] * 2, np.float32)
    return [_Box(*map(int, row * scale)) for row in rows]


def _random_box(words: Words32, height: int, width: int, limits: _Limits) -> _Box | None:
    """A box of a random shape, size and position; None if no box of that shape fits."""
    low, high = map(np.float32, limits.aspect)
    aspect = words.fraction() * (high - low) + low
    least, most = (np.float32(part) * np.float32(width) * np.float32(height) for part in limits.area)
    if most <= 0 or least > most:
        return None
    rows = int(np.rint(np.sqrt(least / aspect)))
    most_rows = int(np.rint(np.sqrt(most / aspect)))
    if np.rint(np.float32(most_rows) * aspect) > width:
        most_rows = int((np.float32(width) + np.float32(0.5) - np.float32(1e-7)) / aspect)
        if np.rint(np.float32(most_rows) * aspect) > width:
            most_rows -= 1
    most_rows = min(most_rows, height)
    rows = min(rows, most_rows)
    if rows < most_rows:
        rows += words.below(most_rows - rows + 1)
    columns = int(np.rint(np.float32(rows) * aspect))
    for wrong, step in ((rows * columns < least, 1), (rows * columns > most, -1)):
        if wrong:  # by rounding
            rows += step
            columns = int(np.rint(np.float32(rows) * aspect))
    fits = 0 < rows <= height and 0 < columns <= width
    if not fits or not least <= rows * columns <= most:
        return None
    top = words.below(height - rows) if rows < height else 0
    left = words.below(width - columns) if columns < width else 0
    return _Box(top, left, top + rows, left + columns)


def _covers(box: _Box, objects: list[_Box], share: float) -> bool:
    return box.area >= 1 and any(
        np.float32(box.shared(other)) / np.float32(other.area) >= np.float32(share)
        for other in objects
        if other.area >= 1
    )


# --- Drawn boxes ------------------------------------------------------------------------------------

_COLOURS = np.array(
    [
        [1, 1, 0, 1],
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [0, 1, 0, 1],
        [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1],
        [0.5, 0, 0, 1],
        [0, 0, 0.5, 1],
        [0, 1, 1, 1],
        [1, 0, 1, 1],
    ],
    np.float32,
)


def draw_bounding_boxes(images: Any, boxes: Any, colors: Any = None, name: str | None = None) -> EagerTensor:
    """A batch of images with the edges of boxes ``[batch, boxes, 4]`` drawn into them."""
    pictures = to_numpy(images)
    if not isinstance(images, EagerTensor) and pictures.dtype.kind in "iuf":
        pictures = pictures.astype(np.float32)
    if of_numpy(pictures.dtype).name not in ("float32", "float16"):
        kind = kernel_name(of_numpy(pictures.dtype))
        raise invalid(f"Value for attr 'T' of {kind} is not in the list of allowed values: float, half")
    corners = to_numpy(convert_to_tensor(boxes, float32))
    if pictures.ndim != 4:
        raise invalid("The rank of the images should be 4")
    if corners.ndim != 3:
        raise invalid("The rank of the boxes tensor should be 3")
    if len(corners) != len(pictures):
        raise invalid("The batch sizes should be the same")
    depth = pictures.shape[3]
    if depth not in (1, 3, 4):
        raise invalid("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    table = _colour_table(colors, depth)
    drawn = pictures.copy()
    for picture, rows in zip(drawn, corners, strict=True):
        for number, row in enumerate(rows):
            _draw(picture, row, table[number % len(table)])
    return of_array(drawn)


def _colour_table(colors: Any, depth: int) -> Array:
    if colors is None or not (given := to_numpy(convert_to_tensor(colors, float32))).size:
        table = _COLOURS.copy()
        if depth == 1:
            table[:, 0] = 1
    else:
        if given.ndim != 2:
            raise invalid(f"colors must be a 2-D matrix{shape_text(given.shape)}")
        if given.shape[1] < depth:
            raise invalid(
                f"colors must have equal or more channels than the image provided: {shape_text(given.shape)}"
            )
        table = given.astype(np.float32)
    return np.asarray(table[:, :depth])


def _draw(picture: Array, box: Array, colour: Array) -> None:
    """Draws the edges of a box into ``picture``."""
    height, width = picture.shape[:2]
    ends = box * np.array([height - 1, width - 1] * 2, np.float32)
    top, left, bottom, right = (int(end) if math.isfinite(end) else -1 for end in ends.tolist())
    if top > bottom or left > right:
        return
    if top >= height or bottom < 0 or left >= width or right < 0:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    if top >= 0:
        picture[top, columns] = colour
    if bottom < height:
        picture[bottom, columns] = colour
    if left >= 0:
        picture[rows, left] = colour
    if right < width:
        picture[rows, right] = colour


# --- The contents of boxes --------------------------------------------------------------------------


def crop_and_resize(  # noqa: PLR0917 - TensorFlow's signature
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: Any = 0.0,
    name: str | None = None,
) -> EagerTensor:
    """The contents of boxes of a batch of images, each resized to ``crop_size``; as float32.

    ``box_indices`` says in which image each box lies. Beyond the image is ``extrapolation_value``.
    """
    if method not in ("bilinear", "nearest"):
        raise invalid(
            f'Value for attr \'method\' of "{method}" is not in the list of allowed values: "bilinear", "nearest"'  # noqa: E501
        )
    batch, corners, numbers = (
        to_numpy(image),
        to_numpy(convert_to_tensor(boxes, float32)),
        to_numpy(box_indices),
    )
    size = to_numpy(crop_size)
    _check_crops(batch, corners, numbers, size)
    rows, columns = size.tolist()
    made = np.full((len(corners), rows, columns, batch.shape[3]), np.float32(extrapolation_value), np.float32)
    for place, (box, number) in enumerate(zip(corners, numbers.tolist(), strict=True)):
        picture = batch[number]
        down = _samples(box[0], box[2], picture.shape[0], rows)
        across = _samples(box[1], box[3], picture.shape[1], columns)
        inside = [
            (where >= 0) & (where <= length - 1)
            for where, length in zip((down, across), picture.shape, strict=False)
        ]
        if not inside[0].any() or not inside[1].any():
            continue
        values = _sampled_at(picture, down[inside[0]], across[inside[1]], method)
        made[place][np.ix_(inside[0], inside[1])] = values
    return of_array(made)


def _check_crops(batch: Array, corners: Array, numbers: Array, size: Array) -> None:
    if batch.ndim != 4:
        raise invalid(f"input image must be 4-D{shape_text(batch.shape)}")
    if size.ndim != 1:
        raise invalid(f"crop_size must be 1-D{shape_text(size.shape)}")
    if size.shape != (2,):
        raise invalid(f"crop_size must have two elements{shape_text(size.shape)}")
    if corners.ndim != 2:
        raise invalid(f"boxes must be 2-D, got: {shape_text(corners.shape)}")
    if corners.shape[1] != 4:
        raise invalid("boxes must have 4 columns")
    if numbers.ndim != 1:
        raise invalid(f"box_index must be 1-D{shape_text(numbers.shape)}")
    if len(numbers) != len(corners):
        raise invalid("box_index has incompatible shape")
    if size.min() <= 0:
        raise invalid("crop dimensions must be positive")
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(batch):
        raise OutOfRangeError(None, None, "box_index has values outside [0, batch_size)")
    if not np.isfinite(corners).all():
        raise invalid("Boxes contains at least one element that is not finite")


def _samples(begin: Any, end: Any, length: int, count: int) -> Array:
    """Where a box is sampled along one dimension, in pixels."""
    last = np.float32(length - 1)
    if count == 1:
        return np.array([np.float32(0.5) * (begin + end) * last], np.float32)
    scale = (end - begin) * last / np.float32(count - 1)
    return np.asarray(begin * last + np.arange(count, dtype=np.float32) * scale, np.float32)


def _sampled_at(picture: Array, down: Array, across: Array, method: str) -> Array:
    if method == "nearest":
        rows, columns = (np.floor(where + 0.5).astype(np.int64) for where in (down, across))
        found: Array = picture[rows][:, columns].astype(np.float32)
        return found
    pixels = picture.astype(np.float32)
    top, bottom = np.floor(down).astype(np.int64), np.ceil(down).astype(np.int64)
    left, right = np.floor(across).astype(np.int64), np.ceil(across).astype(np.int64)
    part = (across - left).astype(np.float32)[None, :, None]
    upper = pixels[top][:, left] + (pixels[top][:, right] - pixels[top][:, left]) * part
    lower = pixels[bottom][:, left] + (pixels[bottom][:, right] - pixels[bottom][:, left]) * part
    return np.asarray(upper + (lower - upper) * (down - top).astype(np.float32)[:, None, None])


# --- Overlapping boxes ------------------------------------------------------------------------------


def non_max_suppression(  # noqa: PLR0917 - TensorFlow's signature
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> EagerTensor:
    """The indices of the boxes with the best scores, without those that overlap a better one too much."""
    corners, values = (to_numpy(convert_to_tensor(part, float32)) for part in (boxes, scores))
    most, threshold = int(to_numpy(max_output_size)), float(to_numpy(iou_threshold))
    if not 0 <= threshold <= 1:
        raise invalid("iou_threshold must be in [0, 1]")
    if corners.ndim != 2:
        raise invalid(f"boxes must be 2-D{shape_text(corners.shape)}")
    if corners.shape[1] != 4:
        raise invalid("boxes must have 4 columns")
    if values.shape != corners.shape[:1]:
        raise invalid("scores has incompatible shape")
    tops, bottoms = np.minimum(corners[:, 0], corners[:, 2]), np.maximum(corners[:, 0], corners[:, 2])
    lefts, rights = np.minimum(corners[:, 1], corners[:, 3]), np.maximum(corners[:, 1], corners[:, 3])
    areas = (bottoms - tops) * (rights - lefts)
    chosen: list[int] = []
    for number in np.argsort(-values, kind="stable").tolist():
        if len(chosen) >= max(most, 0) or not values[number] > float(to_numpy(score_threshold)):
            break
        down = np.minimum(bottoms[chosen], bottoms[number]) - np.maximum(tops[chosen], tops[number])
        across = np.minimum(rights[chosen], rights[number]) - np.maximum(lefts[chosen], lefts[number])
        shared = np.maximum(down, 0) * np.maximum(across, 0)
        together = areas[chosen] + areas[number] - shared
        real = (areas[chosen] > 0) & (areas[number] > 0)
        overlap = np.divide(shared, together, out=np.zeros_like(shared), where=real)
        if not bool((overlap > np.float32(threshold)).any()):
            chosen.append(number)
    return of_array(np.array(chosen, np.int32))
