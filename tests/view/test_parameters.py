"""The query of a URL."""

from __future__ import annotations

import pytest

from purerecord.view.parameters import Parameters, RefusedError


def test_parameters_are_decoded():
    given = Parameters("row=12&column=a%2Fb&column=%C3%A4&text=&list=1")
    assert given.number("row") == 12
    assert given.number("other", 3) == 3
    assert given.texts("column") == ["a/b", "ä"]
    assert given.text("text", "x") == ""
    assert given.flag("list")
    assert not given.flag("text")
    assert "row" in given
    assert "other" not in given


@pytest.mark.parametrize(
    ("query", "ask", "reason"),
    [
        ("row=-1", lambda p: p.number("row"), "row must be a whole number"),
        ("row=1e3", lambda p: p.number("row"), "row must be a whole number"),
        ("row=" + "9" * 30, lambda p: p.number("row"), "row must be a whole number"),
        ("row=٣", lambda p: p.number("row"), "row must be a whole number"),
        ("", lambda p: p.number("row"), "row must be a whole number"),
        ("row=1&row=2", lambda p: p.number("row"), "row is given 2 times"),
        ("text=" + "x" * 5000, lambda p: p.text("text"), "text is longer than 4,096 characters"),
        ("c=1&" * 300, lambda p: p.texts("c"), "c is given more than 200 times"),
        ("a=1&" * 5000, lambda p: p, "the parameters of the URL cannot be read"),
        ("a=%ff", lambda p: p, "the parameters of the URL cannot be read"),
    ],
)
def test_parameters_that_are_refused(query, ask, reason):
    with pytest.raises(RefusedError, match=reason):
        ask(Parameters(query))
