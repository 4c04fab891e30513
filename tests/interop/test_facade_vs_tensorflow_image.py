"""``tf.image`` of purerecord against TensorFlow's: bytes, pixels, resizing, colours, errors."""

from __future__ import annotations

import io
import re
import struct
import zlib
from typing import Any

import numpy as np
import pytest

import purerecord.tf as ours
from tests.support.interop import interop

tf = interop("tensorflow")
Image = interop("PIL.Image")
ImageDraw = interop("PIL.ImageDraw")

SIZES = [(97, 131), (64, 64), (8, 8), (1, 1), (7, 30), (33, 5)]


def drawn(height: int, width: int, mode: str = "RGB", seed: int = 0) -> Any:
    """An image with edges and uniform areas."""
    rng = np.random.default_rng(seed)
    bands = {"1": 1, "L": 1, "P": 1, "LA": 2, "RGB": 3, "RGBA": 4}[mode]

    def colour() -> Any:
        values = tuple(rng.integers(0, 256, bands).tolist())
        return values[0] if bands == 1 else values

    image = Image.new(mode, (width, height), colour())
    draw = ImageDraw.Draw(image)
    for _ in range(12):
        x, y, r = (int(rng.integers(high)) for high in (width, height, 40))
        draw.ellipse([x - r, y - r, x + r, y + r], fill=colour())
    return image


def noise(*shape: int, dtype: Any = np.uint8, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.random(shape).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def saved(image: Any, kind: str, **options: Any) -> bytes:
    output = io.BytesIO()
    image.save(output, kind, **options)
    return output.getvalue()


def same(mine: Any, theirs: Any) -> None:
    assert mine.dtype.name == theirs.dtype.name
    assert mine.shape.as_list() == theirs.shape.as_list()
    np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def close(mine: Any, theirs: Any, tolerance: float = 2e-6) -> None:
    assert mine.dtype.name == theirs.dtype.name
    assert mine.shape.as_list() == theirs.shape.as_list()
    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=tolerance, atol=tolerance)


# --- JPEG -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("progressive", [False, True])
def test_jpeg_decodes_to_the_pixels_of_integer_accurate(size, mode, progressive):
    for subsampling in (0, 2):
        data = saved(drawn(*size, mode), "JPEG", quality=85, subsampling=subsampling, progressive=progressive)
        for channels in (0, 1, 3):
            for ratio in [ratio for ratio in (1, 2, 4, 8) if ratio <= min(size)]:
                options = {"channels": channels, "ratio": ratio, "dct_method": "INTEGER_ACCURATE"}
                same(ours.io.decode_jpeg(data, **options), tf.io.decode_jpeg(data, **options))


def test_jpeg_of_printing_colours_decodes_to_the_same_pixels():
    data = saved(
        Image.merge("CMYK", [Image.fromarray(noise(20, 30, seed=seed)) for seed in range(4)]), "JPEG"
    )
    for channels in (0, 3):
        options = {"channels": channels, "dct_method": "INTEGER_ACCURATE"}
        same(ours.io.decode_jpeg(data, **options), tf.io.decode_jpeg(data, **options))
    for namespace in (tf, ours):
        with pytest.raises(namespace.errors.InvalidArgumentError, match="Invalid JPEG data"):
            namespace.io.decode_jpeg(data, channels=1)


def test_jpeg_with_the_fast_default_differs_by_a_few_levels_only():
    data = saved(drawn(97, 131), "JPEG", quality=85)
    apart = np.abs(ours.io.decode_jpeg(data).numpy().astype(int) - tf.io.decode_jpeg(data).numpy())
    assert apart.max() <= 6
    assert apart.mean() < 1.5


@pytest.mark.parametrize(
    "options",
    [{}, {"quality": 50}, {"chroma_downsampling": False}, {"progressive": True}, {"optimize_size": True},
     {"x_density": 72, "y_density": 72}, {"format": "rgb"}],
)  # fmt: skip
def test_jpeg_encodes_to_the_same_bytes(options):
    for size in SIZES:
        pixels = np.asarray(drawn(*size))
        assert ours.io.encode_jpeg(pixels, **options).numpy() == tf.io.encode_jpeg(pixels, **options).numpy()


def test_grey_jpeg_encodes_to_the_same_bytes():
    pixels = np.asarray(drawn(40, 50, "L"))[..., None]
    assert ours.io.encode_jpeg(pixels).numpy() == tf.io.encode_jpeg(pixels).numpy()
    assert ours.image.is_jpeg(ours.io.encode_jpeg(pixels)).numpy()
    same(ours.image.extract_jpeg_shape(ours.io.encode_jpeg(pixels)), tf.constant([40, 50, 1]))


