"""Values in a real browser: all digits, records that are no Examples or too large, many pictures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import purerecord as pr
from purerecord.view import Viewer
from purerecord.view.limits import DEFAULT
from tests.support.interop import interop

interop("selenium")
interop("PIL.Image")


from tests.support import viewer_data  # noqa: E402 - draws with Pillow

LARGE = 2**60


def test_numbers_keep_all_their_digits_and_large_integers_are_drawn(page, tmp_path):
    features = {
        "float": [np.float32(0.123456789)],
        "least": [-(2**63)],
        "large": [LARGE + n * n for n in range(40)],
        "nan": [float("nan")] * 3,
        "zero": [-0.0],
    }
    viewer_data.write(tmp_path / "file", [pr.encode_example(features)] * 2)
    with Viewer(tmp_path / "file") as viewer:
        page.open(viewer.url + "#/record/0/0")
        page.until("one('.hex-row')")
        values = dict(zip(page.texts(".features th"), page.texts(".features td:last-child"), strict=True))
        assert values["float"] == "0.12345679"
        assert values["least"] == str(-(2**63))
        assert values["zero"] == "-0"
        assert f"{LARGE + 1}, {LARGE + 4}, {LARGE + 9}" in values["large"]
        assert page.texts(".chart-high, .chart-low") == [str(LARGE + 39 * 39), str(LARGE)]
        drawn = page.run("return one('.curve').getAttribute('d')")
        assert len({point.split(" ")[1] for point in drawn[1:].split("L")}) > 20
        page.open(viewer.url)
        page.until("all('.head-foot').length > 3 && all('.row .cell').length > 5")
        heads = page.run("return all('.head').slice(1).map((head) => head.innerText)")
        assert any("6 NaN" in head for head in heads)
        wide = page.run(
            "return all('#row-0 .content')"
            ".map((one) => [one.textContent, one.scrollWidth <= one.clientWidth])"
        )
        assert [str(-(2**63)), True] in wide


def test_records_that_are_no_examples_show_what_they_hold_and_are_not_red(page, tmp_path):
    payloads = [b"a line of text", pr.serialize_tensor(np.arange(6).reshape(2, 3))]
    viewer_data.write(tmp_path / "file", payloads)
    with Viewer(tmp_path / "file") as viewer:
        page.open(viewer.url)
        page.until("one('#row-1 .cell:nth-child(2)')")
        assert page.texts(".row .cell:nth-child(2)")[0] == "no Examplea line of text"
        assert page.run("return all('.problem').length") == 0
        page.open(viewer.url + "#/record/0/1")
        page.until("one('.matrix') && one('.hex-row')")
        assert page.run("return all('.record .wrong, .record .bad').length") == 0


def test_a_record_that_is_too_large_is_not_called_damaged(page, tmp_path):
    viewer_data.write(tmp_path / "file", [pr.encode_example({"x": bytes(5000)})])
    with Viewer(tmp_path / "file", limits=replace(DEFAULT, record_bytes=1000)) as viewer:
        page.open(viewer.url + "#/record/0/0")
        page.until("one('.hex-row')")
        assert "up to 1,000 bytes" in page.texts(".notice")[0]
        assert page.run("return all('.record .wrong, .record .bad').length") == 0


def test_many_pictures_and_equal_texts_of_one_feature_take_little_room(page, files):
    with Viewer(files / "robot.tfrecord") as viewer:
        page.open(viewer.url + "#/record/0/0")
        page.until("one('.thumbnails img')?.naturalWidth > 0 && one('.hex-row')")
        assert page.run("return all('.thumbnails img').length") == 64
        assert page.run("return one('.thumbnails').clientHeight") <= 420
        texts = page.texts(".features td:last-child")
        assert "All 64 are the same:put the red cube on the green mat" in texts


def test_a_wrong_filter_is_told_and_counts_nothing(page, files):
    with Viewer(files / "table.tfrecord") as viewer:
        page.open(viewer.url + "#/table?where=label+%3D%3D")
        page.until("!one('#filter-error').hidden")
        assert page.texts("#found") == [""]


def test_columns_with_long_names_are_shown_as_far_as_a_url_can_name_them(page, tmp_path):
    names = [f"{'é' * 40}/{n:03d}/{'long' * 20}" for n in range(220)]
    viewer_data.write(tmp_path / "file", [pr.encode_example(dict.fromkeys(names, 1))] * 3)
    with Viewer(tmp_path / "file") as viewer:
        page.open(viewer.url)
        for count in (50, 100, 148):
            page.until(f"one('.table-note').textContent.startsWith('{count} columns of 220 are shown')")
            page.until(f"all('#row-2 .numbers').length === {count}")
            if count < 148:
                page.click(".table-note button")
        assert page.texts(".table-note") == ["148 columns of 220 are shown. A record's page has all of them."]
