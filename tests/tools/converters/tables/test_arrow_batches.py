"""Arrow's batches to records and back: the rule for each type, schemas, and what no Example can hold."""

from __future__ import annotations

import datetime
import decimal
import io

import numpy as np
import pytest
from hypothesis import assume, given

import purerecord as pr
from purerecord.tools import convert
from tests.support.arrow_tables import stored_values
from tests.support.arrow_tables import tables as arrow_tables
from tests.support.interop import interop

pa = interop("pyarrow")

DAY = datetime.datetime(2020, 1, 2)
MICROSECONDS = 1577923200000000


def stream_of(table):
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return io.BytesIO(out.getvalue())


def converted(table, **options):
    out = io.BytesIO()
    report = convert(stream_of(table), out, from_format="arrow", **options)
    out.seek(0)
    return [
        {name: list(values) for name, values in pr.decode_example(record).items()}
        for record in pr.read_records(out)
    ], report


@given(arrow_tables())
def test_there_and_back(tmp_path_factory, table):
    assume(stored_values(table))
    folder = tmp_path_factory.mktemp("arrow")
    with pa.ipc.new_stream(folder / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    convert(folder / "a.arrow", folder / "a.tfrecord")
    for name in ("b.arrow", "b.arrows"):
        convert(folder / "a.tfrecord", folder / name, binary=None)
        again = pa.ipc.open_file if name.endswith("w") else pa.ipc.open_stream
        found = again(folder / name).read_all()
        found.validate(full=True)
        expected = {
            name: rows for name, rows in stored_values(table).items() if any(row is not None for row in rows)
        }
        as_bytes = found.cast(
            pa.schema([pa.field(field.name, bytes_of(field.type)) for field in found.schema])
        )
        assert {name: rows for name, rows in stored_values(as_bytes).items() if name in expected} == expected
        convert(folder / name, folder / "b.tfrecord")
        assert (folder / "b.tfrecord").read_bytes() == (folder / "a.tfrecord").read_bytes()


def bytes_of(dtype):
    if pa.types.is_fixed_size_list(dtype):
        return pa.list_(bytes_of(dtype.value_type), dtype.list_size)
    if pa.types.is_large_list(dtype):
        return pa.large_list(bytes_of(dtype.value_type))
    return pa.large_binary() if dtype == pa.large_string() else dtype


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        (pa.array([1, None], pa.uint8()), [[1], None], "int64"),
        (pa.array([True, None]), [[1], None], "int64 (from bool)"),
        (pa.array([0.5], pa.float16()), [[0.5]], "float"),
        (pa.array([0.5]), [[0.5]], "float (rounded from double)"),
        (pa.array(["a", None, ""]), [[b"a"], None, [b""]], "bytes"),
        (pa.array(["a", "b", "a"]).dictionary_encode(), [[b"a"], [b"b"], [b"a"]], "bytes"),
        (pa.array([[1, 2], [], None]), [[1, 2], [], None], "int64 list"),
        (pa.array([[1, 2]], pa.list_(pa.int32(), 2)), [[1, 2]], "int64[2]"),
        (pa.array([[0.5]]), [[0.5]], "float list (rounded from double)"),
        (pa.array([DAY, None], pa.timestamp("us")), [[MICROSECONDS], None], "int64 (from timestamp[us])"),
        (pa.array([DAY], pa.timestamp("s", "UTC")), [[1577923200]], "int64 (from timestamp[s, tz=UTC])"),
        (pa.array([DAY.date()], pa.date32()), [[18263]], "int64 (from date32[day])"),
        (pa.array([DAY.date()], pa.date64()), [[1577923200000]], "int64 (from date64[ms])"),
        (pa.array([datetime.time(0, 1)], pa.time32("s")), [[60]], "int64 (from time32[s])"),
        (pa.array([datetime.timedelta(1)], pa.duration("s")), [[86400]], "int64 (from duration[s])"),
        (pa.array([decimal.Decimal("1.50"), None]), [[b"1.50"], None], "bytes (text of decimal128(3, 2))"),
        (pa.nulls(2), [None, None], "nothing"),
    ],
)
def test_rules_of_types(column, values, words):
    rows, report = converted(pa.table({"a": column}))
    assert [row.get("a") for row in rows] == values
    assert report.types == {"a": words}


