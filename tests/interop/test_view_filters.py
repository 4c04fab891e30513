"""The viewer's filters in a real browser: bars and values to click, texts, what is found as a file."""

from __future__ import annotations

import json

import purerecord as pr
from purerecord.view import Viewer
from tests.support.interop import interop

interop("selenium")
interop("PIL.Image")


def test_a_click_on_a_bar_filters_and_a_second_click_takes_the_filter_away(page, files):
    with Viewer(files / "table.tfrecord") as viewer:
        page.open(viewer.url)
        page.click("[data-where='label == 7']")
        page.until("one('#where').value === 'label == 7'")
        expected = [
            row
            for row in pr.read_records(files / "table.tfrecord")
            if pr.decode_example(row)["label"][0] == 7
        ]
        page.until("one('#found').textContent === arguments[0]", f"{len(expected)} found")
        assert set(page.texts(".row .cell:nth-child(3)")) == {"7"}
        assert page.run("return one(\"[data-where='label == 7']\").getAttribute('aria-pressed')") == "true"
        page.click("[data-where='label == 3']")  # instead of the other
        page.until("one('#where').value === 'label == 3'")
        page.click("[data-where='label == 3']")
        page.until("one('#where').value === ''")
        page.until("one('#found').textContent === '3,000 records'")


def test_a_facet_and_a_bar_of_another_column_are_joined(page, files):
    with Viewer(files / "table.tfrecord") as viewer:
        page.open(viewer.url)
        page.click(".top-value")
        page.until("one('#where').value !== ''")
        word = page.run("return one('#where').value")
        assert "amber" in word
        page.click("[data-where='label == 2']")
        page.until("one('#where').value === arguments[0]", f"{word} and label == 2")
        page.until("one('#found').textContent.endsWith(' found')")
        assert set(page.texts(".row .cell:nth-child(3)")) == {"2"}
        assert set(page.texts(".row .cell:nth-child(5)")) == {"amber"}
        page.keys("\ue00c")  # Escape clears
        page.until("one('#found').textContent === '3,000 records'")


def test_a_text_is_searched_and_a_wrong_expression_is_told(page, files):
    with Viewer(files / "table.tfrecord") as viewer:
        page.open(viewer.url)
        page.until("one('#row-0')")
        page.keys("/", "g", "r", "o", "v", "e", "\ue007")
        page.until("one('#found').textContent.endsWith(' found')")
        assert set(page.texts(".row .cell:nth-child(5)")) == {"grove"}
        assert "text=grove" in page.run("return location.hash")
        page.run("location.hash = '#/table?where=label+%3D%3D%3D'")
        page.until("one('#filter-error').textContent !== ''")
        page.until("!one('#filter-error').hidden")


def test_what_is_found_is_exported(page, files):
    with Viewer(files / "table.tfrecord") as viewer:
        page.open(viewer.url + "#/table?where=label+%3D%3D+7")
        page.until("all('.menu-list a').length === 3")
        text = page.driver.execute_async_script(
            "const done = arguments[0];"
            "fetch(all('.menu-list a')[1].href).then((answer) => answer.text()).then(done)"
        )
        lines = [json.loads(line) for line in text.splitlines()]
        assert len(lines) == 300
        assert {row["label"][0] if isinstance(row["label"], list) else row["label"] for row in lines} == {7}


def test_next_and_previous_go_through_what_is_found(page, files):
    with Viewer(files / "table.tfrecord") as viewer:
        page.open(viewer.url + "#/table?where=label+%3D%3D+7")
        page.until("all('.row:not(.coming)').length > 5")
        found = [int(number.replace(",", "")) for number in page.texts(".row .cell.number")[:3]]
        page.click("#row-0 .cell:nth-child(2)")
        page.until("one('#record h2')?.textContent === arguments[0]", f"Record {found[0]}")
        page.keys("j")
        page.until("one('#record h2')?.textContent === arguments[0]", f"Record {found[1]}")
        page.keys("\ue00c")
        page.until("one('.row.selected')?.id === 'row-1'")
