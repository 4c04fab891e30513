"""purerecord.payload.images: one image at a time; the same pixels whichever library decodes."""

from __future__ import annotations

import io
import struct
import zlib
from random import Random
from typing import Any

import numpy as np
import pytest

from purerecord.payload import images
from purerecord.payload.images import MOST_PIXELS, ImageError, ImageForm, check_decoders, decoded_image
from tests.support.doc_pages import run_blocks
from tests.support.interop import interop
from tests.support.pictures import drawn, saved
from tests.support.settings import tries

Image: Any = interop("PIL.Image")
RGB, GRAY = ImageForm("rgb"), ImageForm("gray")


@pytest.fixture
def without_simplejpeg(monkeypatch):
    monkeypatch.setattr(images, "_simplejpeg", lambda: None)


def luma(pixels: Any) -> Any:
    """Pillow's grey of colours."""
    return np.asarray(Image.fromarray(pixels).convert("L"))[..., None]


def jpegs() -> list[bytes]:
    """JPEGs of all kinds that libjpeg turns into RGB itself."""
    found = []
    for height, width in ((375, 500), (376, 501), (64, 64), (65, 130), (101, 67), (9, 13), (1, 1)):
        for options in (
            {"subsampling": 0},
            {"subsampling": 1, "quality": 50},
            {"subsampling": 2, "progressive": True},
            {"subsampling": "4:1:1", "quality": 95},
        ):
            found.append(saved(drawn(height, width), "JPEG", **options))
        found.append(saved(drawn(height, width)[..., 0], "JPEG"))
    found.append(saved(drawn(40, 30), "JPEG", keep_rgb=True))
    return found


FORMS = [
    ImageForm(mode, size)
    for mode in ("rgb", "gray")
    for size in (None, (224, 224), (50, 90), (46, 62), (32, 32), (8, 8), (1, 1))
]


def test_both_libraries_give_the_same_pixels(monkeypatch):
    interop("simplejpeg")
    for data in jpegs():
        fast = [decoded_image(memoryview(data), form) for form in FORMS]
        assert images._fast_jpeg(data, RGB) is not None
        with monkeypatch.context() as patch:
            patch.setattr(images, "_simplejpeg", lambda: None)
            for form, pixels in zip(FORMS, fast, strict=True):
                assert np.array_equal(pixels, decoded_image(data, form)), form


def test_pixels_of_a_jpeg_are_those_of_pillow_and_its_grey_is_its_own_luma():
    for data in jpegs():
        image = Image.open(io.BytesIO(data))
        assert np.array_equal(decoded_image(data, RGB), np.asarray(image.convert("RGB")))
        image = Image.open(io.BytesIO(data))
        image.draft("L", None)
        assert np.array_equal(decoded_image(data, GRAY)[..., 0], np.asarray(image.convert("L")))