def test_structs_become_a_feature_for_each_field():
    column = pa.array([{"x": 1, "y": {"z": "q"}}, None, {"x": None, "y": {"z": "r"}}])
    rows, report = converted(pa.table({"s": column}))
    assert rows == [{"s/x": [1], "s/y/z": [b"q"]}, {}, {"s/y/z": [b"r"]}]
    assert report.types == {"s/x": "int64", "s/y/z": "bytes"}
    assert converted(pa.table({"s": column}), columns=["s/x"])[0] == [{"s/x": [1]}, {}, {}]


def test_lists_of_lists_become_sequence_examples_and_come_back(tmp_path):
    table = pa.table({"id": [1, 2], "steps": [[[1], [2, 3]], []]})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    report = convert(tmp_path / "a.arrow", tmp_path / "a.tfrecord")
    assert report.types == {"id": "int64", "steps": "int64 steps"}
    convert(tmp_path / "a.tfrecord", tmp_path / "b.arrow")
    assert pa.ipc.open_file(tmp_path / "b.arrow").read_all().to_pylist() == table.to_pylist()


def test_schema_and_columns_choose_and_check():
    table = pa.table({"a": [1, 2], "b": ["x", None]})
    assert converted(table, columns=["b"])[0] == [{"b": [b"x"]}, {}]
    assert converted(table, columns=[])[0] == [{}, {}]
    schema = {"a": pr.FixedLenFeature([], np.float32)}
    rows, report = converted(table, schema=schema)
    assert (rows, report.types) == ([{"a": [1.0]}, {"a": [2.0]}], {"a": "float"})
    for wrong, words in [
        ({"b": pr.FixedLenFeature([], bytes)}, "row 1: feature 'b': is missing"),
        ({"a": pr.FixedLenFeature([], bytes)}, "feature 'a': holds int64, where the schema says bytes"),
        ({"a": pr.FixedLenFeature([2], np.int64)}, "row 0: feature 'a': has 1 values"),
        ({"c": pr.FixedLenFeature([], bytes)}, "there is no column 'c'; there is 'a', 'b'"),
    ]:
        with pytest.raises(pr.EncodeError, match=words):
            converted(table, schema=wrong)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([1, 1 << 63], pa.uint64()), "row 1: feature 'a': an integer does not fit"),
        (pa.array([[1], None, [], [1, None]]), "row 3: feature 'a': a null in a list"),
        (
            pa.array([[1, 2], None, [1, None]], pa.list_(pa.int64(), 2)),
            "row 2: feature 'a': a null in a list",
        ),
        (pa.array([[[1]], [[1], [2, None]]]), ": feature 'a': a null in a list"),
        (pa.array([[("x", 1)]], pa.map_(pa.string(), pa.int64())), "feature 'a': values of map<.*flatten"),
        (pa.array([[{"x": 1}]]), "feature 'a': values of struct"),
        (pa.array([[DAY]]), "feature 'a': values of timestamp"),
        (pa.array([0.5, 1e300]), "row 1: feature 'a': a float is too large"),
    ],
)
def test_what_an_example_cannot_hold_is_an_error_with_row_and_column(column, words):
    with pytest.raises(pr.EncodeError, match=words):
        converted(pa.table({"a": column}))


def test_rows_of_errors_are_those_of_the_file(monkeypatch):
    monkeypatch.setattr("purerecord.arrow.tables._ENCODED_ROWS", 2)
    monkeypatch.setattr("purerecord.tools.converters.tables.arrow_batches._ENCODED_ROWS", 2)
    table = pa.table({"a": pa.array([1] * 7 + [1 << 63], pa.uint64()), "b": [1] * 7 + [None]})
    with pytest.raises(pr.EncodeError, match="row 7: feature 'a'"):
        converted(table)
    with pytest.raises(pr.EncodeError, match="row 7: feature 'b'"):
        converted(table, schema={"b": pr.FixedLenFeature([], np.int64)})
    table = pa.table({"a": [[1]] * 7 + [[None]]})
    for schema in (None, {"a": pr.VarLenFeature(np.int64)}):
        with pytest.raises(pr.EncodeError, match="row 7: feature 'a': a null in a list"):
            converted(table, schema=schema)


