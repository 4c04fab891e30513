"""The report as one HTML file."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

import purerecord as pr
from purerecord.view import report
from purerecord.view.html_report import text
from tests.support.damage import flip_byte, frames, starts
from tests.support.interop import interop
from tests.support.pictures import drawn, saved
from tests.view.test_picture_size import png

HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</style><b>",
    "\x1b[31m\u202e",
    "&lt;",
]


class Tags(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def made(tmp_path, data: bytes, **options) -> str:
    (tmp_path / "file").write_bytes(data)
    report(str(tmp_path / "file"), str(tmp_path / "out.html"), **options)
    return (tmp_path / "out.html").read_text(encoding="utf-8")


def test_a_report_has_files_columns_and_records(tmp_path):
    payloads = [
        pr.encode_example({"label": n % 3, "name": f"n{n}", "y": list(range(20))}) for n in range(150)
    ]
    page = made(tmp_path, frames(payloads))
    found = Tags(page)
    assert "150 records" in found.text
    assert "the first 100 of 150" in found.text
    assert "n99" in found.text
    assert "150 different values" in found.text
    assert "0, 1, 2, 3, 4, 5, 6, 7 and 12 more" in found.text
    assert "100.0%" in found.text
    assert "n5" in Tags(made(tmp_path, frames(payloads), records=6)).text


def test_nothing_from_data_is_markup(tmp_path):
    payloads = [
        pr.encode_example({name: name for name in HOSTILE}),
        pr.encode_sequence_example({}, {name: [name, name] for name in HOSTILE}),
        HOSTILE[0].encode(),
    ]
    found = Tags(made(tmp_path, frames(payloads)))
    assert not found.tags & {"script", "b", "iframe", "a", "link"}
    assert not {name for name in found.attributes if name.startswith("on") or name in ("style", "href")}
    assert "<script>alert(1)</script>" in found.text
    assert "\x1b" not in found.text
    assert "\u202e" not in found.text


def test_the_policy_allows_nothing_but_its_own_style_and_pictures(tmp_path):
    page = made(tmp_path, frames([pr.encode_example({"image": png(5, 5)})]))
    (policy,) = re.findall(r'content="(default-src [^"]*)"', page)
    assert re.fullmatch(r"default-src 'none'; img-src data:; style-src 'sha256-[A-Za-z0-9+/=]{44}'", policy)
    assert "http://" not in page.replace("http-equiv", "")
    assert "//" not in re.sub(r"base64,[A-Za-z0-9+/=]*|sha256-[A-Za-z0-9+/=]*", "", page)


def test_pictures_are_thumbnails_and_bombs_are_not(tmp_path):
    interop("PIL")
    payloads = [pr.encode_example({"image": saved(drawn(300, 300), "JPEG"), "bomb": png(60_000, 60_000)})]
    page = made(tmp_path, frames(payloads))
    assert page.count('src="data:image/jpeg;base64,') == 1
    assert "PNG, 45 bytes; the picture has 60,000 × 60,000 pixels" in Tags(page).text


def test_damage_is_drawn_and_listed(tmp_path):
    payloads = [b"x" * 100] * 20
    edges = starts(payloads)
    page = made(tmp_path, flip_byte(frames(payloads), edges[7] + 20))
    assert f"{edges[7]:,} to {edges[8]:,}" in Tags(page).text
    assert page.count('<rect class="bad"') == 1
    assert "1 place of damage" in Tags(page).text


def test_files_that_cannot_be_read_have_their_reason(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    report([str(tmp_path / "missing"), str(tmp_path / "file")], str(tmp_path / "out.html"))
    assert "failed" in (tmp_path / "out.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="must not be negative"):
        report(str(tmp_path / "file"), str(tmp_path / "out.html"), records=-1)


def test_text_is_escaped():
    assert text('<a href="x">\'\x07') == "&lt;a href=&quot;x&quot;&gt;&#x27;\\x07"


def test_numbers_that_are_none_are_counted_and_texts_that_are_no_examples_are_shown(tmp_path):
    nan, infinity = float("nan"), float("inf")
    payloads = [
        pr.encode_example({"all": [nan, nan], "some": [1.5, infinity], "one": 7}),
        b"a <line> of text",
    ]
    (tmp_path / "file").write_bytes(frames(payloads))
    report(str(tmp_path / "file"), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<td>2 NaN<td>" in page
    assert "<td>1.5, 1 infinite<td>" in page
    assert "<td>7<td>" in page
    assert "a &lt;line&gt; of text" in page
