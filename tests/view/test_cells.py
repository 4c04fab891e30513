"""Values as JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from purerecord.payload.wire import BYTES, FLOAT, INT64, UNSET
from purerecord.view.cells import Place, Shown, bytes_value, cell, list_cell, numbers, text_beginning

PLACE = Place(2, 30)
SHOWN = Shown(3, 10)


def test_numbers_that_a_browser_would_change_are_texts():
    assert numbers(np.array([0, -5, 2**53 - 1, 2**53, -(2**63)])) == [
        0,
        -5,
        2**53 - 1,
        "9007199254740992",
        "-9223372036854775808",
    ]
    assert numbers(np.array([0.1, np.nan, np.inf, -np.inf], np.float32)) == [
        0.1,
        "NaN",
        "Infinity",
        "-Infinity",
    ]


@given(hnp.arrays(np.float32, st.integers(0, 20)))
def test_floats_read_back_as_the_same_float32(array):
    back = np.array(
        [float(one) for one in json.loads(json.dumps(numbers(array), allow_nan=False))], np.float32
    )
    np.testing.assert_array_equal(back, array)


def test_cells_say_what_is_cut_off():
    assert cell("x", (INT64, np.arange(5)), PLACE, SHOWN) == {
        "name": "x",
        "list": False,
        "kind": "int64",
        "count": 5,
        "values": [0, 1, 2],
        "cut": True,
    }
    assert cell("x", (UNSET, None), PLACE, SHOWN)["kind"] == "unset"
    steps = [(FLOAT, np.array([0.5], np.float32)), (FLOAT, np.array([1, 2], np.float32))]
    found = list_cell("f", steps, PLACE, SHOWN)
    assert (found["steps"], found["count"], found["values"], found["cut"]) == (2, 3, [0.5], True)


def test_a_text_is_cut_at_a_character():
    assert text_beginning("äöü".encode() * 10, 5) == ("äöüäö", True)
    assert text_beginning("äö".encode(), 5) == ("äö", False)
    assert text_beginning(b"x" * 1000, 5) == ("xxxxx", True)


def test_bytes_are_described_and_never_sent():
    (text,) = cell("s", (BYTES, [b"<script>alert(1)</script>"]), PLACE, SHOWN)["values"]
    assert (text["text"], text["cut"], text["media"], text["size"]) == ("<script>al", True, None, 25)
    binary = bytes_value(b"\x00\x01" * 40, PLACE, 0, 10)
    assert (binary["content"], binary["hex"], binary["cut"]) == ("binary", "0001" * 16, True)


@pytest.mark.parametrize("name", ["a/b", "ä ö", "x&y=1#z?", "<script>", "\u202e", "__proto__"])
def test_names_are_escaped_in_urls(name):
    value = bytes_value(b"RIFF\0\0\0\0WAVE", PLACE.of(name, 4), 7, 10)
    assert value["content"] == "WAV"
    assert value["thumb"] is None
    path, _, query = value["media"].partition("?")
    assert path == "media"
    assert not set(query) & set(" <>\"'#?")
    assert query.count("&") == 5


def test_a_picture_with_a_broken_or_huge_header_is_refused_with_a_reason():
    value = bytes_value(b"GIF89a" + b"\xff" * 20, PLACE, 0, 10)
    assert (value["width"], value["media"], value["thumb"]) == (65535, None, None)
    assert value["refused"].startswith("the picture has 65,535 × 65,535 pixels")
    value = bytes_value(b"GIF89a", PLACE, 0, 10)
    assert (value["width"], value["media"]) == (None, None)
    assert value["refused"] == "an image that cannot be decoded: the file is cut off"


def test_a_picture_of_a_feature_with_an_endless_name_has_no_url():
    data = b"\xff\xd8\xff\xe0"
    value = bytes_value(data, Place(0, 0, "x" * 5000), 0, 10)
    assert (value["media"], value["thumb"]) == (None, None)
    assert value["refused"] == "the name of the feature is too long for a URL"
