"""Pictures and sounds as the browser gets them."""

from __future__ import annotations

import io

import pytest

import purerecord as pr
from purerecord.view import media
from purerecord.view.access import DATA_POLICY
from purerecord.view.limits import Limits
from purerecord.view.media import TYPES, Thumbnails, checked_media
from purerecord.view.parameters import RefusedError
from tests.support.damage import frames
from tests.support.interop import interop
from tests.support.pictures import drawn, saved
from tests.support.viewing import viewing
from tests.view.test_picture_size import png

WAV = b"RIFF\x24\0\0\0WAVEfmt " + bytes(28)
HOSTILE = {
    "html": b"<!DOCTYPE html><script>alert(1)</script>",
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "xml": b"<?xml version='1.0'?><x/>",
    "pdf": b"%PDF-1.4",
    "zip": b"PK\x03\x04",
    "text": b"text",
    "empty": b"",
    "bomb": png(60_000, 60_000),
}


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    path = tmp_path_factory.mktemp("media") / "file"
    payloads = [
        pr.encode_example({"png": png(200, 100), "wav": WAV, "n": 3, **HOSTILE}),
        pr.encode_sequence_example({}, {"f": [png(5, 5), WAV]}),
    ]
    path.write_bytes(frames(payloads))
    with viewing(str(path)) as asking:
        yield asking


def test_bytes_are_sent_as_they_are_with_a_fixed_type_and_no_rights(asking):
    bomb, picture = asking.rows(draw=1, limit=1)[0]["pictures"]
    assert (bomb["media"], bomb["thumb"], bomb["width"]) == (None, None, 60_000)
    got = asking.at(picture["media"])
    assert (got.status, got.body, got.headers["Content-Type"]) == (200, png(200, 100), "image/png")
    assert got.headers["X-Content-Type-Options"] == "nosniff"
    assert got.headers["Content-Security-Policy"] == DATA_POLICY
    assert "sandbox" in DATA_POLICY
    got = asking.get("media", row=0, feature="wav")
    assert (got.body, got.headers["Content-Type"]) == (WAV, "audio/wav")
    assert asking.get("media", row=1, feature="f", list=1, step=1).body == WAV


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("endpoint", ["media", "thumb"])
def test_nothing_else_is_ever_sent(asking, name, endpoint):
    got = asking.get(endpoint, row=0, feature=name)
    assert got.status in (413, 415)
    assert got.headers["Content-Type"] == "application/json"
    assert b"alert" not in got.body


def test_a_picture_that_is_a_bomb_is_refused_by_its_header(asking):
    assert asking.error("thumb", row=0, feature="bomb") == (
        413,
        "the picture has 60,000 × 60,000 pixels; up to 64,000,000 pixels are shown",
    )


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"row": 0, "feature": "none"}, "the record has no such feature"),
        ({"row": 0, "feature": "png", "value": 1}, "the record has no such string"),
        ({"row": 0, "feature": "n"}, "the record has no such string"),
        ({"row": 9, "feature": "png"}, "there is no record 9: the file has 2"),
        ({"row": 1, "feature": "f", "list": 1, "step": 2}, "the record has no such feature"),
        ({"row": 1, "feature": "f"}, "the record has no such feature"),
    ],
)
def test_what_is_not_there_is_not_found(asking, parameters, reason):
    assert asking.error("media", **parameters) == (404, reason)


@pytest.mark.parametrize(
    ("asked", "status", "body", "range_"),
    [
        ("bytes=0-3", 206, WAV[:4], f"bytes 0-3/{len(WAV)}"),
        ("bytes=8-", 206, WAV[8:], f"bytes 8-{len(WAV) - 1}/{len(WAV)}"),
        ("bytes=-4", 206, WAV[-4:], f"bytes {len(WAV) - 4}-{len(WAV) - 1}/{len(WAV)}"),
        ("bytes=0-99999", 206, WAV, f"bytes 0-{len(WAV) - 1}/{len(WAV)}"),
        ("bytes=0-1,3-4", 200, WAV, None),
        ("bytes=-", 200, WAV, None),
        ("lines=1-2", 200, WAV, None),
        ("bytes=999-", 416, None, f"bytes */{len(WAV)}"),
        ("bytes=5-3", 416, None, f"bytes */{len(WAV)}"),
    ],
)
def test_players_may_ask_for_a_part(asking, asked, status, body, range_):
    got = asking.request("/a-token-for-tests/media?row=0&feature=wav", headers={"Range": asked})
    assert (got.status, got.headers["Content-Range"]) == (status, range_)
    assert body is None or got.body == body


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "WEBP"])
def test_thumbnails_are_small_and_keep_their_shape(kind):
    image = interop("PIL.Image")
    made = Thumbnails(Limits()).of(saved(drawn(300, 600), kind), 100, "key")
    assert made[0] in ("image/jpeg", "image/png")
    assert image.open(io.BytesIO(made[1])).size == (100, 50)


def test_thumbnails_of_unusual_modes_are_made():
    image = interop("PIL.Image")
    thumbnails = Thumbnails(Limits())
    for mode, pixels in (
        ("1", 0),
        ("L", 5),
        ("P", 5),
        ("RGBA", (1, 2, 3, 4)),
        ("I;16", 40_000),
        ("LA", (5, 6)),
    ):
        data = saved(image.new(mode, (300, 200), pixels), "PNG")
        kind, made = thumbnails.of(data, 50, mode)
        assert (kind, image.open(io.BytesIO(made)).size) == ("image/png" if mode != "P" else kind, (50, 33))
    data = saved(image.new("CMYK", (300, 200)), "JPEG")
    assert thumbnails.of(data, 50, "CMYK")[0] == "image/jpeg"


def test_a_picture_that_breaks_while_it_is_decoded_is_one_sentence():
    interop("PIL")
    with pytest.raises(RefusedError, match="the picture cannot be decoded: "):
        Thumbnails(Limits()).of(png(50, 50), 50, "key")


def test_few_thumbnails_are_kept():
    interop("PIL")
    thumbnails = Thumbnails(Limits(thumbnail_bytes=3000))
    for number in range(20):
        thumbnails.of(saved(drawn(50, 50, number), "PNG"), 40, number)
    kept = [number for number in range(20) if thumbnails.known(number)]
    assert 0 < len(kept) < 10
    assert kept[-1] == 19


def test_without_pillow_a_small_picture_is_its_own_thumbnail(monkeypatch):
    monkeypatch.setattr(media, "pillow", lambda: None)
    data = png(200, 100)
    assert Thumbnails(Limits()).of(data, 50, "key") == ("image/png", data)
    with pytest.raises(RefusedError, match="need Pillow"):
        Thumbnails(Limits(original_bytes=10)).of(data, 50, "key")
    with pytest.raises(RefusedError, match="no picture"):
        Thumbnails(Limits()).of(WAV, 50, "key")


def test_only_pictures_and_sounds_have_types():
    assert {kind.partition("/")[0] for kind in TYPES.values()} == {"image", "audio"}
    assert "svg" not in str(TYPES)
    assert checked_media(WAV) == "audio/wav"
