"""The viewer's gallery in a real browser: boxes at their pixels, masks, colours of classes, thumbnails."""

from __future__ import annotations

import purerecord as pr
from purerecord.view import Viewer
from tests.support.interop import interop

interop("selenium")
interop("PIL.Image")


def near(one, other, by=40):
    return all(abs(a - b) <= by for a, b in zip(one, other, strict=True))


def test_the_gallery_draws_boxes_at_the_right_pixels_in_the_colours_of_their_classes(page, files):
    with Viewer(files / "train@3.tfrecord") as viewer:
        page.open(viewer.url + "#/gallery")
        page.until("one('#card-0 .boxes') && one('#card-0 img')?.naturalWidth > 0")
        page.keys("l")  # names would cover edges
        page.until("one('#card-0 .boxes') && !one('.caption')")
        page.until("one('#card-0 img')?.naturalWidth > 0")
        payload = next(pr.read_records(files / "train-00000-of-00003.tfrecord"))
        example = pr.decode_example(payload)
        left, top, width, height = page.run(
            "const box = one('#card-0 .framed').getBoundingClientRect();"
            "return [box.left, box.top, box.width, box.height]"
        )
        seen = page.picture()
        edges = [example[f"image/object/bbox/{side}"] for side in ("xmin", "ymin", "xmax", "ymax")]
        strokes = page.run("return all('#card-0 .box').map((one) => one.style.stroke)")
        assert len(strokes) == len(edges[0])
        for stroke, xmin, ymin, xmax, ymax in zip(strokes, *edges, strict=True):
            colour = tuple(int(part) for part in stroke[4:-1].split(","))
            middle_x, middle_y = (xmin + xmax) / 2, (ymin + ymax) / 2
            for x, y in ((xmin, middle_y), (xmax, middle_y), (middle_x, ymin), (middle_x, ymax)):
                place = (round(left + x * width), round(top + y * height))
                around = [
                    seen.getpixel((place[0] + dx, place[1] + dy)) for dx in (-1, 0, 1) for dy in (-1, 0, 1)
                ]
                assert any(near(pixel, colour) for pixel in around), (place, colour)
            inside = seen.getpixel(
                (round(left + (xmin + 0.25 * (xmax - xmin)) * width), round(top + middle_y * height))
            )
            assert not near(inside, colour, 4)


def test_a_class_has_one_colour_in_the_gallery_and_on_the_page_of_a_record(page, files):
    def colours(selector):
        return dict(
            page.run(
                "return all(arguments[0]).map((one) => [one.textContent, one.style.background])",
                f"{selector} .caption",
            )
        )

    with Viewer(files / "train@3.tfrecord") as viewer:
        page.open(viewer.url + "#/gallery")
        page.until("all('.card .caption').length > 10")
        gallery = colours(".card")
        assert len(set(gallery.values())) == len(gallery) > 3
        page.open(viewer.url + "#/record/1/0")
        page.until("one('#record .caption')")
        for name, colour in colours("#record").items():
            assert gallery.get(name, colour) == colour


def test_masks_cover_the_objects_only(page, files):
    with Viewer(files / "masks.tfrecord") as viewer:
        page.open(viewer.url + "#/record/0/0")
        page.until("all('.mask').length > 0 && all('.mask').every((mask) => mask.width > 1)")
        shares = page.run(
            "return all('.mask').map((mask) => {"
            "const pixels = mask.getContext('2d').getImageData(0, 0, mask.width, mask.height).data;"
            "let covered = 0; for (let at = 3; at < pixels.length; at += 4) covered += pixels[at] > 0;"
            "return covered / (mask.width * mask.height) })"
        )
        example = pr.decode_example(next(pr.read_records(files / "masks.tfrecord")))
        box = [example[f"image/object/bbox/{side}"] for side in ("xmin", "ymin", "xmax", "ymax")]
        areas = [(c - a) * (d - b) for a, b, c, d in zip(*box, strict=True)]
        assert len(shares) == len(areas)
        assert all(0.3 * area < share <= area * 1.05 for share, area in zip(shares, areas, strict=True))
        page.keys("m")
        page.until("!one('.mask')")


def test_thumbnails_are_asked_for_only_where_they_are_seen(page, files):
    with Viewer(files / "train@3.tfrecord") as viewer:
        page.look(width=500, height=420)
        page.open(viewer.url + "#/gallery")
        page.until("one('#card-0 img')?.naturalWidth > 0")
        assert 0 < len(page.requests("thumb?")) < 30
        page.keys("\ue010")
        page.until("one('#card-59 img')?.naturalWidth > 0")


def test_class_names_can_be_read_on_their_colours(page, files):
    with Viewer(files / "train@3.tfrecord") as viewer:
        page.open(viewer.url)
        pairs = page.driver.execute_async_script(
            "import(new URL('colours.js', location.href).href).then(({colour, ink}) => arguments[0]("
            "Array.from({length: 40}, (_, number) => [colour(number), ink(colour(number))])))"
        )
    assert len({background for background, _ in pairs}) == 20
    assert min(contrast(*pair) for pair in pairs) >= 4.5


def contrast(one, other):
    """The contrast of two colours as WCAG has it."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