# --- PNG, GIF, BMP ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA"])
@pytest.mark.parametrize("channels", [0, 1, 3, 4])
def test_png_decodes_to_the_same_pixels(mode, channels):
    if mode == "1" and channels == 4:
        pytest.skip("TensorFlow makes pixels of few bits nearly invisible; here they are opaque")
    for size in SIZES[:3]:
        data = saved(drawn(*size, mode), "PNG")
        same(ours.io.decode_png(data, channels), tf.io.decode_png(data, channels))
        same(ours.io.decode_png(data, channels, "uint16"), tf.io.decode_png(data, channels, tf.uint16))


@pytest.mark.parametrize("channels", [0, 1, 3, 4])
@pytest.mark.parametrize("colours", [2, 4, 16, 200])
@pytest.mark.parametrize("transparency", [None, 1, bytes([0, 128])])
def test_png_with_a_palette_decodes_to_the_same_pixels(channels, colours, transparency):
    if transparency is None and channels == 4:
        pytest.skip("TensorFlow makes pixels of few bits nearly invisible; here they are opaque")
    image = drawn(50, 60).quantize(colours)
    data = saved(image, "PNG", **({} if transparency is None else {"transparency": transparency}))
    same(ours.io.decode_png(data, channels), tf.io.decode_png(data, channels))


@pytest.mark.parametrize("channels", [0, 1, 3])
def test_grey_png_of_16_bits_decodes_to_the_same_pixels(channels):
    data = saved(Image.fromarray(noise(20, 30, dtype=np.uint16)), "PNG")
    same(ours.io.decode_png(data, channels), tf.io.decode_png(data, channels))
    same(ours.io.decode_png(data, channels, "uint16"), tf.io.decode_png(data, channels, tf.uint16))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("compression", [-1, 0, 1, 9])
def test_png_encodes_to_the_same_pixels(channels, compression):
    for size in SIZES:
        pixels = noise(*size, channels)
        mine, theirs = (namespace.io.encode_png(pixels, compression).numpy() for namespace in (ours, tf))
        same(ours.io.decode_png(mine), ours.io.decode_png(theirs))
        same(ours.io.decode_png(mine), tf.constant(pixels))


def test_gif_decodes_to_the_same_pixels():
    first, *rest = (drawn(30, 40, seed=seed).quantize(64) for seed in range(3))
    data = saved(first, "GIF", save_all=True, append_images=rest, duration=100)
    same(ours.io.decode_image(data), tf.io.decode_image(data))
    same(ours.io.decode_gif(data), tf.io.decode_gif(data))
    same(
        ours.io.decode_image(data, expand_animations=False), tf.io.decode_image(data, expand_animations=False)
    )


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_bmp_decodes_to_the_same_pixels(mode):
    data = saved(drawn(30, 41, mode), "BMP")
    if mode == "RGB":
        same(ours.io.decode_bmp(data), tf.io.decode_bmp(data))
    same(
        ours.io.decode_image(data, channels=3), tf.io.decode_image(data, channels=3)
    ) if mode == "RGB" else None


def gif(indices: Any, screen: tuple[int, int], left: int, top: int) -> bytes:
    """A GIF of four colours with one frame somewhere on its screen."""
    height, width = indices.shape
    image = Image.fromarray(indices.astype(np.uint8))
    image = image.convert("P")
    image.putpalette([10, 20, 30, 200, 0, 0, 0, 200, 0, 0, 0, 200])
    data = bytearray(saved(image, "GIF"))
    data[6:10] = struct.pack("<2H", *screen)
    size = struct.pack("<2H", width, height)
    at = data.index(b",\0\0\0\0" + size)
    data[at + 1 : at + 5] = struct.pack("<2H", left, top)
    return bytes(data)


