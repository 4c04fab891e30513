"""The viewer's page of a record in a real browser: values, sound, the frame, episodes, damage."""

from __future__ import annotations

import pytest

import purerecord as pr
from purerecord.view import Viewer
from tests.support.interop import interop

interop("selenium")
interop("PIL.Image")


def test_the_page_of_a_record_has_its_values_its_frame_and_a_permanent_link(page, files):
    with Viewer(files / "tones.tfrecord") as viewer:
        page.open(viewer.url + "#/record/0/1")
        page.until("one('.hex-row .field-length')")
        assert page.texts(".features th") == ["audio", "heard", "pitch", "sample_rate", "speaker"]
        payload = list(pr.read_records(files / "tones.tfrecord"))[1]
        assert page.texts(".hex-row .field-length")[0].split() == [
            f"{part:02x}" for part in len(payload).to_bytes(8, "little")
        ]
        page.until("one('audio').readyState >= 1")
        assert page.run("return one('audio').duration") == pytest.approx(1.2, abs=0.01)
        page.driver.execute_async_script("one('audio').play().then(arguments[0])")
        page.until("one('audio').currentTime > 0")
        assert page.run("return one('.curve').getAttribute('d').length") > 500
        page.keys("j")
        page.until("location.hash === '#/record/0/2'")
        page.until("one('#record h2').textContent === 'Record 2'")
        page.keys("k", "k")
        page.until("one('#record h2').textContent === 'Record 0'")
        page.keys("\ue00c")
        page.until("one('#table')")


@pytest.mark.parametrize("name", ["robot.tfrecord", "sequence.tfrecord"])
def test_an_episode_is_a_strip_of_frames_and_curves_with_one_scrubber(page, files, name):
    with Viewer(files / name) as viewer:
        page.open(viewer.url)
        page.click("#view-episode")
        page.until("all('.film img').length > 4 && one('.camera').naturalWidth > 0")
        assert page.run("return all('.curve').length") >= 4
        steps = int(page.run("return one('#scrubber').max"))
        first = page.run("return one('.camera').src")
        page.run("one('#episode').focus()")
        page.keys(*["\ue014"] * 3)
        page.until("one('.clock').textContent === arguments[0]", f"3 / {steps}")
        assert page.run("return one('.camera').src") != first
        lefts = page.run("return all('.cursor').map((one) => one.style.left)")
        assert len(set(lefts)) == 1
        assert lefts[0].endswith("%")
        page.keys(" ")
        page.until("one('.clock').textContent !== arguments[0]", f"3 / {steps}")


def test_damage_is_shown_where_it_lies(page, files, tmp_path):
    (tmp_path / "text.tfrecord").write_text("no TFRecord\n" * 20)
    (tmp_path / "empty.tfrecord").write_bytes(b"")
    damages = [one for one in pr.scan(files / "damaged.tfrecord") if isinstance(one, pr.Damage)]
    size = (files / "damaged.tfrecord").stat().st_size
    with Viewer(
        [files / "damaged.tfrecord", tmp_path / "text.tfrecord", tmp_path / "empty.tfrecord"]
    ) as viewer:
        page.open(viewer.url)
        page.until("all('.files-list li:nth-child(1) .strip-damage').length === 2")
        marks = page.run(
            "const strip = one('.strip').getBoundingClientRect();"
            "return all('.files-list li:nth-child(1) .strip-damage').map((mark) => {"
            "const box = mark.getBoundingClientRect();"
            "return [(box.left - strip.left) / strip.width, (box.right - strip.left) / strip.width] })"
        )
        for (left, right), damage in zip(marks, damages, strict=True):
            assert left == pytest.approx(damage.begin / size, abs=0.02)
            assert right == pytest.approx(damage.end / size, abs=0.04)
        page.until("one('.row.problem')")
        assert "checksum" in page.texts(".row.problem .problem-text")[0]
        assert "not a TFRecord" in "".join(page.texts(".files-list li:nth-child(2)"))
        page.click(".files-list a.wrong")
        page.until("all('.damages tbody tr').length === 4")
        assert "bad data checksum" in page.texts(".damages tbody tr")[0]
        page.click(".damages .link")
        page.until("one('.hex-row .field.bad')")


def test_a_record_of_blocked_gzip_is_at_a_place_in_its_block(page, tmp_path):
    options = pr.TFRecordOptions("GZIP", block_size=1000)
    with pr.TFRecordWriter(str(tmp_path / "file"), options) as writer:
        writer.write_many([pr.encode_example({"n": n}) for n in range(200)])
    with Viewer(tmp_path / "file") as viewer:
        page.open(viewer.url + "#/record/0/150")
        page.until("one('.hex-row')")
        assert " of GZIP block " in page.texts(".record-head .about")[0]
        assert "0–0" not in page.texts(".record-head .about")[0]
        page.open(viewer.url + "#/damage/0")
        page.until("one('#damage')?.textContent.includes('This file is sound.')")
