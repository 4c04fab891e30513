"""``diff``: what is only in one of two datasets, what has changed and what has moved."""

from __future__ import annotations

import json
import pickle
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purerecord import ChecksumError, TFRecordWriter, encode_example
from purerecord.tools import Difference, diff, reshard
from purerecord.tools.rewrite.diff import features_of
from tests.support.damage import flip_byte
from tests.support.rewriting import PAYLOADS, write_inputs
from tests.support.settings import tries


def compared(folder, left, right, files=2):
    return diff(write_inputs(folder / "a", left, files), write_inputs(folder / "b", right, 3))


def longest_common(left, right):
    """The length of the longest common subsequence."""
    row = [0] * (len(right) + 1)
    for one in left:
        before = 0
        for place, other in enumerate(right):
            before, row[place + 1] = (
                row[place + 1],
                before + 1 if one == other else max(row[place], row[place + 1]),
            )
    return row[-1]


payloads = st.lists(st.sampled_from([b"%d" % n for n in range(6)]), max_size=15)


@settings(max_examples=tries(100))
@given(payloads, payloads)
def test_counts_are_those_of_multisets(tmp_path_factory, left, right):
    found = compared(tmp_path_factory.mktemp("diff"), left, right)
    assert found.only_left + found.changed == (Counter(left) - Counter(right)).total()
    assert found.only_right + found.changed == (Counter(right) - Counter(left)).total()
    common = (Counter(left) & Counter(right)).total()
    assert found.same == (left == right)
    assert 0 <= found.moved <= max(0, common - 1)
    assert found.moved >= common - longest_common(left, right)


@given(st.permutations(range(12)))
@settings(max_examples=tries(30))
def test_moved_is_the_fewest_records_that_must_move(tmp_path_factory, order):
    left, right = [b"%d" % n for n in range(12)], [b"%d" % n for n in order]
    found = compared(tmp_path_factory.mktemp("diff"), left, right)
    assert found.moved == 12 - longest_common(left, right)
    assert (found.only_left, found.only_right, found.changed) == (0, 0, 0)


def test_the_same_records_in_other_files_are_the_same(tmp_path):
    source = write_inputs(tmp_path / "in")
    reshard(source, tmp_path / "new@7", options="GZIP")
    found = diff(source, tmp_path / "new@7")
    assert found == Difference(200, 200)
    assert str(found) == "200 records, the same in the same order"


def test_each_kind_of_difference_is_named(tmp_path):
    right = list(PAYLOADS)
    right[50] = encode_example({"id": 50, "label": 99, "score": 5.0, "name": "050050", "more": 1})
    right.insert(10, b"new")
    del right[150]  # 149 of the left
    right.append(right.pop(20))  # 19 of the left
    found = compared(tmp_path, PAYLOADS, right)
    assert str(found).replace(str(tmp_path), "...").replace("\\", "/").split("\n") == [
        "200 records on the left, 200 on the right",
        "1 record only on the left",
        "  .../a/in-1.tfrecord: record 99",
        "1 record only on the right",
        "  .../b/in-0.tfrecord: record 10",
        "1 record changed",
        "  .../a/in-1.tfrecord: record 0 and .../b/in-1.tfrecord: record 28: label, more",
        "1 record moved",
    ]
    assert json.loads(json.dumps(found.to_dict()))["changes"][0]["features"] == ["label", "more"]
    assert pickle.loads(pickle.dumps(found)) == found


def test_only_the_first_differences_are_listed(tmp_path):
    found = compared(tmp_path, [b"a%d" % n for n in range(300)], [b"b%d" % n for n in range(300)])
    assert (found.changed, len(found.changes)) == (300, 100)
    assert str(found).endswith("  and 295 more")
    assert "they are no Examples" in str(found)


def test_features_that_differ_are_named():
    one, other = (
        encode_example({"a": 1, "b": 2.0, "c": "x"}),
        encode_example({"a": 2, "b": 2.0, "c": ["x", "y"]}),
    )
    assert features_of(one, other) == ("a", "c")
    assert features_of(one, one + b"\x18\x07") == ()
    assert features_of(b"\x0a\xff", one) is None


def test_damage_is_an_error(tmp_path):
    source = write_inputs(tmp_path / "in")
    path = tmp_path / "in" / "in-1.tfrecord"
    path.write_bytes(flip_byte(path.read_bytes(), 20))
    with pytest.raises(ChecksumError, match=r"in-1\.tfrecord: record 0"):
        diff(source, source)


def test_a_notebook_shows_where_they_differ(tmp_path):
    name = "<i>"
    for side, value in (("left", 1), ("right", 2)):
        with TFRecordWriter(tmp_path / side) as writer:
            writer.write(encode_example({name: value}))
    html = diff(tmp_path / "left", tmp_path / "right")._repr_html_()
    assert "Difference" in html
    assert "right: record 0" in html
    assert "&lt;i&gt;" in html
    assert "<i>" not in html
