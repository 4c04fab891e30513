"""The names of YOLO's classes, in the forms in which people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.tools.converters.pictures.class_names import names_near, read_names
from tests.support.interop import interop
from tests.support.picture_folders import save

FORMS = [
    "names: [cat, 'big dog', \"bird\"]",
    "names: [cat, big dog, bird]  # three\nnc: 3",
    "train: ../x\nnames:\n- cat\n- big dog  # not small\n- bird\nval: y",
    "names:\n  - cat\n  - 'big dog'\n\n  # one more\n  - bird\n",
    "path: x\nnames:\n  0: cat\n  1: big dog\n  2: bird\n\ndownload: |\n  names: [no]\n",
    "names: {0: cat, 1: 'big dog', 2: bird}",
    "names: [\n  cat,\n  big dog, # here\n  'bird',\n]\n",
    "names:\n  2: bird\n  0: cat\n  1: big dog\n",
]


@pytest.mark.parametrize("text", FORMS)
def test_every_usual_form_is_read(tmp_path, text):
    path = save(tmp_path / "data.yaml", text)
    assert sorted(read_names(str(path)).items()) == [(0, "cat"), (1, "big dog"), (2, "bird")]


@pytest.mark.parametrize("text", FORMS)
def test_a_library_for_yaml_reads_the_same(tmp_path, text):
    names = interop("yaml").safe_load(text)["names"]
    expected = names if isinstance(names, dict) else dict(enumerate(names))
    assert read_names(str(save(tmp_path / "data.yaml", text))) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nc: 3", "it has no names"),
        ("names:\n", "names must be a list"),
        ("names: cat", "names must be a list"),
        ("names: [cat, [dog]]", "names must be a list"),
        ("names: [cat", "names must be a list"),
        ("names: &x [cat]", "names must be a list"),
        ("names:\n  cat: 0\n", "names must be a list"),
        ("names:\n  0: cat\n  0: dog\n", "names must be a list"),
        ("names: [cat, cat]", "two classes have the name 'cat'"),
    ],
)
def test_anything_else_is_an_error_and_no_guess(tmp_path, text, words):
    with pytest.raises(ValueError, match=words):
        read_names(str(save(tmp_path / "data.yaml", text)))


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\n\r\x85\u2028\u2029", exclude_categories=["C"])),
        unique=True,
    )
)
def test_quoted_names_are_read_as_they_are(tmp_path_factory, names):
    names = [f"x{name}" for name in names] or ["x"]
    quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
    path = save(tmp_path_factory.mktemp("names") / "data.yaml", f"names: [{quoted}]")
    if any(mark in quoted for mark in "[]{}#"):
        return  # read as an error or as it is: never as something else
    assert list(read_names(str(path)).values()) == names


def test_names_are_looked_for_here_and_above(tmp_path):
    save(tmp_path / "images/train/x.png", "")
    with pytest.raises(ValueError, match=r"neither data\.yaml nor classes\.txt"):
        names_near(str(tmp_path / "images/train"))
    save(tmp_path / "classes.txt", "ant\n\nbee\n")
    assert names_near(str(tmp_path / "images/train")) == {0: "ant", 2: "bee"}  # so LabelImg counts
    save(tmp_path / "images/coco8.yaml", "names: [wasp]")
    assert names_near(str(tmp_path / "images/train")) == {0: "wasp"}
    assert names_near(str(tmp_path / "classes.txt")) == {0: "ant", 2: "bee"}