def test_a_jpeg_much_larger_than_the_size_is_scaled_while_it_is_decoded():
    data = saved(drawn(512, 640), "JPEG")
    for size, scale in (((257, 64), 1), ((256, 64), 2), ((128, 160), 4), ((64, 64), 8), ((8, 8), 8)):
        image = Image.open(io.BytesIO(data))
        image.draft("RGB", (640 // scale, 512 // scale))
        assert image.size == (640 // scale, 512 // scale)
        expected = np.asarray(image.resize(size[::-1], Image.Resampling.BILINEAR))
        assert np.array_equal(decoded_image(data, ImageForm("rgb", size)), expected)


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "WEBP"])
def test_other_formats_are_pillows(kind):
    pixels = drawn(20, 30)
    options = {"lossless": True} if kind == "WEBP" else {}
    data = saved(
        Image.fromarray(pixels).quantize(16).convert("RGB") if kind == "GIF" else pixels, kind, **options
    )
    expected = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    assert kind == "GIF" or np.array_equal(expected, pixels)
    assert np.array_equal(decoded_image(data, RGB), expected)
    assert np.array_equal(decoded_image(data, GRAY), luma(expected))
    small = np.asarray(Image.fromarray(expected).resize((7, 5), Image.Resampling.BILINEAR))
    assert np.array_equal(decoded_image(data, ImageForm("rgb", (5, 7))), small)


def test_of_an_animation_the_first_frame_counts():
    frames = [Image.fromarray(np.full((4, 5, 3), level, np.uint8)) for level in (10, 200)]
    for kind in ("GIF", "PNG", "WEBP"):
        options = {"lossless": True} if kind == "WEBP" else {}
        data = saved(frames[0], kind, save_all=True, append_images=frames[1:], **options)
        assert (decoded_image(data, RGB) == 10).all(), kind


def test_opacity_is_dropped_and_the_colour_below_it_stays():
    colours, opacity = drawn(6, 7), np.arange(42, dtype=np.uint8).reshape(6, 7, 1)
    data = saved(np.concatenate([colours, opacity], axis=-1), "PNG")
    assert np.array_equal(decoded_image(data, RGB), colours)
    assert np.array_equal(decoded_image(data, GRAY), luma(colours))
    grey = saved(Image.fromarray(np.concatenate([colours[..., :1], opacity], axis=-1), "LA"), "PNG")
    assert np.array_equal(decoded_image(grey, GRAY), colours[..., :1])
    assert np.array_equal(decoded_image(grey, RGB), np.repeat(colours[..., :1], 3, axis=-1))


@pytest.mark.filterwarnings("error")
def test_a_palette_gives_its_colours_also_those_of_transparent_pixels():
    palette = Image.fromarray(drawn(6, 7)).quantize(8)
    expected = np.asarray(palette.convert("RGB"))
    for options in ({}, {"transparency": 3}, {"transparency": bytes(range(8))}):
        data = saved(palette, "PNG", **options)
        assert np.array_equal(decoded_image(data, RGB), expected)
        assert np.array_equal(decoded_image(data, GRAY), luma(expected))
    data = saved(Image.fromarray(drawn(6, 7)), "PNG", transparency=(0, 0, 0))
    assert np.array_equal(decoded_image(data, GRAY), luma(drawn(6, 7)))


def test_black_and_white_is_0_and_255():
    bits = np.arange(42).reshape(6, 7) % 3 == 0
    for form in (RGB, GRAY):
        assert np.array_equal(decoded_image(saved(bits, "PNG"), form)[..., 0], bits * np.uint8(255))


def png16(values: Any) -> bytes:
    """A PNG of 16 bits, written by hand, since Pillow writes no colours of 16 bits."""
    height, width, channels = values.shape
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    header = struct.pack(">IIBBBBB", width, height, 16, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, body) for kind, body in chunks)


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_of_16_bits_the_upper_8_count(channels):
    values = np.random.default_rng(0).integers(0, 1 << 16, (6, 7, channels))
    upper = (values >> 8).astype(np.uint8)
    colours = upper[..., :3] if channels > 2 else np.repeat(upper[..., :1], 3, axis=-1)
    assert np.array_equal(decoded_image(png16(values), RGB), colours)
    assert np.array_equal(decoded_image(png16(values), GRAY), luma(colours))


def test_printing_colours_are_converted_by_pillow():
    data = saved(Image.fromarray(drawn(20, 30)).convert("CMYK"), "JPEG")
    expected = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    assert np.array_equal(decoded_image(data, RGB), expected)
    assert np.array_equal(decoded_image(data, GRAY), luma(expected))


def test_orientation_in_exif_is_not_applied():
    exif = Image.Exif()
    exif[0x0112] = 6  # to be rotated
    for kind in ("JPEG", "PNG", "WEBP"):
        data = saved(drawn(20, 30), kind, exif=exif)
        assert decoded_image(data, RGB).shape == (20, 30, 3)


