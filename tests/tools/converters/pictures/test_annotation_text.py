"""Text of annotations: lines and rows as they stand, and every mistake with its line."""

from __future__ import annotations

import pytest

from purerecord.tools.converters.pictures.annotation_text import csv_rows, read_lines, read_text
from tests.support.picture_folders import save


def test_lines_end_in_any_way_and_a_mark_is_no_text(tmp_path):
    path = str(save(tmp_path / "a.txt", "\ufeffa\r\nb\rc\u2028\n".encode()))
    assert read_text(path) == "a\r\nb\rc\u2028\n"
    assert read_lines(path) == ["a", "b", "c\u2028", ""]


def test_rows_know_the_line_on_which_they_begin(tmp_path):
    path = str(save(tmp_path / "a.csv", 'a,b\n1,"x\ny"\n\n2,z\n'))
    assert list(csv_rows(path)) == [
        (f"{path}: line 1", ["a", "b"]),
        (f"{path}: line 2", ["1", "x\ny"]),
        (f"{path}: line 4", []),
        (f"{path}: line 5", ["2", "z"]),
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a\n\n\xff", "a.csv: line 3: byte 0xff is not UTF-8"),
        (b'a\n"b\nc\n', "a.csv: line 2: .* is there a quote too many"),
        (b'a\n"b"c\n', "a.csv: line 2: .* is there a quote too many"),
    ],
)
def test_mistakes_name_the_line(tmp_path, data, words):
    path = str(save(tmp_path / "a.csv", data))
    with pytest.raises(ValueError, match=words):
        list(csv_rows(path))
