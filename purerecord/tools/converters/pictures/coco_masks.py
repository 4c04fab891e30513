"""Segmentations of COCO as masks in PNG: polygons, and lengths of runs, plain or compressed.

Polygons are drawn by pycocotools, so that they cover the pixels that COCO means. This module must not know
pictures.
"""

from __future__ import annotations

import re
import struct
import zlib
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ....payload.images import MOST_PIXELS, ImageForm, decoded_image

_FAR = 100_000_000  # pixels from the corner: farther away, pycocotools cannot count
_LONGEST = 1 << 21
# Characters of numbers below 2 ** 35, of which the last one lacks the bit that more follow.
_COMPRESSED = re.compile("([P-o]{0,6}[0-O])*")
Mask = npt.NDArray[np.uint8]


@cache
def _pycocotools() -> Any:
    try:
        from pycocotools import mask  # noqa: PLC0415 - only where masks are asked for
    except ImportError as error:
        raise ImportError(
            f"masks from polygons need pycocotools: pip install pycocotools ({error})"
        ) from error
    return mask


def check_mask(segmentation: Any) -> None:
    """Raise ValueError if a segmentation is none, and ImportError if it cannot be drawn here."""
    if isinstance(segmentation, list):
        if all(map(_is_polygon, segmentation)):
            _pycocotools()
            return
    elif segmentation is None:
        return
    elif isinstance(segmentation, dict) and _is_size(segmentation.get("size")):
        height, width = segmentation["size"]
        if height * width > MOST_PIXELS:
            raise ValueError(f"a mask of {height} × {width} pixels would need too much memory")
        counts = _counts(segmentation.get("counts"))
        whole = all(isinstance(count, int) and count >= 0 for count in counts)
        if not counts or not whole or sum(counts) != height * width:
            raise ValueError(f"the runs of a mask are not for {height} × {width} pixels")
        return
    raise ValueError(f"a segmentation must be polygons, or runs with size and counts: {segmentation!r:.60}")


def _is_size(value: Any) -> bool:
    """Whether a value is a height and a width."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    return all(isinstance(side, int) and 0 < side < _FAR for side in value)


def _is_polygon(value: Any) -> bool:
    if not isinstance(value, list) or len(value) % 2:
        return False
    if not all(isinstance(number, (int, float)) and abs(number) < _FAR for number in value):
        return False
    # pycocotools needs memory for each pixel of the outline.
    points = np.array(value, np.float64).reshape(-1, 2)
    if np.abs(np.diff(points, axis=0, append=points[:1])).sum() > _LONGEST:
        raise ValueError(f"a polygon whose outline is longer than {_LONGEST:,} pixels")
    return True


def mask_png(segmentation: Any, height: int, width: int) -> bytes:
    """A segmentation, which was checked, as a PNG of zeros and ones; without one, all are zeros."""
    if isinstance(segmentation, bytes):
        return segmentation
    if not isinstance(segmentation, dict):
        # pycocotools draws no polygon of fewer than three points.
        polygons = [polygon for polygon in segmentation or () if len(polygon) >= 6]
        if height * width > MOST_PIXELS:
            raise ValueError(f"a mask of {height} × {width} pixels would need too much memory")
        if not polygons:
            return png(np.zeros((height, width), np.uint8))
        library = _pycocotools()
        segmentation = library.merge(library.frPyObjects(polygons, height, width))
    height, width = segmentation["size"]
    counts = _counts(segmentation["counts"])
    flat = np.repeat(np.arange(len(counts)) % 2, counts).astype(np.uint8)
    return png(flat.reshape(width, height).T)


def _counts(counts: Any) -> list[int]:
    """The lengths of runs, which may be compressed: numbers of 5 bits a character, as differences. None if
    they are no such thing."""
    if isinstance(counts, list):
        return counts
    text = counts.decode("latin-1") if isinstance(counts, bytes) else counts
    if not isinstance(text, str) or not _COMPRESSED.fullmatch(text):
        return []
    found: list[int] = []
    number = shift = 0
    for character in text.encode():
        bits = character - 48
        number |= (bits & 31) << shift
        shift += 5
        if not bits & 32:
            if bits & 16:  # it is below 0
                number -= 1 << shift
            found.append(number + (found[-2] if len(found) > 2 else 0))
            number = shift = 0
    return found


def png(mask: Mask) -> bytes:
    """A mask as a grey PNG."""
    height, width = mask.shape
    rows = np.zeros((height, width + 1), np.uint8)  # each begins with a 0: it is not filtered
    rows[:, 1:] = mask
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def png_mask(data: bytes) -> Mask:
    """The mask in a PNG: whatever is not black."""
    return decoded_image(data, ImageForm("gray"))[..., 0]


def runs_of(mask: Mask) -> dict[str, Any]:
    """A mask as COCO's lengths of runs, column after column, zeros first."""
    flat = np.asfortranarray(mask != 0).ravel("F")
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    counts = np.diff(np.concatenate([[0], edges, [len(flat)]])).tolist()
    return {"size": list(mask.shape), "counts": [0, *counts] if len(flat) and flat[0] else counts}