def bmp(bits: int, height: int = 5, width: int = 7) -> bytes:
    """A BMP of random pixels. A negative height stores the rows from top to bottom."""
    size = abs(height) * (-(-width * bits // 32) * 4)
    header = struct.pack("<IHHI", 54 + size, 0, 0, 54)
    header += struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, size, 0, 0, 0, 0)
    return b"BM" + header + np.random.default_rng(1).bytes(size)


def with_chunk(png: bytes, chunk: bytes) -> bytes:
    """A PNG with one chunk more behind its header."""
    whole = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return png[:33] + whole + png[33:]


def gamma(value: int, mode: str = "RGB") -> bytes:
    return with_chunk(saved(drawn(64, 64, mode), "PNG"), b"gAMA" + struct.pack(">I", value))


colour, grey = drawn(9, 7).quantize(8), drawn(9, 7, "L")
PICTURES = {
    "GIF": saved(colour, "GIF"),
    "grey GIF": saved(grey, "GIF"),
    "GIF of one bit": saved(grey.convert("1"), "GIF"),
    "interlaced GIF": saved(colour, "GIF", interlace=1),
    "GIF of three frames": saved(
        colour, "GIF", save_all=True, append_images=[drawn(9, 7, seed=seed).quantize(8) for seed in (1, 2)]
    ),
    "grey GIF of two frames": saved(grey, "GIF", save_all=True, append_images=[grey.rotate(180)]),
    "transparent GIF": saved(colour, "GIF", transparency=1),
    "transparent GIF of two frames": saved(
        colour, "GIF", save_all=True, append_images=[colour.rotate(180)], transparency=1, disposal=2
    ),
    "small frame": gif(np.arange(6).reshape(2, 3) % 4, (7, 5), 0, 0),
    "small frame in the middle": gif(np.arange(6).reshape(2, 3) % 4, (7, 5), 1, 1),
    "frame outside of the screen": gif(np.arange(6).reshape(2, 3) % 4, (2, 2), 5, 5),
    "cut GIF": saved(
        colour, "GIF", save_all=True, append_images=[drawn(9, 7, seed=seed).quantize(8) for seed in (1, 2)]
    )[:-20],
    "cut GIF of one frame": saved(colour, "GIF")[:60],
    "BMP": saved(drawn(5, 7), "BMP"),
    "grey BMP": saved(grey, "BMP"),
    "BMP with a palette": saved(colour, "BMP"),
    "BMP of one bit": saved(grey.convert("1"), "BMP"),
    "BMP with opacity": saved(drawn(5, 7, "RGBA"), "BMP"),
    **{f"BMP of {bits} bits": bmp(bits) for bits in (1, 4, 8, 16, 24, 32)},
    "BMP from the top": bmp(24, -5),
    "cut BMP": bmp(24)[:-4],
    "BMP and more": bmp(24) + b"more",
    "BMP without rows": bmp(24, 0),
    **{f"PNG of gamma {value}": gamma(value) for value in (45455, 100000, 96000, 22000, 250000, 0, 1)},
    "PNG with opacity and a gamma": gamma(45455, "RGBA"),
    "grey PNG with a gamma": gamma(45455, "L"),
    "PNG with a palette and a gamma": with_chunk(
        saved(Image.fromarray(noise(64, 64, 3)).quantize(200), "PNG"), b"gAMA" + struct.pack(">I", 45455)
    ),
    "sRGB": with_chunk(saved(drawn(64, 64), "PNG"), b"sRGB\0"),
}
DECODERS: dict[str, Any] = {
    **{f"decode_png {n}": lambda tf, data, n=n: tf.io.decode_png(data, n) for n in (0, 1, 2, 3, 4)},
    **{f"decode_jpeg {n}": lambda tf, data, n=n: tf.io.decode_jpeg(data, n) for n in (0, 1, 3, 4)},
    **{f"decode_bmp {n}": lambda tf, data, n=n: tf.io.decode_bmp(data, n) for n in (0, 1, 2, 3, 4)},
    **{f"decode_image {n}": lambda tf, data, n=n: tf.io.decode_image(data, n) for n in (0, 1, 3, 4)},
    "first frame": lambda tf, data: tf.io.decode_image(data, expand_animations=False),
    "decode_gif": lambda tf, data: tf.io.decode_gif(data),
    "decode_and_crop_jpeg": lambda tf, data: tf.image.decode_and_crop_jpeg(data, [0, 0, 2, 2]),
    "uint16": lambda tf, data: tf.io.decode_image(data, dtype=tf.uint16),
    "PNG of uint16": lambda tf, data: tf.io.decode_png(data, dtype=tf.uint16),
    "float32": lambda tf, data: tf.io.decode_image(data, dtype=tf.float32),
}


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("picture", PICTURES)
def test_any_decoder_gives_the_same_pixels_of_any_format_or_refuses_it(picture, decoder):
    if picture == "BMP from the top" and decoder in ("uint16", "float32"):
        pytest.skip("TensorFlow crashes")

    def outcome(library):
        try:
            return DECODERS[decoder](library, PICTURES[picture])
        except Exception as error:
            return type(error).__name__

    mine, theirs = outcome(ours), outcome(tf)
    if isinstance(theirs, str):
        assert mine == theirs
    else:
        same(mine, theirs)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("channels", [None, 1, 3])
def test_decode_image_gives_the_same_in_every_type(kind, dtype, channels):
    data = saved(drawn(30, 41), kind)
    mine = ours.io.decode_image(data, channels, dtype)
    theirs = tf.io.decode_image(data, channels, tf.as_dtype(dtype))
    if kind == "PNG":
        close(mine, theirs, 1e-7)
    else:
        one = {"uint8": 1, "uint16": 257, "float32": 1 / 255}[dtype]
        assert np.abs(mine.numpy().astype(float) - theirs.numpy()).max() <= 6.01 * one


BROKEN = [b"", b"x", b"GIF89a", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"BM" + bytes(10), b"not a picture"]


@pytest.mark.parametrize("data", BROKEN)
@pytest.mark.parametrize("function", ["decode_jpeg", "decode_png", "decode_image"])
def test_broken_data_is_an_invalid_argument_in_both(data, function):
    for namespace in (tf, ours):
        with pytest.raises(namespace.errors.InvalidArgumentError):
            getattr(namespace.io, function)(data)


def test_unknown_data_is_named_as_in_tensorflow():
    for namespace in (tf, ours):
        with pytest.raises(
            namespace.errors.InvalidArgumentError,
            match=re.escape("Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required."),
        ):
            namespace.io.decode_image(b"not a picture")


def test_cut_jpeg_is_an_error_in_both():
    data = saved(drawn(97, 131), "JPEG")
    for namespace in (tf, ours):
        with pytest.raises(namespace.errors.InvalidArgumentError):
            namespace.io.decode_jpeg(data[: len(data) // 2])


# --- Resizing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("target", [(10, 10), (64, 64), (1, 1), (200, 131), (97, 131), (224, 224)])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "int32"])
def test_resize_bilinear_and_nearest_are_exact(size, target, dtype):
    pixels = (noise(*size, 3).astype(dtype) / 255 if dtype == "float32" else noise(*size, 3)).astype(dtype)
    for method in ("nearest", "bilinear"):
        mine = ours.image.resize(pixels, target, method)
        theirs = tf.image.resize(pixels, target, method)
        same(mine, theirs) if method == "nearest" else close(mine, theirs, 1e-6)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("target", [(10, 10), (64, 30), (200, 131)])
def test_resize_keeps_the_aspect_ratio(size, target):
    pixels = noise(*size, 3)
    close(
        ours.image.resize(pixels, target, preserve_aspect_ratio=True),
        tf.image.resize(pixels, target, preserve_aspect_ratio=True),
    )
    close(ours.image.resize_with_pad(pixels, *target), tf.image.resize_with_pad(pixels, *target))


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("method", [0, 1])
@pytest.mark.parametrize("target", [(5, 7), (1, 1), (33, 20), (8, 8)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_resize_images_gives_the_pixels_of_tensorflow_1(target, method, align_corners, dtype):
    pixels = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3)).astype(dtype)
    for picture in (pixels, pixels[0]):
        theirs = tf.compat.v1.image.resize_images(picture, target, method, align_corners)
        mine = ours.compat.v1.image.resize_images(picture, target, method, align_corners)
        assert mine.dtype.name == theirs.dtype.name
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


@pytest.mark.parametrize(
    "method", ["bilinear", "bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic", "area"]
)
@pytest.mark.parametrize("target", [(10, 10), (64, 30), (200, 131), (64, 64), (1, 1)])
@pytest.mark.parametrize("antialias", [False, True])
def test_other_methods_of_resize_are_close(method, target, antialias):
    pixels = noise(64, 64, 3)
    mine = ours.image.resize(pixels, target, method, antialias=antialias)
    theirs = tf.image.resize(pixels, target, method, antialias=antialias)
    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), atol=0.01)


def test_resize_of_a_batch_and_with_a_tensor_as_size():
    pixels = noise(4, 20, 30, 1)
    close(ours.image.resize(pixels, ours.constant([7, 9])), tf.image.resize(pixels, tf.constant([7, 9])))


@pytest.mark.parametrize(
    "arguments", ["x, [2, 2], 'odd'", "x, [2]", "x, [2.5, 3.0]", "x[0], [2, 2]", "x, [0, 2]"]
)
def test_resize_refuses_the_same(arguments):
    errors = []
    for namespace in (tf, ours):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the class is compared below
            eval(f"tf.image.resize({arguments})", {"tf": namespace, "x": noise(4, 4, 3)})
        errors.append(caught.value)
    assert type(errors[0]).__name__ == type(errors[1]).__name__
    if isinstance(errors[0], ValueError):
        assert str(errors[0]) == str(errors[1])


# --- Everything else --------------------------------------------------------------------------------

EXACT = """
    flip_left_right(x)
    flip_left_right(batch)
    flip_up_down(x)
    rot90(x)
    rot90(x, 3)
    rot90(batch, 2)
    transpose(x)
    central_crop(x, 0.5)
    central_crop(x, 0.87)
    central_crop(x, 1.0)
    central_crop(batch, 0.3)
    crop_to_bounding_box(x, 1, 2, 3, 4)
    pad_to_bounding_box(x, 1, 2, 30, 40)
    resize_with_crop_or_pad(x, 10, 40)
    resize_with_crop_or_pad(x, 11, 7)
    resize_with_crop_or_pad(x, 31, 41)
    convert_image_dtype(x, 'float32')
    convert_image_dtype(x, 'uint16')
    convert_image_dtype(x, 'int32')
    convert_image_dtype(x, 'int8')
    convert_image_dtype(x, 'uint8')
    convert_image_dtype(wide, 'uint8')
    convert_image_dtype(wide, 'uint8', saturate=True)
    convert_image_dtype(floats, 'uint8')
    convert_image_dtype(floats, 'uint16')
    convert_image_dtype(floats * 3 - 1, 'uint8', saturate=True)
    convert_image_dtype(floats, 'float64')
    grayscale_to_rgb(tf.constant(x[..., :1]))
"""
CLOSE = """
    adjust_brightness(x, 0.2)
    adjust_brightness(floats, -0.3)
    adjust_contrast(x, 1.5)
    adjust_contrast(floats, 0.3)
    adjust_saturation(x, 0.5)
    adjust_saturation(x, 3.0)
    adjust_saturation(floats, 0.0)
    adjust_hue(x, 0.3)
    adjust_hue(floats, -0.2)
    adjust_gamma(floats, 2.0)
    adjust_gamma(x, 0.5, 0.9)
    rgb_to_grayscale(x)
    rgb_to_grayscale(floats)
    rgb_to_hsv(floats)
    hsv_to_rgb(floats)
    per_image_standardization(x)
    per_image_standardization(batch)
"""
VALUES = {
    "x": noise(20, 31, 3),
    "batch": noise(2, 9, 8, 3, seed=1),
    "wide": noise(5, 6, 3, dtype=np.uint16),
    "floats": noise(12, 13, 3, dtype=np.float32),
}


def lines(table: str) -> list[str]:
    return [line.strip() for line in table.splitlines() if line.strip()]


@pytest.mark.parametrize("call", lines(EXACT))
def test_function_gives_the_same_pixels(call):
    mine, theirs = (eval(f"tf.image.{call}", {"tf": namespace, **VALUES}) for namespace in (ours, tf))
    same(mine, theirs)


@pytest.mark.parametrize("call", lines(CLOSE))
def test_function_gives_the_same_pixels_up_to_rounding(call):
    mine, theirs = (eval(f"tf.image.{call}", {"tf": namespace, **VALUES}) for namespace in (ours, tf))
    if mine.dtype.is_integer:
        assert mine.dtype.name == theirs.dtype.name
        assert np.abs(mine.numpy().astype(int) - theirs.numpy()).max() <= 1
    else:
        close(mine, theirs, 5e-6)


ERRORS = """
    central_crop(x, 0.0)
    central_crop(x, 1.5)
    crop_to_bounding_box(x, -1, 0, 3, 3)
    crop_to_bounding_box(x, 0, 0, 300, 3)
    crop_to_bounding_box(x, 0, 0, 3, 300)
    random_brightness(x, -0.1)
    random_saturation(x, 2.0, 1.0)
    random_saturation(x, -1.0, 1.0)
    random_contrast(x, 2.0, 1.0)
    random_hue(x, 0.7)
    random_hue(x, -0.7)
"""


@pytest.mark.parametrize("call", lines(ERRORS))
def test_function_raises_the_same_error(call):
    texts = []
    for namespace in (tf, ours):
        with pytest.raises(ValueError, match="must be") as caught:
            eval(f"tf.image.{call}", {"tf": namespace, **VALUES})
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
