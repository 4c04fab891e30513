"""Image files to pixels and back: ``decode_jpeg``, ``decode_png``, ``decode_image``, ``encode_jpeg``, ...

Pillow decodes and encodes (``pip install purerecord[images]``), except BMPs. As in TensorFlow, most functions
decode any format, whatever their name is. Decoded PNGs, GIFs and BMPs have the pixels of TensorFlow. Decoded
JPEGs have those of TensorFlow with ``dct_method="INTEGER_ACCURATE"``. TensorFlow's
default is a faster and less exact method that Pillow does not have; its values differ from these by up to 5
of 255, and by 1 on average. Encoded JPEGs have the bytes of TensorFlow, encoded PNGs the pixels.

This module knows neither files nor datasets.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from ...errors import DecodeError
from .._values.convert import Array, strings
from .._values.operators import kernel_name, shape_text
from .._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from ..dtypes import as_dtype, float32, int32, int64, of_numpy, string, uint8, uint16
from ..errors import InvalidArgumentError, UnimplementedError, combined_error, invalid
from . import bmp, gif
from .pixels import convert_image_dtype

__all__ = [
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "is_jpeg",
]

_MAGIC = ((b"\xff\xd8\xff", "JPEG"), (b"\x89PNG\r\n\x1a\n", "PNG"), (b"GIF8", "GIF"), (b"BM", "BMP"))
_UNKNOWN_FORMAT = "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required."
_CHANNELS = {"1": 1, "L": 1, "I;16": 1, "I": 1, "LA": 2, "RGB": 3, "YCbCr": 3, "CMYK": 3, "RGBA": 4}
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
# TensorFlow's weights of red, green and blue in the grey of a PNG, in parts of 32768.
_GREY_WEIGHTS = np.array([9797, 19234, 3737], np.int64)


def _pillow() -> Any:
    try:
        from PIL import Image  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise ImportError("pictures need Pillow: pip install purerecord[images]") from None
    return Image


def _payload(contents: Any) -> bytes:
    tensor = convert_to_tensor(contents, string)
    if tensor.ndim:
        raise invalid(f"`contents` must be scalar but got shape{shape_text(tensor._array.shape)}")
    return bytes(tensor.numpy())


def _format_of(data: bytes) -> str:
    """JPEG, PNG, GIF or BMP."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    raise combined_error(InvalidArgumentError, DecodeError(_UNKNOWN_FORMAT), _UNKNOWN_FORMAT)


def _open(data: bytes, kind: str) -> Any:
    """A Pillow image whose header is read."""
    pillow = _pillow()
    try:
        return pillow.open(io.BytesIO(data), formats=[kind])
    except Exception as error:
        raise _broken(kind, error) from error


def _broken(kind: str, error: Exception) -> Exception:
    """TensorFlow's error for any error of Pillow in broken data."""
    text = "jpeg::Uncompress failed. Invalid JPEG data or crop window."
    if kind != "JPEG":
        text = f"Invalid {kind} data: {error}"
    return combined_error(InvalidArgumentError, DecodeError(text), text)


def _pixels(image: Any, mode: str | None = None) -> Array:
    kind = image.format or ""
    try:
        array = np.array(image if mode in (None, image.mode) else image.convert(mode))
    except MemoryError:
        raise
    except Exception as error:
        raise _broken(kind, error) from error
    return array if array.ndim == 3 else array[..., None]


# --- JPEG -------------------------------------------------------------------------------------------


def _check_channels(channels: Any) -> int:
    count = int(channels)
    if count not in (0, 1, 3, 4):
        raise invalid(f"`channels` must be 0, 1, 3 or 4 but got {count}")
    return count


