"""``survey``: the types of all features over all records."""

from __future__ import annotations

import pytest

import purerecord as pr
from purerecord.records import Records
from purerecord.tools.converters.survey import survey_of


def batches(*groups):
    return [Records.of([pr.encode_example(row) for row in group]) for group in groups]


def test_types_widths_and_missing_records_over_batches():
    found = survey_of(
        batches(
            [{"id": 1, "v": [1.0, 2.0]}, {"id": 2, "v": [1.0, 2.0], "late": b"abc\0"}],
            [{"id": 3, "t": [1, 2]}, {"id": 4, "t": [], "late": b"abcdef"}],
        ),
        None,
    )
    assert found.rows == 4
    assert found.types() == {
        "id": "int64",
        "late": "bytes, missing in 2",
        "t": "int64 list, missing in 2",
        "v": "float[2], missing in 2",
    }
    assert (found.features["late"].longest, found.features["late"].ends_in_nul) == (6, True)


def test_names_choose_and_order():
    found = survey_of(batches([{"a": 1, "b": 2, "c": 3}]), ["c", "a"])
    assert list(found.features) == ["c", "a"]
    with pytest.raises(pr.SchemaError, match="no record has it"):
        survey_of(batches([{"a": 1}]), ["b"])


def test_a_feature_of_two_kinds_is_an_error():
    with pytest.raises(pr.SchemaError, match="bytes in a record from 1 on"):
        survey_of(batches([{"a": 1}], [{"a": b"x"}]), None)


def test_feature_lists_only_where_they_fit():
    payload = pr.encode_sequence_example({"a": 1}, {"s": [[1], [2, 3]]})
    with pytest.raises(pr.SchemaError, match="feature list"):
        survey_of([Records.of([payload])], None)
    found = survey_of([Records.of([payload])], None, lists=True)
    assert found.types() == {"a": "int64", "s": "int64 steps"}


@pytest.mark.parametrize(
    ("strings", "text"),
    [
        ([b"a", "é".encode(), b""], True),
        ([b"a", b"\xc3", b"\xa9"], False),  # text only if they are joined
        ([b"\xff"], False),
        ([b"", b"a", b"\xc3"], False),
        ([b""], True),
    ],
)
def test_whether_strings_are_text(strings, text):
    one_by_one = survey_of(batches([{"a": string} for string in strings]), None)
    in_lists = survey_of(batches([{"a": strings}], [{"a": b"x"}]), None)
    assert one_by_one.features["a"].text is text
    assert in_lists.features["a"].text is text
