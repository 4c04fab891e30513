"""Drawn pictures and their files, for the tests of decoding images."""

from __future__ import annotations

import io
from typing import Any

import numpy as np


def drawn(height: int, width: int, seed: int = 0) -> Any:
    """Smooth colours with some noise, as in a photo: (height, width, 3) of uint8."""
    rows, columns = np.mgrid[:height, :width]
    noise = np.random.default_rng(seed).normal(0, 12, (height, width, 3))
    colours = [columns * 255 / width, rows * 255 / height, (rows + columns) % 64 * 4.0]
    return np.clip(np.stack(colours, axis=-1) + noise, 0, 255).astype(np.uint8)


def saved(image: Any, kind: str, **options: Any) -> bytes:
    """A Pillow image, or pixels, as the bytes of a file."""
    from PIL import Image  # noqa: PLC0415 - only where it is installed

    output = io.BytesIO()
    picture = image if isinstance(image, Image.Image) else Image.fromarray(image)
    picture.save(output, kind, **options)
    return output.getvalue()
