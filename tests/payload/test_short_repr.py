"""purerecord.payload.short_repr: a repr that fits on a line, however long the value."""

from __future__ import annotations

from purerecord.payload.short_repr import MAX_CHARACTERS, MAX_ITEMS, short_repr


def test_short_values_are_shown_as_they_are() -> None:
    assert short_repr([1, b"x", [2.5]]) == "[1, b'x', [2.5]]"


def test_long_lists_and_strings_are_cut() -> None:
    assert short_repr(list(range(100))) == f"{list(range(MAX_ITEMS))}"[:-1] + ", ...]"
    assert len(short_repr("x" * 1000)) == len(short_repr(b"x" * 1000)) == MAX_CHARACTERS
