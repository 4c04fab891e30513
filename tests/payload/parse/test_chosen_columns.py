"""purerecord.payload.parse.chosen_columns: True, False or names."""

from __future__ import annotations

import pytest

from purerecord.payload.parse.chosen_columns import ChosenColumns, text_and_bytes_columns


@pytest.mark.parametrize(
    ("given", "chosen", "names", "any_chosen"),
    [
        (True, ["a", "b"], (), True),
        (False, [], (), False),
        (["a"], ["a"], ("a",), True),
        ({"b": 1}, ["b"], ("b",), True),
        ([], [], (), False),
    ],
)
def test_true_chooses_all_and_names_choose_themselves(given, chosen, names, any_chosen):
    columns = ChosenColumns("text", given)
    assert [name for name in "ab" if name in columns] == chosen
    assert columns.names == names
    assert bool(columns) == any_chosen


@pytest.mark.parametrize("wrong", ["a", b"a", 1, None])
def test_a_single_name_is_no_list_of_names(wrong):
    with pytest.raises(TypeError, match="bytes_columns must be True, False or a list of names"):
        ChosenColumns("bytes_columns", wrong)


@pytest.mark.parametrize(
    ("text", "bytes_columns", "match"),
    [
        (True, True, "all columns are"),
        (True, ["a"], "'a' is"),
        (["a", "b"], ["c", "b"], "'b' is"),
        (["a"], True, "'a' is"),
    ],
)
def test_a_column_is_not_text_and_bytes_at_once(text, bytes_columns, match):
    with pytest.raises(ValueError, match=match):
        text_and_bytes_columns(text, bytes_columns)
    text_and_bytes_columns(text, False)
    text_and_bytes_columns(False, bytes_columns)
