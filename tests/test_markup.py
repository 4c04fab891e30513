"""HTML made of data: nothing that comes from data is ever an element, and nothing is lost."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.markup import Markup, bar, element, fragment, histogram, joined, markup, page, table

HOSTILE = "<script>alert('1')</script>\"&\x1b\u202e"


class Tags(HTMLParser):
    """The elements and the text of HTML; an element that is not closed is an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""
        self.words: list[str] = []
        self.attributes: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if "style" not in self.open:
            self.words += data.split()


def test_text_is_escaped_and_markup_is_not():
    assert markup("<b>") == "&lt;b&gt;"
    assert markup(Markup("<b>")) == "<b>"
    assert markup(7) == "7"
    assert joined(["<", Markup("<br>"), ">"]) == "&lt;<br>&gt;"


@given(st.text())
def test_any_text_stays_text(text):
    html = element("p", text, title=text, class_=text)
    tags = Tags(html)
    assert tags.seen == ["p"]
    assert tags.attributes == ["title", "class"]
    assert not set(html) & set("\x00\x1b\x7f\x9b\u202e\u2066")


def test_hostile_text_in_each_place():
    html = "".join(
        [
            table([HOSTILE], [[HOSTILE, Markup("<b>x</b>")]], numbers=(0,)),
            histogram([(HOSTILE, 3), ("", 0)]),
            bar(0.5),
            page(HOSTILE, HOSTILE),
        ]
    )
    tags = Tags(html.replace("<!doctype html>", ""))
    assert "script" not in tags.seen
    assert tags.seen.count("b") == 1
    assert "alert('1')" in tags.text


def test_numbers_stand_to_the_right():
    assert table(["a", "n"], [["x", 1]], numbers=(1,)) == (
        '<table><thead><tr><th>a</th><th class="n">n</th></tr></thead>'
        '<tbody><tr><td>x</td><td class="n">1</td></tr></tbody></table>'
    )
    assert table([], [["x"]]) == "<table><tbody><tr><td>x</td></tr></tbody></table>"


def test_bars_are_as_high_as_their_counts():
    html = histogram([("a", 1), ("b", 4), ("c", 0)], width=30, height=40)
    assert html.count("<rect>") + html.count("<rect ") == 2
    assert 'height="40.00"' in html
    assert 'height="10.00"' in html
    assert histogram([]) == histogram([("a", 0)]) == ""


@pytest.mark.parametrize(("share", "width"), [(0.5, "60.0"), (7, "120.0"), (-1, "0.0")])
def test_a_bar_is_never_wider_than_its_column(share, width):
    assert f"width: {width}px" in bar(share)


def test_a_page_runs_no_script_and_loads_nothing():
    html = page("Title", "text")
    assert "default-src 'none'" in html
    assert "prefers-color-scheme: dark" in html
    assert not any(word in html for word in ("<script", "http:", "https:", "@import", "url("))
    assert fragment("x").startswith('<div class="purerecord"><style>')
