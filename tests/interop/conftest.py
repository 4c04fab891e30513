"""Fixtures of the tests of the viewer's page: a browser, and files to look at."""

from __future__ import annotations

import pytest

import purerecord as pr


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests."""
    from tests.support.browser import browser  # noqa: PLC0415 - other tests here need no browser

    with browser() as running:
        yield running


@pytest.fixture
def page(chromium):
    """A page that begins like the first; it may not break its policy nor fail in its scripts."""
    chromium.begin()
    yield chromium
    assert chromium.seen() == []


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A folder of files to look at."""
    from tests.support import viewer_data  # noqa: PLC0415 - draws with Pillow

    folder = tmp_path_factory.mktemp("view")
    viewer_data.write(folder / "train@3.tfrecord", viewer_data.scenes(60))
    viewer_data.write(folder / "masks.tfrecord", viewer_data.scenes(6, masks=True, begin=500))
    viewer_data.write_damaged(folder / "damaged.tfrecord", viewer_data.scenes(60, begin=200))
    viewer_data.write(folder / "tones.tfrecord", map(pr.encode_example, map(viewer_data.tone, range(3))))
    viewer_data.write(folder / "robot.tfrecord", map(pr.encode_example, map(viewer_data.episode, range(2))))
    viewer_data.write(folder / "sequence.tfrecord", map(viewer_data.sequence, range(2)))
    viewer_data.write_long(folder / "long.tfrecord")
    viewer_data.write_long(folder / "table.tfrecord", 3000)
    return folder
