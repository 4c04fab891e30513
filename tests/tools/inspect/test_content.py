"""What strings hold is told by their beginnings, one by one and all together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import BytesColumn
from purerecord.tools.inspect.content import content_of, count_contents

CASES = [
    (b"", "empty"),
    (b"\x89PNG\r\n\x1a\n....", "PNG"),
    (b"\xff\xd8\xff\xe0....JFIF", "JPEG"),
    (b"GIF89a...", "GIF"),
    (b"RIFF\x10\0\0\0WEBPVP8 ", "WebP"),
    (b"RIFF\x10\0\0\0WAVEfmt ", "WAV"),
    (b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0", "BMP"),
    (b"BMW is a car", "text"),
    (b"fLaC\0\0\0\x22", "FLAC"),
    (b"OggS\0\x02", "OGG"),
    (b"ID3\x03\0", "MP3"),
    (b"\0\0\0\x18ftypmp42", "MP4"),
    (b"\x93NUMPY\x01\0", "NPY"),
    (b"\x1f\x8b\x08\0", "gzip"),
    (b"two\nlines\tand more", "text"),
    ("Größe".encode(), "text"),
    (b"Gr\xf6\xdfe", "binary"),
    (b"with a zero\0", "binary"),
    (b"\x1b[31m", "binary"),
    (b"x" * 5000 + b"\0", "text"),  # only its beginning is read
    (b"x" * 1023 + "é".encode() + b"y", "text"),  # cut within a character
    (b"x" * 1000 + "é".encode()[:1], "binary"),  # here it is the string itself that is cut
]


@pytest.mark.parametrize(("data", "kind"), CASES)
def test_content_is_told_by_the_beginning(data, kind):
    assert content_of(data) == kind


def test_many_strings_are_counted_together():
    counts = count_contents(BytesColumn.of([data for data, _ in CASES] * 3))
    assert counts == {kind: 3 * [k for _, k in CASES].count(kind) for _, kind in CASES}
    assert count_contents(BytesColumn.of([])) == {}


@given(st.lists(st.binary(max_size=40) | st.sampled_from([data for data, _ in CASES]), max_size=20))
def test_each_string_counts_as_it_would_alone(strings):
    alone = [content_of(data) for data in strings]
    assert count_contents(BytesColumn.of(strings)) == {kind: alone.count(kind) for kind in alone}


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_text_without_control_characters_is_text(text):
    assert content_of(text.encode()) in ("text", "PDF", "GIF", "MP3", "MP4")
