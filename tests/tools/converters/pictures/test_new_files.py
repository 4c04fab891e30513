"""Files under names that come from data: none leads out of the folder, none replaces another one."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.tools.converters.pictures.new_files import TAKEN, UNSAFE, NewFiles, safe_name, safe_parts
from tests.support.settings import LONG

HOSTILE = [
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\Windows\\x.jpg",
    "a/../../b.jpg",
    "..",
    ".",
    "",
    "a\0b.jpg",
    "a\nb\x1b[31m.jpg",
    "CON",
    "nul.jpg",
    ".bashrc",
    "trailing. ",
    "x" * 5000 + ".jpg",
    "é" * 5000 + ".jpg",
    "." + "x" * 5000,
    "/".join("abcdefghijklmnop"),
    "\u202egpj.exe",
    "\udc80.jpg",
    'what?<>:"|*.jpg',
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_in_the_folder(tmp_path, name):
    files = NewFiles(str(tmp_path))
    made = files.add(files.safe(name), b"data")
    path = tmp_path / made
    assert path.read_bytes() == b"data"
    assert tmp_path in path.resolve().parents
    assert made.isprintable()
    assert all(len(part.encode()) < 256 and not part.startswith(".") for part in made.split("/"))
    assert files.changed == {UNSAFE: (name, 1)}


@given(st.text())
def test_safe_names_are_safe_already(name):
    for part in safe_parts(name):
        assert safe_name(part) == part
        assert not set(part) & set('/\\\0<>:"|?*')


@pytest.mark.parametrize(
    "name", ["a.jpg", "cats/a b.jpg", "Ünï.png", "a-1.jpg", "x.tar.gz", "a'b&c;d$(e).jpg"]
)
def test_ordinary_names_are_not_changed(name):
    assert "/".join(safe_parts(name)) == name


def test_names_that_are_taken_get_numbers(tmp_path):
    files = NewFiles(str(tmp_path))
    count = 2000 if LONG else 300  # each is found at once
    made = [files.add(["a.jpg"], b"%d" % number) for number in range(count)]
    assert made[:3] == ["a.jpg", "a-1.jpg", "a-2.jpg"]
    assert [(tmp_path / name).read_bytes() for name in made] == [b"%d" % number for number in range(count)]
    assert files.add(["a-1.jpg"]) == "a-1-1.jpg"
    assert files.changed == {TAKEN: ("a.jpg", count)}
    assert files.size == sum(len(str(number)) for number in range(count))


def test_a_file_where_a_folder_should_be_is_no_obstacle(tmp_path):
    files = NewFiles(str(tmp_path))
    assert files.add(["a.jpg"]) == "a.jpg"
    assert files.add(["a.jpg", "b.jpg"], b"b") == "a.jpg_b.jpg"
    assert files.add(["c", "a.jpg"]) == "c/a.jpg"
    assert files.add(["c", "a.jpg", "b.jpg"], b"b") == "c/a.jpg_b.jpg"
    assert files.add(["c"]) == "c-1"
    assert sorted(os.listdir(tmp_path)) == ["a.jpg", "a.jpg_b.jpg", "c", "c-1"]


def test_a_file_that_was_added_can_be_filled_later(tmp_path):
    files = NewFiles(str(tmp_path))
    name = files.add(["in", "a.txt"])
    files.replace(name, b"later")
    assert (tmp_path / "in" / "a.txt").read_bytes() == b"later"
