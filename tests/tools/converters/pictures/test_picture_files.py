"""Pictures are found by the names that annotations have for them."""

from __future__ import annotations

import pytest

from purerecord.tools.converters.pictures.picture_files import PictureFiles
from tests.support.picture_folders import png, save


@pytest.fixture
def files(tmp_path):
    for name in ("a.png", "b.JPG", "in/c.jpeg", "in/twice.png", "other/twice.png", "v1.2.png", "text.txt"):
        save(tmp_path / name, png())
    return PictureFiles(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "found", "differs"),
    [
        ("a.png", "a.png", False),
        ("./a.png", "a.png", False),
        ("in/c.jpeg", "in/c.jpeg", False),
        ("c.jpeg", "in/c.jpeg", False),
        ("in\\c.jpeg", "in/c.jpeg", False),
        ("C:\\photos\\a.png", "a.png", False),
        ("/home/me/photos/a.png", "a.png", False),
        ("other/twice.png", "other/twice.png", False),
        ("a", "a.png", True),
        ("a.jpg", "a.png", True),
        ("b.jpg", "b.JPG", True),
        ("v1.2", "v1.2.png", True),
        ("none.png", None, False),
        ("text.txt", None, False),
    ],
)
def test_names_of_other_machines_are_found(files, tmp_path, name, found, differs):
    assert files.find(name) == (found and str(tmp_path / found))
    assert files.differs == [name] * differs
    assert len(files) == 6


def test_names_that_could_mean_several_are_an_error(files):
    with pytest.raises(ValueError, match=r"twice\.png: several pictures"):
        files.find("twice.png")
