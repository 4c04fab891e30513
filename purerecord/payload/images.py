"""Encoded images to arrays of pixels: JPEG, PNG, GIF, BMP and WebP.

``simplejpeg`` decodes a JPEG if it is installed, Pillow everything else. Both use libjpeg-turbo with the same
settings, so the pixels are the same. What simplejpeg complains about is given to Pillow, which decides. This
module does not know columns nor messages.
"""

from __future__ import annotations

import io
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

MODES = {"rgb": 3, "gray": 1}  # and their numbers of channels
FORMATS = "JPEG, PNG, GIF, BMP or WebP"
_FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP")
# An image of more pixels is refused: a few bytes could demand any amount of memory. This is Pillow's limit.
MOST_PIXELS = 178_956_970
# JPEGs with shorter sides are not scaled while they are decoded: rounding would choose another scale.
_SHORTEST_SCALED = 64
_JPEG = b"\xff\xd8\xff"
# Colours that libjpeg itself turns into RGB and grey. Those for printing are left to Pillow.
_SCREEN_COLOURS = ("YCbCr", "RGB", "Gray")


class ImageError(ValueError):
    """The bytes are no image that can be decoded."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"an image that cannot be decoded: {reason}")
        self.reason = reason


class ImageForm(NamedTuple):
    """What decoding gives: the mode, and the size (height, width) to which images are resized, if any."""

    mode: str
    size: tuple[int, int] | None = None

    @property
    def channels(self) -> int:
        return MODES[self.mode]

    @classmethod
    def of(cls, name: str, given: Any) -> ImageForm:
        """The form that a caller asks for under ``name``: a mode, or a pair of a mode and a size."""
        mode, size = given if isinstance(given, (tuple, list)) and len(given) == 2 else (given, None)
        if not isinstance(mode, str) or mode not in MODES:
            raise ValueError(
                f'decode of {name!r} must be "rgb" or "gray", or a pair of that and a size, such as '
                f'("rgb", (224, 224)), not {given!r}'
            )
        if size is None:
            return cls(mode)
        if not isinstance(size, (tuple, list)) or len(size) != 2 or not all(map(_is_length, size)):
            raise ValueError(f"the size in decode of {name!r} must be (height, width), not {size!r}")
        return cls(mode, (int(size[0]), int(size[1])))


def _is_length(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) > 0


def check_decoders(form: ImageForm) -> None:
    """Raise the error about a missing library before any file is read."""
    if form.size is not None or _simplejpeg() is None:
        _pillow()


@cache
def _simplejpeg() -> Any:
    try:
        import simplejpeg  # noqa: PLC0415 - only where images are decoded
    except ImportError:
        return None
    return simplejpeg


@cache
def _pillow() -> Any:
    try:
        from PIL import Image  # noqa: PLC0415 - only where images are decoded
    except ImportError as error:
        raise ImportError(f'images need Pillow: pip install "purerecord[images]" ({error})') from error
    return Image


def decoded_image(data: bytes | memoryview, form: ImageForm) -> Pixels:
    """The pixels of an image, (height, width, channels); ``ImageError`` if there is none."""
    if not len(data):
        raise ImageError("it is empty")
    if bytes(data[: len(_JPEG)]) == _JPEG and _simplejpeg() is not None:
        pixels = _fast_jpeg(data, form)
        if pixels is not None:
            return pixels
    return _by_pillow(data, form)


def _scale(height: int, width: int, size: tuple[int, int] | None) -> int:
    """By how much a JPEG is made smaller while it is decoded: as far as it stays as large as ``size``."""
    if size is None or min(height, width) < _SHORTEST_SCALED:
        return 1
    fitting = (scale for scale in (8, 4, 2) if height // scale >= size[0] and width // scale >= size[1])
    return next(fitting, 1)


def _fast_jpeg(data: bytes | memoryview, form: ImageForm) -> Pixels | None:
    """The pixels of a JPEG; None if it is not sound, or not of the usual kind."""
    simplejpeg = _simplejpeg()
    try:
        height, width, colours, _ = simplejpeg.decode_jpeg_header(data)
        if colours not in _SCREEN_COLOURS or height * width > MOST_PIXELS:
            return None
        scale = _scale(height, width, form.size)
        least = {"min_height": -(-height // scale), "min_width": -(-width // scale)} if scale > 1 else {}
        pixels: Pixels = simplejpeg.decode_jpeg(data, form.mode.upper(), **least)
    except ValueError:
        return None
    if form.size is None or pixels.shape[:2] == form.size:
        return pixels
    return _as_pixels(_resized(_pillow().fromarray(pixels if form.channels > 1 else pixels[..., 0]), form))


def _by_pillow(data: bytes | memoryview, form: ImageForm) -> Pixels:
    pillow = _pillow()
    try:
        image = pillow.open(io.BytesIO(data), formats=_FORMATS)
        height, width = image.height, image.width
        if height * width > MOST_PIXELS:
            raise ImageError(_too_large(f"{height} × {width} pixels"))
        if image.format in ("JPEG", "MPO"):
            scale = _scale(height, width, form.size)
            smaller = (width // scale, height // scale) if scale > 1 else None
            image.draft("L" if form.mode == "gray" else "RGB", smaller)
        return _as_pixels(_resized(_in_mode(image, form.mode), form))
    except (ImageError, MemoryError):
        raise
    except pillow.DecompressionBombError:
        raise ImageError(_too_large("it")) from None
    except pillow.UnidentifiedImageError:
        raise ImageError(f"it is no {FORMATS}") from None
    except Exception as error:  # Pillow raises all kinds of errors for broken files
        raise ImageError(f"{error}" or type(error).__name__) from error


def _too_large(what: str) -> str:
    return f"{what} would need too much memory: an image may have {MOST_PIXELS} pixels"


def _in_mode(image: Any, mode: str) -> Any:
    """The first frame as 8 bits in RGB or grey. Opacity is dropped; of 16 bits, the upper 8 count."""
    image.load()
    image.info.pop("transparency", None)
    if image.mode.startswith("I"):
        image = _pillow().fromarray((np.asarray(image).astype(np.int64) >> 8).astype(np.uint8))
    if mode == "rgb":
        return image.convert("RGB")
    return image.convert("L") if image.mode in ("1", "L", "LA") else image.convert("RGB").convert("L")


def _resized(image: Any, form: ImageForm) -> Any:
    if form.size is None or form.size == (image.height, image.width):
        return image
    return image.resize(form.size[::-1], _pillow().Resampling.BILINEAR)


def _as_pixels(image: Any) -> Pixels:
    pixels = np.array(image)
    return pixels if pixels.ndim == 3 else pixels[..., None]
