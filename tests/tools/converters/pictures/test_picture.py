"""The form between two formats."""

from __future__ import annotations

from purerecord.tools.converters.pictures.picture import Box, Contents, Picture


def test_what_a_source_does_not_say_has_the_usual_value():
    box = Box("cat", 0, 0, 1, 1)
    assert (box.difficult, box.truncated, box.is_crowd, box.view, box.area) == (0, 0, 0, "Unspecified", None)
    assert Picture("a", "b").boxes == []
    assert Picture("a", "b").boxes is not Picture("a", "b").boxes
    assert Contents() == (False, False, frozenset(), False)
