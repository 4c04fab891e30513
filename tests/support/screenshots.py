"""The pictures of the viewer in docs/images: ``python -m tests.support.screenshots``.

It needs Pillow, selenium, Chromium and its driver. Fonts and versions of the browser change the pictures a
little, so no test compares them.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import purerecord as pr
from purerecord.view import Viewer
from tests.support import viewer_data
from tests.support.browser import Browser, browser
from tests.support.places import ROOT

IMAGES = ROOT / "docs" / "images"
COLOURS = 256  # of the PNGs: far smaller, and hard to tell from the original


def main() -> None:
    """Make all of them anew."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser() as page:
        os.chdir(folder)  # paths on the pages are short, and none of this machine
        viewer_data.write("shapes@3.tfrecord", viewer_data.scenes(180))
        viewer_data.write_long("words.tfrecord")
        viewer_data.write("robot.tfrecord", map(pr.encode_example, map(viewer_data.episode, range(12))))
        viewer_data.write("tones.tfrecord", map(pr.encode_example, map(viewer_data.tone, range(40))))
        viewer_data.write_damaged("damaged.tfrecord", viewer_data.scenes(60, begin=400))
        page.begin()
        gallery(page)
        table(page)
        record(page)
        episode(page)
        damage(page)


def gallery(page: Browser) -> None:
    """Boxes and class names."""
    with Viewer("shapes@3.tfrecord") as viewer:
        open_page(page, viewer.url + "#/gallery", "all('.caption').length > 20 && loaded()")
        save(page, "gallery")


def table(page: Browser) -> None:
    """A million records, with a filter that two clicks made."""
    with Viewer("words.tfrecord") as viewer:
        open_page(page, viewer.url, "all('.bar').length > 20", colours="dark")
        page.until("one('#status').textContent.includes('65,536')")
        page.click("[data-where='label == 7']")
        page.until("one('#where').value !== ''")
        page.click(".top-value:nth-child(2)")
        page.until("one('#where').value.includes('word')")
        page.until("one('#found').textContent.includes('Search on')")
        save(page, "table")


def record(page: Browser) -> None:
    """A sound, a chart, the bytes of the frame."""
    with Viewer("tones.tfrecord") as viewer:
        open_page(
            page, viewer.url + "#/record/0/7", "one('.hex-row') && one('audio').readyState > 0", height=860
        )
        save(page, "record")


def episode(page: Browser) -> None:
    """Frames, curves, the scrubber."""
    with Viewer("robot.tfrecord") as viewer:
        open_page(
            page, viewer.url + "#/episode/0/1", "all('.film img').length > 4", colours="dark", height=860
        )
        page.run("one('#scrubber').value = 34; one('#scrubber').dispatchEvent(new Event('input'))")
        page.until("loaded()")
        save(page, "episode")


def damage(page: Browser) -> None:
    """Where damage lies in a file, and its bytes."""
    with Viewer("damaged.tfrecord") as viewer:
        open_page(page, viewer.url + "#/damage/0", "all('.damages .link').length > 1", height=640)
        page.click(".damages .link")
        page.until("one('.hex-row .field.bad')")
        save(page, "damage")


def open_page(page: Browser, url: str, ready: str, **look: Any) -> None:
    """Open a page and wait until everything is there."""
    page.look(**{"width": 1280, "height": 760, **look})
    page.open(url)
    page.run("window.loaded = () => all('img').every((image) => image.complete && image.naturalWidth > 0)")
    page.until(ready)


def save(page: Browser, name: str) -> None:
    """The page as a small file."""
    page.until("/^Column heads(?!.*Counting)/.test(one('#status').textContent)")
    page.run("document.activeElement.blur()")
    path: Path = IMAGES / f"viewer-{name}.png"
    page.picture().quantize(COLOURS, kmeans=3, dither=0).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")
    assert page.seen() == []


if __name__ == "__main__":
    main()
