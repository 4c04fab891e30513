"""Arrow arrays to columns: nulls, dictionaries, runs, views, and doubles that float32 cannot hold."""

from __future__ import annotations

import numpy as np
import pytest

import purerecord as pr
from tests.support.interop import interop

pa = interop("pyarrow")
from purerecord import arrow  # noqa: E402 - needs pyarrow


def test_a_column_with_nulls_becomes_a_ragged_with_empty_rows():
    columns = arrow.from_arrow(pa.table({"x": [1, None, 3], "y": ["a", None, None], "z": pa.nulls(3)}))
    assert columns["x"].to_list() == [[1], [], [3]]
    assert columns["y"].to_list() == [[b"a"], [], []]
    assert columns["z"].to_list() == [[], [], []]


WRAPPED = {
    "dictionary": (pa.array(["a", "b", None, "a"]).dictionary_encode(), [b"a", b"b", None, b"a"]),
    "null in a dictionary": (
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None])),
        [b"a", None, None],
    ),
    "runs": (pa.RunEndEncodedArray.from_arrays([2, 3], pa.array([7, None])), [7, 7, None]),
    "string_view": (pa.array(["a", None, "long enough to be elsewhere"], pa.string_view()), None),
    "binary_view": (pa.array([b"a", None, b"\0"], pa.binary_view()), None),
    "fixed_size_binary": (pa.array([b"abc", None, b"def"], pa.binary(3)), None),
    "list_view": (pa.array([[1], None, [], [2, 3]], pa.list_view(pa.int32())), None),
    "large_list_view": (pa.array([["a"], None, [], ["b"]], pa.large_list_view(pa.string())), None),
    "list of dictionary": (
        pa.array([["a"], None, [], ["b", "a"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
        None,
    ),
    "tensors": (
        pa.ExtensionArray.from_storage(
            pa.fixed_shape_tensor(pa.float32(), [2, 2]),
            pa.array([[1, 2, 3, 4]] * 3, pa.list_(pa.float32(), 4)),
        ),
        [[1.0, 2.0, 3.0, 4.0]] * 3,
    ),
    "items": (
        pa.array([[[1, 2]], [], [[3, 4], [5, 6]]], pa.list_(pa.list_(pa.int64(), 2))),
        [[1, 2], [], [3, 4, 5, 6]],
    ),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_values_are_found_in_whatever_holds_them(name, tmp_path):
    array, expected = WRAPPED[name]
    table = pa.table({"x": pa.chunked_array([array, array.slice(1), array.slice(0, 0)])})
    expected = array.to_pylist() if expected is None else expected
    arrow.write_table(table, tmp_path / "file")
    arrow.write_table(pa.table({"x": [*expected, *expected[1:]]}), tmp_path / "plain")
    assert (tmp_path / "file").read_bytes() == (tmp_path / "plain").read_bytes()
    column = arrow.from_arrow(table)["x"]
    rows = column.to_list() if isinstance(column, pr.Ragged) else column.tolist()
    assert len(rows) == 2 * len(array) - 1


DOUBLES = {
    "values": (pa.array([0.5, 0.1, None]), [0.5, np.float32(0.1), None]),
    "lists": (pa.array([[0.5], [0.25, 0.1], []]), [[0.5], [0.25, np.float32(0.1)], []]),
    "fixed-size lists": (
        pa.array([[0.5, 1], [0.25, 0.1]], pa.list_(pa.float64(), 2)),
        [[0.5, 1], [0.25, np.float32(0.1)]],
    ),
    "feature lists": (pa.array([[[0.5]], [[], [0.1]]]), [[[0.5]], [[], [np.float32(0.1)]]]),
}


@pytest.mark.parametrize("name", DOUBLES)
def test_doubles_are_rounded_unless_they_must_be_exact(name, tmp_path):
    array, rounded = DOUBLES[name]
    arrow.write_table(pa.table({"x": array}), tmp_path / "file")
    assert arrow.read_table(tmp_path / "file")["x"].to_pylist() == rounded
    with pytest.raises(pr.EncodeError, match="record 1: a float that float32 does not hold") as caught:
        arrow.write_table(pa.table({"x": array}), tmp_path / "exact", floats="exact")
    assert (caught.value.feature, caught.value.record) == ("x", 1)
    assert not (tmp_path / "exact").exists()
    arrow.write_table(pa.table({"x": array}).slice(0, 1), tmp_path / "exact", floats="exact")
    assert arrow.read_table(tmp_path / "exact").num_rows == 1


def test_an_unknown_rule_for_floats_leaves_no_file(tmp_path):
    with pytest.raises(ValueError, match='"round" or "exact"'):
        arrow.write_table(pa.table({"x": [1]}), tmp_path / "file", floats="strict")
    assert list(tmp_path.iterdir()) == []


def test_nulls_and_empty_lists_are_different_rows():
    table = pa.table({"x": [[1], [], None], "none": pa.nulls(3), "untyped": [[], None, []]})
    columns = arrow.from_arrow(table)
    assert columns["x"].missing.tolist() == [False, False, True]
    assert columns["none"].missing.all()
    assert columns["none"].untyped is None
    assert columns["untyped"].untyped.tolist() == [True, False, True]
    records = pr.encode_examples(columns)
    assert [sorted(pr.decode_example(record)) for record in records] == [["untyped", "x"], ["x"], ["untyped"]]


def test_columns_of_a_table_can_be_text():
    table = pa.table({"x": ["a", None], "y": [["b"], []], "raw": [b"\xff", b""], "id": [1, 2]})
    columns = arrow.from_arrow(table, text=["x", "y"])
    assert columns["x"].to_list() == [["a"], []]
    assert columns["x"].missing.tolist() == [False, True]
    assert columns["y"].to_list() == [["b"], []]
    assert columns["raw"].tolist() == [b"\xff", b""]
    assert arrow.to_arrow(columns).schema.field("y").type == pa.large_list(pa.large_string())
    with pytest.raises(pr.SchemaError, match=r"'raw': .*not UTF-8"):
        arrow.from_arrow(table, text=True)
