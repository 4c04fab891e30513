"""The headers of images: what Pillow writes is read as Pillow reads it, and what is broken is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.payload.image_header import ImageHeader, image_header
from purerecord.payload.images import ImageError
from tests.support.interop import interop
from tests.support.pictures import drawn, saved

Image = interop("PIL.Image")
CHANNELS = {"1": 1, "L": 1, "P": 3, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}
CASES = [
    ("JPEG", "RGB", {}),
    ("JPEG", "L", {}),
    ("JPEG", "CMYK", {}),
    ("JPEG", "RGB", {"progressive": True, "exif": b"Exif\0\0" + b"x" * 5000}),
    ("PNG", "RGB", {}),
    ("PNG", "RGBA", {}),
    ("PNG", "LA", {}),
    ("PNG", "1", {}),
    ("PNG", "P", {}),
    ("GIF", "P", {}),
    ("BMP", "RGB", {}),
    ("BMP", "RGBA", {}),
    ("WebP", "RGB", {}),
    ("WebP", "RGBA", {"lossless": True}),
    ("WebP", "RGB", {"exif": b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0"}),
]


def picture(mode):
    """One in which the opacity varies, where there is any."""
    made = Image.fromarray(drawn(20, 33)).convert(mode)
    if mode in ("RGBA", "LA"):
        made.putalpha(Image.fromarray(drawn(20, 33)).convert("L"))
    return made


FILES = [saved(picture(mode), kind, **more) for kind, mode, more in CASES]


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: "-".join(CASES[number][:2]))
def test_header_states_what_pillow_sees(number):
    kind, mode, _ = CASES[number]
    assert image_header(FILES[number]) == ImageHeader(kind, 20, 33, CHANNELS[mode])


@pytest.mark.parametrize(("kind", "data"), [(c[0], f) for c, f in zip(CASES, FILES, strict=True)])
def test_a_file_that_is_cut_off_is_broken(kind, data):
    for size in range(1, 13):
        with pytest.raises(ImageError):
            image_header(data[:size])
    if kind in ("JPEG", "PNG", "WebP"):
        with pytest.raises(ImageError, match="cut off"):
            image_header(data[: len(data) * 3 // 4])


@given(st.sampled_from(FILES), st.data())
def test_any_bytes_are_a_header_or_an_image_error(data, draw):
    damaged = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 4))):
        damaged[draw.draw(st.integers(0, min(len(data), 60) - 1))] = draw.draw(st.integers(0, 255))
    try:
        found = image_header(bytes(damaged))
    except ImageError:
        return
    assert found.height > 0
    assert found.width > 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"<html>", "no JPEG, PNG"),
        (b"RIFF\0\0\0\0WAVEfmt ", "no JPEG, PNG"),
        (b"RIFF\0\0\0\0WEBPWHAT" + bytes(20), "unknown part"),
        (b"\xff\xd8\xff\xd9", "no size"),
        (b"\xff\xd8\xff\xe0\0\x02\0\0", "byte 6 of the JPEG is no marker"),
        (FILES[4][:12] + b"IHDX" + FILES[4][16:], "does not begin with a header"),
        (FILES[4][:16] + bytes(4) + FILES[4][20:], "20 × 0 pixels"),
    ],
)
def test_what_is_broken_is_named(data, words):
    with pytest.raises(ImageError, match=words):
        image_header(data)