def test_pixels_may_be_written_to():
    for data in (saved(drawn(5, 6), "JPEG"), saved(drawn(5, 6), "PNG")):
        for form in (RGB, GRAY, ImageForm("rgb", (3, 3))):
            decoded_image(data, form)[:] = 0


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "WEBP", "JPEG"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_cut_file_is_an_error(kind, share):
    data = saved(drawn(60, 70), kind)
    with pytest.raises(ImageError, match="an image that cannot be decoded: "):
        decoded_image(data[: int(share * len(data))], RGB)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"", "it is empty"),
        (b"GIF", "it is no JPEG, PNG, GIF, BMP or WebP"),
        (b"\xff\xd8\xff", "it is no JPEG"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "it is no JPEG"),
        (b"P6 1 1 255 abc", "it is no JPEG"),
    ],
)
def test_what_is_no_image_of_these_formats_is_an_error(data, match):
    with pytest.raises(ImageError, match=match):
        decoded_image(data, RGB)


def test_an_image_of_too_many_pixels_is_refused_before_it_is_decoded():
    side = int(MOST_PIXELS**0.5) + 1
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    png = (
        b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))
    )
    jpeg = bytearray(saved(drawn(8, 8), "JPEG"))
    frame = jpeg.index(b"\xff\xc0")
    jpeg[frame + 5 : frame + 9] = struct.pack(">HH", side, side)
    for data in (png, bytes(jpeg)):
        for form in (RGB, ImageForm("rgb", (8, 8))):
            with pytest.raises(ImageError, match="too much memory"):
                decoded_image(data, form)


def test_damaged_bytes_give_pixels_or_an_error_and_both_libraries_agree(monkeypatch):
    random = Random(1)
    for data in (saved(drawn(40, 50), kind) for kind in ("JPEG", "PNG", "GIF", "BMP", "WEBP")):
        for _ in range(tries(60)):
            spoiled = bytearray(data)
            for _ in range(random.randrange(1, 4)):
                spoiled[random.randrange(len(spoiled))] = random.randrange(256)
            form = random.choice(FORMS)
            results = []
            for library in (images._simplejpeg, lambda: None):
                with monkeypatch.context() as patch:
                    patch.setattr(images, "_simplejpeg", library)
                    try:
                        results.append(decoded_image(bytes(spoiled), form).tolist())
                    except ImageError as error:
                        results.append(str(error))
            assert results[0] == results[1]


@pytest.mark.parametrize("given", ["RGB", "", None, 3, ("rgb",), ("rgb", (1, 2), 3), ("cmyk", (2, 3)), str])
def test_form_is_a_mode_or_a_mode_and_a_size(given):
    with pytest.raises(ValueError, match=r"decode of 'x' must be \"rgb\" or \"gray\""):
        ImageForm.of("x", given)


@pytest.mark.parametrize("size", [224, (0, 3), (3, -1), (2.0, 2), (True, 2), (1, 2, 3), "ab"])
def test_size_is_height_and_width(size):
    with pytest.raises(ValueError, match=r"the size in decode of 'x' must be \(height, width\)"):
        ImageForm.of("x", ("rgb", size))


def test_size_may_be_a_list_and_of_numpy():
    assert ImageForm.of("x", ["gray", [np.int64(3), 4]]) == ImageForm("gray", (3, 4))
    assert ImageForm.of("x", ("gray", None)) == ImageForm.of("x", "gray") == GRAY


@pytest.mark.usefixtures("without_simplejpeg")
def test_missing_pillow_is_told_at_once(monkeypatch):
    def missing():
        raise ImportError('images need Pillow: pip install "purerecord[images]"')

    check_decoders(RGB)
    monkeypatch.setattr(images, "_pillow", missing)
    with pytest.raises(ImportError, match="purerecord"):
        check_decoders(RGB)


def test_the_docs_print_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_blocks("docs/loaders.md", " images") == 2
