"""``tf.strings``: paths and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import tf

TEXTS = st.lists(st.text("ab,", max_size=6), min_size=1, max_size=4)


@given(TEXTS)
def test_parts_of_a_split_join_to_the_whole(texts: list[str]) -> None:
    array = np.array([text.encode() for text in texts], object)
    parts = tf.strings.split(array, ",")
    assert [b",".join(row) for row in parts.to_list()] == array.tolist()
    assert tf.strings.reduce_join(array, separator="/").numpy() == b"/".join(array.tolist())


def test_path_is_split_into_folder_and_name() -> None:
    assert tf.strings.split("data/cat/1.jpg", "/")[-2].numpy() == b"cat"
    assert tf.strings.split("a  b").numpy().tolist() == [b"a", b"b"]
    assert tf.strings.join(["data", ["x", "y"]], "/").numpy().tolist() == [b"data/x", b"data/y"]


def test_length_counts_bytes_or_characters() -> None:
    assert tf.strings.length("é").numpy() == 2
    assert tf.strings.length("é", "UTF8_CHAR").numpy() == 1


def test_case_white_space_and_parts() -> None:
    assert tf.strings.lower("ÀB").numpy().decode() == "Àb"
    assert tf.strings.upper("àb", "utf-8").numpy().decode() == "ÀB"
    assert tf.strings.strip([" a\n"]).numpy().tolist() == [b"a"]
    assert tf.strings.substr(["abcd"], -3, 2).numpy().tolist() == [b"bc"]


def test_regular_expressions_are_pythons() -> None:
    assert tf.strings.regex_replace("a1b2", r"(\d)", r"<\1>").numpy() == b"a<1>b<2>"
    assert tf.strings.regex_replace("a1b2", r"\d", "", replace_global=False).numpy() == b"ab2"
    assert tf.strings.regex_full_match(["cat.jpg", "cat.png"], r".*\.jpg").numpy().tolist() == [True, False]


def test_numbers_and_their_text() -> None:
    assert tf.strings.to_number(["1", "-5"], tf.int64).numpy().tolist() == [1, -5]
    assert tf.strings.to_number("1.5").dtype is tf.float32
    assert tf.strings.as_string([1.5], precision=2).numpy().tolist() == [b"1.50"]
    assert tf.strings.as_string([True, False]).numpy().tolist() == [b"true", b"false"]
    assert tf.strings.as_string(7, width=3, fill="0").numpy() == b"007"


WRONG: list[tuple[Any, str]] = [
    (lambda: tf.strings.to_number("x"), "could not correctly convert string: x"),
    (lambda: tf.strings.substr("abc", 5, 1), "pos 5 out of range"),
    (lambda: tf.strings.join([["a"], ["b", "c"]]), "Input shapes do not match"),
]


@pytest.mark.parametrize(("program", "text"), WRONG, ids=[text for _, text in WRONG])
def test_what_tensorflow_refuses_is_refused(program: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        program()


@given(st.text(max_size=8), st.integers(-8, 8), st.integers(-1, 9))
def test_characters_are_cut_as_in_python(text: str, pos: int, count: int) -> None:
    begin = pos + len(text) if pos < 0 else pos
    if not 0 <= begin <= len(text):
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
            tf.strings.substr(text, pos, count, unit="UTF8_CHAR")
        return
    found = tf.strings.substr(text, pos, count, unit="UTF8_CHAR").numpy()
    assert found.decode() == text[begin : None if count < 0 else begin + count]
    assert tf.strings.length(text, unit="UTF8_CHAR").numpy() == len(text)


def test_strings_are_cut_at_places_of_their_own() -> None:
    assert tf.strings.substr(["hello", "world"], [1, 2], [2, 3]).numpy().tolist() == [b"el", b"rld"]
    assert tf.strings.substr("hello", [0, 1], [1, 2]).numpy().tolist() == [b"h", b"el"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="pos and len should have the same shape"):
        tf.strings.substr(["hello", "world"], 1, [2, 3])


def test_first_of_the_given_dimensions_is_joined_first() -> None:
    matrix = [["a", "b"], ["c", "d"]]
    assert tf.strings.reduce_join(matrix).numpy() == b"abcd"
    assert tf.strings.reduce_join(matrix, axis=[1, 0]).numpy() == b"abcd"
    assert tf.strings.reduce_join(matrix, axis=[0, 1]).numpy() == b"acbd"


@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        (7, {"width": 3, "fill": "-"}, b"7  "),
        (7, {"fill": "+"}, b"+7"),
        (np.uint8(7), {"fill": "+", "width": 3}, b"  7"),
        ("a", {"width": 3}, b"  a"),
        (True, {"width": 9}, b"true"),
        (1.5 - 2j, {"shortest": True}, b"(1.5,-2)"),
    ],
)
def test_numbers_are_shown_as_by_printf(value: Any, options: Any, expected: bytes) -> None:
    assert tf.strings.as_string(value, **options).numpy() == expected


@pytest.mark.parametrize(
    "options", [{"scientific": True}, {"shortest": True}, {"precision": 2}, {"fill": "x"}, {"fill": "00"}]
)
def test_integers_are_not_shown_with_the_options_of_floats(options: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.as_string(7, **options)
