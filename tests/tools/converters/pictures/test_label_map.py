"""Label maps: there and back, other people's files, and what is wrong with them."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.tools.converters.pictures.label_map import LabelMap


def read(text):
    return LabelMap.read(io.BytesIO(text.encode()))


@given(
    st.dictionaries(
        st.integers(1, 2**31 - 1), st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1
    )
)
def test_maps_are_read_as_they_were_written(names):
    names = dict(zip(names, dict.fromkeys(names.values()), strict=False))  # a class has one number
    assert read(LabelMap.numbered(names).text()).names == dict(sorted(names.items()))


def test_maps_of_others_are_read():
    found = read(
        "item { id: 2 name: 'dog' }\n"
        'item {\n  name: "/m/01"\n  id: 1\n  display_name: "person"\n  keypoints { id: 3 label: "x" }\n}\n'
        "# the end\n"
    )
    assert found.names == {1: "/m/01", 2: "dog"}
    assert found.number("person", "") == found.number("/m/01", "") == 1
    assert (found.place(1), found.place(2)) == (0, 1)
    assert len(found) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it has no classes"),
        ("item { id: 0 name: 'a' }", "item 0 'a' needs"),
        ("item { id: 1 }", "item 1 '' needs"),
        ("item { id: 1 name: 'a' } item { id: 1 name: 'b' }", "item 1 'b' needs"),
        ("item { id: 1 name: 'a' } item { id: 2 name: 'a' }", "'a' has the numbers 1 and 2"),
        ("cat\ndog\n", "no label map"),
        ("item { id: 1", "no label map"),
    ],
)
def test_what_is_no_label_map_is_an_error(text, words):
    with pytest.raises(ValueError, match=words):
        read(text)


def test_a_class_that_is_missing_is_an_error_that_says_what_to_do():
    labels = LabelMap.of([f"c{number}" for number in range(9)])
    assert labels.number("c3", "x") == 4
    with pytest.raises(ValueError, match=r"a\.xml: class 'dog' is not in .*'c7', \.\.\.; add an item"):
        labels.number("dog", "a.xml")