def decode_jpeg(  # noqa: PLR0917 - TensorFlow's signature
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> EagerTensor:
    """The pixels of a JPEG (or PNG, or of a GIF of one frame) as uint8, ``[height, width, channels]``.

    ``channels`` is 0 for those of the file, 1 for grey, 3 for colour. A ``ratio`` of 2, 4 or 8 decodes a
    smaller image. ``fancy_upscaling`` is always on and ``dct_method`` always "INTEGER_ACCURATE".

    A cut off JPEG is an error unless ``try_recover_truncated`` or if at least ``acceptable_fraction`` of its
    rows can be read. Rows that cannot be read are black.
    """
    if int(ratio) not in (1, 2, 4, 8):
        raise invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
    fraction = 0.0 if try_recover_truncated else min(1.0, float(acceptable_fraction))
    reader = partial(_jpeg, ratio=int(ratio), recover=bool(try_recover_truncated), fraction=fraction)
    return of_array(_decoded("DecodeJpeg", contents, channels, read_jpeg=reader))


def check_is_jpeg(op: str, contents: Any) -> None:
    """Raise an error if the contents are of another format."""
    kind = _format_of(_payload(contents))
    if kind != "JPEG":
        raise invalid(f"{op} operation can run on JPEG only, but detected {kind}.")


def _jpeg(data: bytes, channels: int, ratio: int = 1, recover: bool = False, fraction: float = 1.0) -> Array:
    image = _open(data, "JPEG")
    pixels = _jpeg_pixels(image, channels, ratio, strict=not recover and fraction == 1)
    if pixels is not None:
        return pixels
    # The data is cut off. With a mark of its end, the decoder makes up what is missing.
    whole = _jpeg_pixels(_open(data + b"\xff\xd9", "JPEG"), channels, ratio)
    assert whole is not None
    if recover:
        return whole
    read = _rows_read(data, channels, ratio, len(whole))
    if not read or read < fraction * len(whole):
        raise _broken("JPEG", ValueError("cut off"))
    whole[read:] = 0
    return whole


def _rows_read(data: bytes, channels: int, ratio: int, rows: int) -> int:
    """How many rows of a cut off JPEG can be decoded: those that hide what was in the picture before."""
    left = []
    for level in (0, 255):
        image = _open(data, "JPEG")
        _draft(image, channels, ratio)
        image.load_prepare()
        image.im = _pillow().core.fill(image.mode, image.size, (level,) * len(image.getbands()))
        with suppress(OSError):
            image.load()
        image.tile = []  # do not load it once more
        left.append(np.array(image).reshape(rows, -1))
    return int((left[0] == left[1]).all(axis=1).sum())


def _draft(image: Any, channels: int, ratio: int) -> None:
    """In draft mode the decoder itself reduces to grey or to a smaller size, as in TensorFlow."""
    small = tuple(max(1, length // ratio) for length in image.size) if ratio > 1 else None
    image.draft("L" if channels == 1 else image.mode, small)


def _jpeg_pixels(image: Any, channels: int, ratio: int, strict: bool = True) -> Array | None:
    """The pixels of a JPEG; None if it is cut off, unless that is an error (``strict``)."""
    if min(image.size) < ratio:
        raise UnimplementedError(None, None, f"a picture this small is not decoded with ratio={ratio}")
    _draft(image, channels, ratio)
    if not strict:
        try:
            image.load()
        except OSError as error:
            if "truncated" not in str(error):
                raise _broken("JPEG", error) from error
            return None
    if image.mode == "CMYK":
        if channels == 1:
            raise _broken("JPEG", ValueError("printing colours are not decoded to grey"))
        light = 255 - _pixels(image).astype(np.uint16)
        return (light[..., :3] * light[..., 3:] // 255).astype(np.uint8)
    if channels == 0:
        channels = _CHANNELS.get(image.mode, 3)
    return _pixels(image, _MODES[channels])


def extract_jpeg_shape(contents: Any, output_type: Any = "int32", name: str | None = None) -> EagerTensor:
    """``[height, width, channels]`` of a JPEG, without decoding it."""
    data = _payload(contents)
    if not data.startswith(b"\xff\xd8\xff"):
        raise _broken("JPEG", ValueError(""))
    wanted = as_dtype(output_type)
    if wanted not in (int32, int64):
        kind = kernel_name(wanted)
        raise invalid(
            f"Value for attr 'output_type' of {kind} is not in the list of allowed values: int32, int64"
        )
    image = _open(data, "JPEG")
    shape = (image.height, image.width, len(image.getbands()))
    return of_array(np.array(shape, wanted.as_numpy_dtype))


# --- PNG and the others -----------------------------------------------------------------------------


def decode_png(contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None) -> EagerTensor:
    """The pixels of a PNG (or JPEG, or GIF of a frame) as uint8 or uint16, ``[height, width, channels]``."""
    wanted = as_dtype(dtype)
    if wanted not in (uint8, uint16):
        raise invalid(
            f"Value for attr 'dtype' of {wanted.name} is not in the list of allowed values: uint8, uint16"
        )
    return of_array(_decoded("DecodePng", contents, channels, dtype=wanted))


def _decoded(
    op: str,
    contents: Any,
    channels: Any,
    *,
    dtype: Any = uint8,
    animated: bool = False,
    read_jpeg: Callable[[bytes, int], Array] = _jpeg,
) -> Array:
    """The pixels of a file of any format; with ``animated`` all frames of a GIF."""
    count, data = _check_channels(channels), _payload(contents)
    kind = _format_of(data)
    if kind == "JPEG":
        if count == 4:
            raise invalid("JPEG does not support 4 channels")
        _check_bmp_op(op, kind)
        return _as_dtype(read_jpeg(data, count), dtype)
    if kind == "PNG":
        _check_bmp_op(op, kind)
        return _as_dtype(_png(_open(data, kind), count, dtype is uint16), dtype, scale=257)
    if kind == "GIF":
        if count not in (0, 3):
            raise invalid(f"channels must be 0 or 3 for GIF, got {count}")
        _check_bmp_op(op, kind)
        return _as_dtype(_gif(op, data, animated), dtype)
    if count == 1:
        raise invalid("`channels` must be 0, 3 or 4 for BMP, but got 1")
    if op not in ("DecodeBmp", "DecodeImage"):
        raise invalid(
            "Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. "
            f"Op used: {op}"
        )
    try:
        pixels = bmp.pixels(data)
    except ValueError as error:
        raise combined_error(InvalidArgumentError, DecodeError(str(error)), str(error)) from None
    return _as_dtype(_with_channels(pixels, count or pixels.shape[-1]), dtype)


def _check_bmp_op(op: str, kind: str) -> None:
    if op == "DecodeBmp":
        raise invalid(
            f"Trying to decode {kind} format using DecodeBmp op. Use `decode_{kind.lower()}` or "
            "`decode_image` instead."
        )


def _gif(op: str, data: bytes, animated: bool) -> Array:
    pillow = _pillow()
    try:
        frames = gif.frames(data, pillow, only_first=op == "DecodeImage" and not animated)
    except MemoryError:
        raise
    except Exception as error:
        raise _broken("GIF", error) from error
    if animated:
        return frames
    if len(frames) > 1:
        raise invalid(
            f"Got {len(frames)} frames, but animated gifs can only be decoded by tf.io.decode_gif or "
            "tf.io.decode_image"
        )
    first: Array = frames[0]
    return first


def _png(image: Any, channels: int, wide: bool) -> Array:
    """The pixels of a PNG: uint16 if ``wide`` and the file has 16 bits, else uint8."""
    clear = "transparency" in image.info
    if not channels:
        channels = (4 if clear else 3) if image.mode == "P" else _CHANNELS.get(image.mode, 3)
    if image.mode.startswith("I"):
        grey = _pixels(image).astype(np.uint16)
        return _with_channels(grey if wide else (grey >> 8).astype(np.uint8), channels)
    if wide and getattr(image, "tile", None) and ";16B" in str(image.tile[0]):
        raise UnimplementedError(None, None, "PNGs of 16 bits are decoded to uint16 only if they are grey")
    alpha = image.mode in ("LA", "RGBA") or clear
    grey_file = image.mode in ("1", "L", "LA")
    gamma = 45455 if "srgb" in image.info else round(image.info.get("gamma", 1) * 100_000)
    return _with_channels(_pixels(image, _MODES[(1 if grey_file else 3) + alpha]), channels, gamma)


def _grey(colours: Array, gamma: int) -> Array:
    """The grey of colours, whose brightness is not linear but has a ``gamma`` in parts of 100,000."""
    if 95_000 <= gamma <= 105_000 or not 16 <= gamma <= 625_000_000:  # nearly linear, or no gamma at all
        return np.asarray((colours.astype(np.int64) @ _GREY_WEIGHTS) >> 15)
    decoding = int(1e10 / gamma + 0.5)
    encoding = int(1e10 / decoding + 0.5)
    linear = _power(decoding)[colours].astype(np.int64)
    return np.asarray(_power(encoding)[(linear @ _GREY_WEIGHTS + 16384) >> 15])


def _power(exponent: int) -> Array:
    """A table of all levels raised to an exponent in parts of 100,000."""
    levels = np.arange(256)
    return np.floor(255 * (levels / 255) ** (exponent / 100_000) + 0.5).astype(np.int64)


def _with_channels(pixels: Array, channels: int, gamma: int = 100_000) -> Array:
    """The pixels with 1 to 4 channels: grey or colour, without or with opacity."""
    have = pixels.shape[-1]
    colours, opacity = (pixels, None) if have % 2 else (pixels[..., :-1], pixels[..., -1:])
    if channels < 3 <= have:
        grey = _grey(colours, gamma).astype(pixels.dtype)
        same = (colours[..., 0] == colours[..., 1]) & (colours[..., 0] == colours[..., 2])
        colours = np.where(same, colours[..., 0], grey)[..., None]
    elif channels >= 3 > have:
        colours = np.repeat(colours, 3, axis=-1)
    if channels % 2:
        return np.ascontiguousarray(colours)
    if opacity is None:
        opacity = np.full((*colours.shape[:-1], 1), np.iinfo(pixels.dtype).max, pixels.dtype)
    return np.concatenate([colours, opacity], axis=-1)


def _as_dtype(pixels: Array, dtype: Any, scale: int = 256) -> Array:
    """Pixels of uint8 or uint16 in another dtype. uint16 is ``scale`` times uint8, floats are 0 to 1."""
    if pixels.dtype == dtype.as_numpy_dtype:
        return pixels
    if dtype is uint16:
        wide: Array = pixels.astype(np.uint16) * np.uint16(scale)
        return wide
    if scale == 257:  # TensorFlow makes floats of PNGs with 16 bits
        pixels = _as_dtype(pixels, uint16, scale)
    floats: Array = pixels.astype(np.float32)
    floats *= np.float32(1 / np.iinfo(pixels.dtype).max)
    return floats


def decode_gif(contents: Any, name: str | None = None) -> EagerTensor:
    """All frames of a GIF as uint8, ``[frames, height, width, 3]``."""
    pixels = _decoded("DecodeGif", contents, 3, animated=True)
    return of_array(pixels if pixels.ndim == 4 else pixels[None])


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> EagerTensor:
    """The pixels of a BMP as uint8, ``[height, width, channels]``."""
    return of_array(_decoded("DecodeBmp", contents, channels))


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> EagerTensor:
    """The pixels of a JPEG, PNG, GIF or BMP.

    The result is ``[height, width, channels]``, but ``[frames, height, width, 3]`` for a GIF. With
    ``expand_animations=False`` a GIF gives its first frame.
    """
    wanted = as_dtype(dtype)
    if wanted not in (uint8, uint16, float32):
        return convert_image_dtype(decode_image(contents, channels, uint16, None, expand_animations), wanted)
    pixels = _decoded("DecodeImage", contents, channels or 0, dtype=wanted, animated=bool(expand_animations))
    return of_array(pixels)


def is_jpeg(contents: Any, name: str | None = None) -> EagerTensor:
    """Whether the bytes begin like those of a JPEG."""
    array = to_numpy(convert_to_tensor(contents, string))
    found = [text.startswith(b"\xff\xd8\xff") for text in array.reshape(-1).tolist()]
    return of_array(np.array(found, np.bool_).reshape(array.shape))


# --- Encoding ---------------------------------------------------------------------------------------


def _checked_pixels(op: str, image: Any, channels: tuple[int, ...], dtypes: tuple[Any, ...]) -> Array:
    """The pixels of an image, or for ``EncodePng`` of a batch of images."""
    array = to_numpy(image)
    if op == "EncodeJpeg" and not isinstance(image, EagerTensor):
        array = to_numpy(convert_to_tensor(image, uint8))
    dtype = of_numpy(array.dtype)
    if dtype not in dtypes:
        if len(dtypes) > 1:
            names = ", ".join(allowed.name for allowed in dtypes)
            raise invalid(
                f"Value for attr 'T' of {kernel_name(dtype)} is not in the list of allowed values: {names}"
            )
        raise invalid(
            f"cannot compute {op} as input #0(zero-based) was expected to be a {dtypes[0].name} tensor but is "  # noqa: E501
            f"a {kernel_name(dtype)} tensor"
        )
    if op == "EncodeJpeg" and array.ndim != 3:
        raise invalid(f"image must be 3-dimensional{shape_text(array.shape)}")
    if array.ndim < 3:
        raise invalid(f"images must be at least rank 3{shape_text(array.shape)}")
    if array.shape[-1] not in channels:
        shown = ", ".join(map(str, channels[:-1])) + f"{',' if len(channels) > 2 else ''} or {channels[-1]}"
        raise invalid(f"image must have {shown} channels, got {shape_text(array.shape)}")
    if not array.size and op == "EncodePng":
        raise invalid(f"image cannot be empty {shape_text(array.shape)}")
    return array[..., 0] if array.shape[-1] == 1 else array


def encode_jpeg(  # noqa: PLR0917 - TensorFlow's signature
    image: Any,
    format: str = "",  # noqa: A002 - TensorFlow's name
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> EagerTensor:
    """A JPEG of uint8 pixels ``[height, width, 1 or 3]``."""
    array = _checked_pixels("EncodeJpeg", image, (1, 3), (uint8,))
    if (format, array.ndim) in (("grayscale", 3), ("rgb", 2)) or format not in ("", "grayscale", "rgb"):
        raise invalid(f"format {format!r} does not suit an image of shape {shape_text(array.shape)}")
    if not 0 <= int(quality) <= 100:
        raise invalid(f"quality must be in [0,100], got {quality}")
    if density_unit not in ("in", "cm"):
        raise invalid(
            f'Value for attr \'density_unit\' of "{density_unit}" is not in the list of allowed values: "in", "cm"'  # noqa: E501
        )
    if xmp_metadata:
        raise UnimplementedError(None, None, "encode_jpeg writes no xmp_metadata")
    options: dict[str, Any] = {
        "quality": int(quality),
        "progressive": bool(progressive),
        "optimize": bool(optimize_size),
        "dpi": (int(x_density), int(y_density)),
    }
    if array.ndim == 3:
        options["subsampling"] = 2 if chroma_downsampling else 0
    encoded = _encoded(array, "JPEG", options)
    if density_unit == "in":
        return encoded
    data = bytearray(encoded.numpy())
    data[13] = 2  # the unit in the JFIF header; Pillow knows inches only
    return of_array(bytes(data))


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> EagerTensor:
    """A PNG of uint8 pixels ``[height, width, 1 to 4]``, or of uint16 ones ``[height, width, 1]``.

    Of a batch of images, a tensor of PNGs.
    """
    array = _checked_pixels("EncodePng", image, (1, 2, 3, 4), (uint8, uint16))
    if not -1 <= int(compression) <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}")
    grey = to_numpy(image).shape[-1] == 1
    if array.dtype == np.uint16 and not grey:
        raise UnimplementedError(None, None, "PNGs of 16 bits are encoded only if they are grey")
    options = {} if int(compression) < 0 else {"compress_level": int(compression)}
    own = 2 if grey else 3
    if array.ndim == own:
        return _encoded(array, "PNG", options)
    pictures = array.reshape(-1, *array.shape[array.ndim - own :])
    files = [_encoded(picture, "PNG", options)._array[()] for picture in pictures]
    return of_array(strings(files, array.shape[: array.ndim - own]))


def _encoded(array: Array, kind: str, options: dict[str, Any]) -> EagerTensor:
    output = io.BytesIO()
    _pillow().fromarray(np.ascontiguousarray(array)).save(output, kind, **options)
    return of_array(output.getvalue())
