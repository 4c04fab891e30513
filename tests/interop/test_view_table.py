"""The viewer's table in a real browser: any of a million records at once, keys, colours, narrow screens."""

from __future__ import annotations

from dataclasses import replace

import pytest

import purerecord as pr
from purerecord.view import Viewer
from purerecord.view.limits import DEFAULT
from tests.support.interop import interop

interop("selenium")
interop("PIL.Image")


ROW = 30  # pixels
# A row in the middle of those that are there.
MIDDLE = """
window.middle = () => all(".row:not(.coming)").sort((a, b) => a.dataset.index - b.dataset.index)[12];
"""


def test_the_table_shows_each_record_under_the_heads_of_its_features(page, files):
    with Viewer(files / "table.tfrecord") as viewer:
        page.open(viewer.url)
        page.until("all('.row .cell').length > 40")
        assert page.texts(".head-name") == ["#", "id", "label", "score", "word"]
        first = pr.decode_example(next(pr.read_records(files / "table.tfrecord")))
        cells = page.texts("#row-0 .cell")
        assert cells[:3] == ["0", str(first["id"][0]), str(first["label"][0])]
        assert float(cells[3]) == pytest.approx(first["score"][0], rel=1e-4)
        assert cells[4] == first["word"][0].decode()
        page.until("one('#totals').textContent.includes('3,000 records')")


def test_a_million_records_are_reached_anywhere_with_few_requests(page, files):
    with Viewer(files / "long.tfrecord") as viewer:
        page.open(viewer.url)
        page.until("one('#row-0 .cell:nth-child(2)')?.textContent === '0'")
        page.until("one('#found').textContent.includes('1,000,000 records')")
        assert len(page.requests("api/rows")) <= 4

        page.run(MIDDLE)
        # The middle: the scrollbar is dragged there at once.
        page.run("const box = one('#table'); box.scrollTop = box.scrollHeight / 2")
        page.until("(middle()?.dataset.index ?? 0) > 400000")
        for _ in range(2):
            index, number = page.run(
                "const row = middle();return [row.dataset.index, row.children[1].textContent]"
            )
            assert index == number
            assert 450_000 < int(index) < 550_000
            # A small move is exact to the pixel, although a pixel of the scrollbar stands for many records.
            before = page.run(
                "return document.getElementById(arguments[0]).getBoundingClientRect().top", f"row-{index}"
            )
            page.run("one('#table').scrollTop += 45")
            page.until(
                "document.getElementById(arguments[0]).getBoundingClientRect().top < arguments[1]",
                f"row-{index}",
                before,
            )
            after = page.run(
                "return document.getElementById(arguments[0]).getBoundingClientRect().top", f"row-{index}"
            )
            assert before - after == pytest.approx(45, abs=1)

        page.keys("\ue010")  # End
        page.until("one('#row-999999 .cell:nth-child(2)')?.textContent === '999999'")
        bottom = page.run(
            "const box = one('#table').getBoundingClientRect();"
            "return box.bottom - one('#row-999999').getBoundingClientRect().bottom"
        )
        assert -1 <= bottom <= ROW
        page.keys("\ue013")  # up
        page.until("one('.row.selected').id === 'row-999998'")
        assert len(page.requests("api/rows")) <= 16
        assert page.run("return all('.row').length") < 100


def test_a_drag_through_a_million_records_asks_only_for_where_it_ends(page, files):
    with Viewer(files / "long.tfrecord") as viewer:
        page.open(viewer.url)
        page.until("one('#found').textContent.includes('1,000,000 records')")
        page.until("one('#row-0 .cell:nth-child(2)')")
        page.run(MIDDLE)
        before = len(page.requests("api/rows"))
        rests = page.driver.execute_async_script(
            "const done = arguments[0], box = one('#table'), whole = box.scrollHeight;"
            "let step = 0, rests = 0, last = performance.now();"
            "const move = () => { const now = performance.now(); rests += now - last > 30; last = now;"
            "box.scrollTop = whole * step / 100;"
            "if (step++ < 90) requestAnimationFrame(move); else done(rests) }; move()"
        )
        page.until("middle()?.dataset.index > 850000")
        # Where the machine rests for long enough in a drag, the page asks: that is where it could have ended.
        assert len(page.requests("api/rows")) - before < 20 + 3 * rests


