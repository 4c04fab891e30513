"""Data that tries to run code in the viewer's page, in a real browser."""

from __future__ import annotations

import purerecord as pr
from purerecord.view import Viewer, report
from tests.support.interop import interop

interop("selenium")
interop("PIL.Image")


from tests.support import viewer_data  # noqa: E402 - draws with Pillow


def test_hostile_data_runs_nothing(page, tmp_path):
    with Viewer(viewer_data.write_hostile(tmp_path)) as viewer:
        for place in ("#/table", "#/gallery", "#/record/0/0", "#/record/0/3", "#/damage/0"):
            page.open(viewer.url + place)
            page.until("one('.row:not(.coming), .card:not(.coming), #record, #damage')")
            page.until("one('.files-list .file')")
            page.until("one('#status').textContent !== ''")
            page.run("await new Promise((resolve) => setTimeout(resolve, 100))")
            assert page.seen() == []
            assert page.run("return all('main script, aside script, main iframe, main object').length") == 0
            assert page.run("return ({}).polluted") is None
        page.open(viewer.url + "#/record/0/0")
        page.until("one('.features')")
        names = page.texts(".features th")
        assert f"<b>{viewer_data.SCRIPT}" in names
        assert "__proto__" in names
        assert any("<img src=x onerror=alert(1)>" in text for text in page.texts(".file-name"))
        text = "".join(page.texts(".features td"))
        assert "\u202e" not in text
        assert "‹202e›" in text


def test_a_picture_that_would_be_gigabytes_is_refused_in_words(page, tmp_path):
    viewer_data.write(tmp_path / "bomb.tfrecord", [pr.encode_example({"picture": viewer_data.bomb()})])
    with Viewer(tmp_path / "bomb.tfrecord") as viewer:
        for place in ("#/gallery", "#/record/0/0"):
            page.open(viewer.url + place)
            page.until("one('main').textContent.replaceAll(',', '').includes('30000')")
            assert (
                page.run("return [...document.images].filter((one) => one.naturalWidth > 5000).length") == 0
            )


def test_a_saved_report_opens_without_a_server_and_runs_nothing(page, tmp_path, files):
    report([viewer_data.write_hostile(tmp_path), files / "masks.tfrecord"], tmp_path / "report.html")
    page.open((tmp_path / "report.html").as_uri())
    page.until("all('img').length > 2 && all('img').every((image) => image.naturalWidth > 0)")
    text = page.run("return document.body.innerText")
    assert viewer_data.SCRIPT in text
    assert "image/object/bbox/xmin" in text
    assert page.requests("") == []  # all is in the file
