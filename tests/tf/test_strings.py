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
