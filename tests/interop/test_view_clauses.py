"""What a click on a bar makes of the filter: the functions of the page, run in the browser."""

from __future__ import annotations

import pytest

import purerecord as pr
from purerecord.view import Viewer
from tests.support.interop import interop

interop("selenium")


@pytest.fixture
def toggled(page, tmp_path):
    with pr.TFRecordWriter(str(tmp_path / "one.tfrecord")) as writer:
        writer.write(pr.encode_example({"x": 1}))
    with Viewer(tmp_path / "one.tfrecord") as viewer:
        page.open(viewer.url)
        page.run("window.clauses = await import('./clauses.js')")
        yield lambda *arguments: page.run("return clauses.toggled(...arguments)", *arguments)


CASES = [
    # the filter, what is clicked, the other bars of the column, the filter then
    ("", "a == 1", [], "a == 1"),
    ("a == 1", "a == 1", [], ""),
    ("a == 1", "a == 2", ["a == 1", "a == 2"], "a == 2"),
    ("a == 1", "b == 2", ["b == 1"], "a == 1 and b == 2"),
    ("a == 1 and b == 2", "a == 1", [], "b == 2"),
    ("  a == 1   and b == 2", "a == 1", [], "b == 2"),
    ("a >= 1 and a < 2", "a >= 2 and a < 3", ["a >= 1 and a < 2"], "a >= 2 and a < 3"),
    ("a >= 1 and a < 2 and b == 2", "a >= 1 and a < 2", [], "b == 2"),
    ("a == 1 or b == 2", "c == 3", [], "(a == 1 or b == 2) and c == 3"),
    ("a == 1 and b == 2 or c == 3", "a == 1", [], "(a == 1 and b == 2 or c == 3) and a == 1"),
    ("(a == 1 or b == 2) and c == 3", "c == 3", [], "(a == 1 or b == 2)"),
    ('a == "x and y"', 'a == "x and y"', [], ""),
    ('a == "x \\" and y"', "b == 1", [], 'a == "x \\" and y" and b == 1'),
    ("any(a == 1 and a == 2)", "b == 1", [], "any(a == 1 and a == 2) and b == 1"),
    ("(a == 1) and b == 2", "a == 1", [], "b == 2"),
]


def test_clauses_are_added_exchanged_and_taken_away(toggled):
    assert [toggled(*case[:3]) for case in CASES] == [case[3] for case in CASES]