def test_floats_can_be_required_to_be_exact():
    assert converted(pa.table({"a": [0.5]}), floats="exact")[0] == [{"a": [0.5]}]
    with pytest.raises(pr.EncodeError, match=r"feature 'a': .*exactly"):
        converted(pa.table({"a": [0.1]}), floats="exact")


def test_several_files_have_the_same_columns(tmp_path):
    for name, table in {
        "1": pa.table({"a": [1], "b": ["x"]}),
        "2": pa.table({"b": ["y"], "a": [2]}),
        "3": pa.table({"a": [1]}),
        "4": pa.table({"a": [0.5], "b": ["x"]}),
    }.items():
        with pa.ipc.new_file(tmp_path / f"{name}.arrow", table.schema) as writer:
            writer.write_table(table)
    out = tmp_path / "a.tfrecord"
    convert(tmp_path / "[12].arrow", out)
    assert [pr.decode_example(record)["a"].tolist() for record in pr.read_records(out)] == [[1], [2]]
    with pytest.raises(pr.EncodeError, match=r"3\.arrow: the columns differ .*: b"):
        convert(tmp_path / "[123].arrow", out)
    with pytest.raises(pr.EncodeError, match=r"4\.arrow: feature 'a': is double, and int64 in the first"):
        convert(tmp_path / "[124].arrow", out)
    names = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(pr.EncodeError, match="feature 'a': is the name of several columns"):
        converted(names)


def written(path, *rows):
    with pr.TFRecordWriter(path) as writer:
        writer.write_many([pr.encode_example(row) for row in rows])
    return path


def test_strings_are_text_if_all_are_utf8(tmp_path):
    source = written(
        tmp_path / "a.tfrecord", {"t": "é", "b": b"\xff", "k": b"x"}, {"t": "", "b": b"y", "k": b""}
    )
    report = convert(source, tmp_path / "a.arrow", binary=["k"])
    assert report.types == {"b": "bytes", "k": "bytes", "t": "text"}
    table = pa.ipc.open_file(tmp_path / "a.arrow").read_all()
    assert table.schema.field("t").type == pa.large_string()
    assert table.schema.field("k").type == pa.large_binary()
    with pytest.raises(pr.SchemaError, match="no record has it"):
        convert(source, tmp_path / "a.arrow", binary=["other"])


def test_columns_of_a_stream_are_those_of_its_first_records(tmp_path, monkeypatch):
    monkeypatch.setattr("purerecord.tools.converters.job._BATCH_RECORDS", 1)

    def streamed(*rows):
        out = io.BytesIO()
        data = written(tmp_path / "a.tfrecord", *rows).read_bytes()
        report = convert(io.BytesIO(data), out, from_format="tfrecord", to_format="arrow")
        assert "a stream" in report.notes[0]
        return pa.ipc.open_stream(out.getvalue()).read_all().to_pylist()

    assert streamed({"a": 1}, {}, {"a": 2}) == [{"a": 1}, {"a": None}, {"a": 2}]
    for odd, words in [
        ({"b": 1}, "comes after the first records"),
        ({"a": [1, 2]}, "holds 2 values|has 2 values|2"),
        ({"a": 0.5}, "holds a list of float"),
    ]:
        with pytest.raises(pr.SchemaError, match=words):
            streamed({"a": 1}, odd)
    with pytest.raises(pr.SchemaError, match="not UTF-8"):
        streamed({"a": "x"}, {"a": b"\xff"})


def test_records_without_features_are_no_table(tmp_path):
    with pytest.raises(pr.SchemaError, match="no columns to write"):
        convert(written(tmp_path / "a.tfrecord", {}), tmp_path / "a.arrow")
