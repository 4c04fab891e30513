"""Expressions of RE2."""

from __future__ import annotations

import pytest

from purerecord import tf
from purerecord.tf._text.regex import full_match, replaced


@pytest.mark.parametrize(
    ("pattern", "text", "whole"),
    [
        (".", "é", True),
        (r"[[:alpha:]]+", "abc", True),
        (r"[^[:space:]]", " ", False),
        (r"\pL+", "aé", True),
        (r"\PL", "1", True),
        (r"a$", "a\n", False),
        (r"\Qa.b\E", "a.b", True),
        (r"(?P<x>a|ab)", "ab", True),
    ],
)
def test_what_only_re2_has_matches(pattern: str, text: str, whole: bool) -> None:
    assert full_match(pattern.encode(), text.encode()) == whole


@pytest.mark.parametrize("pattern", ["(?=a)", r"(a)\1", "(", "[a", "*", "a{2000}", "\\"])
def test_what_re2_does_not_have_is_an_error(pattern: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
        full_match(pattern.encode(), b"a")


def test_no_empty_match_follows_another_match() -> None:
    assert replaced(b"a*", b"x", b"bab", everywhere=True) == b"xbxbx"
    assert replaced(b"b", rb"\0\0", b"bab", everywhere=False) == b"bbab"