def test_files_of_several_shards_are_one_table(page, files):
    with Viewer(files / "train@3.tfrecord") as viewer:
        page.open(viewer.url)
        page.until("one('#found').textContent === '60 records'")
        assert page.texts(".file-name")[1:] == [f"train-{k:05d}-of-00003.tfrecord" for k in range(3)]
        page.keys("\ue010")
        page.until("one('#row-59:not(.coming)')")
        page.click(".files-list li:nth-child(2) .file")
        page.until("location.hash.includes('scope=1')")
        page.until("one('#row-0:not(.coming)')?.title !== null")
        page.until("all('.row').length < 30")


def test_light_and_dark_follow_the_system_until_one_is_chosen(page, files):
    def light():
        return sum(page.picture().getpixel((640, 22))) > 384

    with Viewer(files / "table.tfrecord") as viewer:
        page.open(viewer.url)
        page.until("one('#row-0')")
        assert light()
        page.look(colours="dark")
        assert not light()
        page.keys("d")
        assert page.texts("#theme") == ["○ Light"]
        assert light()
        page.keys("d")
        page.look(colours="light")
        assert page.texts("#theme") == ["● Dark"]
        assert not light()
        page.keys("d")


def test_everything_is_done_with_the_keyboard(page, files):
    with Viewer(files / "train@3.tfrecord") as viewer:
        page.open(viewer.url)
        page.until("one('#row-0:not(.coming)')")
        page.keys("j", "j", "\ue015")
        page.until("one('.row.selected')?.id === 'row-3'")
        assert page.run("return document.activeElement.getAttribute('aria-activedescendant')") == "row-3"
        page.keys("\ue007")
        page.until("one('#record h2')")
        page.keys("\ue00c")
        page.until("one('.row.selected')?.id === 'row-3'")
        page.keys("g")
        page.until("one('#gallery')")
        page.keys("?")
        page.until("one('#help').open")
        page.keys("\ue00c")
        page.until("!one('#help').open && one('#gallery')")
        page.keys("t")
        page.until("one('#table')")


def test_a_narrow_screen_has_no_sideways_scrolling_but_in_the_table(page, files):
    with Viewer(files / "train@3.tfrecord") as viewer:
        page.look(width=390, height=780)
        for place in ("#/table", "#/gallery", "#/record/0/0"):
            page.open(viewer.url + place)
            page.until("one('.row:not(.coming), .card:not(.coming), #record')")
            assert page.run("return document.documentElement.scrollWidth") <= 390
            assert page.run("const main = one('main'); return main.scrollWidth - main.clientWidth") <= 0


def test_every_control_has_a_name(page, files):
    with Viewer(files / "train@3.tfrecord") as viewer:
        for place in ("#/table", "#/gallery", "#/record/0/0"):
            page.open(viewer.url + place)
            page.until("one('.row:not(.coming), .card:not(.coming), #record')")
            nameless = page.run(
                "return all('button, a, input, audio, [role=grid], [role=listbox], dialog')"
                ".filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim() || one.title))"
                ".map((one) => one.outerHTML)"
            )
            assert nameless == []


def test_a_file_that_is_counted_in_part_goes_on_when_it_is_asked_to(page, tmp_path):
    payloads = [pr.encode_example({"n": number}) for number in range(500)]
    size = sum(map(len, payloads))
    for number in range(30):
        with pr.TFRecordWriter(str(tmp_path / f"{number:02d}.tfrecord"), options="GZIP") as writer:
            writer.write_many(payloads)
    with Viewer(tmp_path, limits=replace(DEFAULT, spool_total=40 * size)) as viewer:
        page.open(viewer.url)
        page.until("all('.file-message button').length > 0")
        page.until("one('.files-list li:last-child .file-facts').textContent.startsWith('0+ records')")
        page.click(".files-list li:last-child .file-message button")
        page.until("one('.files-list li:last-child .file-facts').textContent.startsWith('500 records')")
        page.click(".files-list li:last-child .file")
        assert page.until("one('#row-0 .cell:nth-child(2)')?.textContent === '0'")
