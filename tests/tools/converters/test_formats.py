"""The table of formats: what names tell, and that each entry keeps its promise."""

from __future__ import annotations

import pytest

from purerecord.tools.converters import formats
from purerecord.tools.converters.formats import FORMATS, names_tfrecord, of_output, of_source


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("a.tfrecord", True),
        ("a.tfrecords", True),
        ("a.tfrec", True),
        ("a.tfrecord.gz", True),
        ("folder.tfrecord/a.csv", False),
        ("train@10", True),
        ("train@10.csv.x", True),
        ("train@*.tfrecord", True),
        ("train-00000-of-00010", True),
        ("train-?????-of-00010", True),
        ("train.tfrecord-00000-of-00001", True),
        ("me@home.csv", False),
        ("a.csv", False),
        (None, False),
    ],
)
def test_names_of_tfrecords(name, is_one):
    assert names_tfrecord(name) is is_one


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_every_format_has_a_module_with_its_functions(known):
    try:
        module = known.load()
    except ImportError as error:
        assert "pip install" in str(error)  # noqa: PT017 - a library that is not here
        return
    assert hasattr(module, "read") == (known.reads is not None)
    assert hasattr(module, "write") == (known.writes is not None)
    assert hasattr(module, "recognizes") == known.recognizes


def test_one_name_is_one_option():
    names = [option.name for option in formats.options()]
    assert len(set(names)) == len(names)


def test_suffixes_tell_the_format():
    for known in FORMATS:
        for suffix in known.suffixes:
            if known.writes is not None:
                assert of_output(f"folder/a{suffix}").writes is not None
            if known.reads is not None and not known.recognizes:
                assert suffix in of_source(f"folder/A{suffix.upper()}").suffixes
    assert of_output("a.unknown") is None
    assert of_source("a.jsonl.gz").name == "jsonl"
