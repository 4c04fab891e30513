"""``open_reader``: the batches are those of ``read_table``, and records of another form are errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from tests.support.interop import interop
from tests.support.legal_examples import example_batches, sequence_batches

pa = interop("pyarrow")
from purerecord import arrow  # noqa: E402 - needs pyarrow
from purerecord.arrow import tables  # noqa: E402


def written(path, records) -> str:
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(records)
    return str(path)


@given(records=example_batches() | sequence_batches())
def test_one_batch_is_what_read_table_gives(tmp_path_factory, records):
    path = written(tmp_path_factory.mktemp("stream") / "a.tfrecord", records)
    try:
        whole = arrow.read_table(path)
    except pr.SchemaError:
        with pytest.raises(pr.SchemaError):
            arrow.open_reader(path)
        return
    with arrow.open_reader(path) as reader:
        assert reader.schema == whole.schema
        assert repr(reader.read_all().to_pydict()) == repr(whole.to_pydict())  # nan is not equal to itself


@given(counts=st.lists(st.integers(0, 3), min_size=1, max_size=30), first=st.integers(1, 30))
def test_batches_have_the_form_of_the_first_or_are_an_error(tmp_path_factory, counts, first):
    rows = [{"id": i, "tags": [b"x"] * count} for i, count in enumerate(counts)]
    path = written(tmp_path_factory.mktemp("stream") / "a.tfrecord", map(pr.encode_example, rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_CHUNK_RECORDS", first)
        whole = arrow.read_table(path)
        # No value is no type, which is null.
        form, others = set(counts[:first]) - {0}, set(counts) - {0}
        reason = "a stream keeps their form" if form else "the first records"
        with arrow.open_reader(path) as reader:
            if len(form) > 1 or form == others:
                assert reader.read_all().to_pydict() == whole.to_pydict()
                return
            with pytest.raises(pr.SchemaError, match=reason) as caught:
                reader.read_all()
            odd = next(i for i, count in enumerate(counts) if count and count not in form)
            assert (caught.value.feature, caught.value.record) == ("tags", odd)


def test_specs_and_columns_tell_the_types_of_later_records(tmp_path, monkeypatch):
    rows = [{"id": 1}, {"id": 2, "score": [0.5, 1.5]}, {"id": 3, "score": 2.0}]
    path = written(tmp_path / "a.tfrecord", map(pr.encode_example, rows))
    monkeypatch.setattr(tables, "_CHUNK_RECORDS", 1)
    with pytest.raises(pr.SchemaError, match="none of the first records has it") as caught:
        arrow.open_reader(path).read_all()
    assert (caught.value.feature, caught.value.record) == ("score", 1)
    assert arrow.open_reader(path, columns=["id"]).read_all().to_pydict() == {"id": [1, 2, 3]}
    specs = {"id": pr.FixedLenFeature([], np.int64), "score": pr.RaggedFeature(np.float32)}
    found = arrow.open_reader(path, specs).read_all()
    assert found.to_pydict() == {"id": [1, 2, 3], "score": [None, [0.5, 1.5], [2.0]]}


@given(first=example_batches() | sequence_batches(), later=example_batches() | sequence_batches())
def test_files_that_are_read_apart_get_one_schema_or_the_same_error(tmp_path_factory, first, later):
    folder = tmp_path_factory.mktemp("stream")
    paths = [written(folder / "a.tfrecord", first), written(folder / "b.tfrecord", later)]

    def together():
        return arrow.open_reader(paths).read_all()

    def apart():
        tables = [arrow.open_reader(paths[0]).read_all()]
        tables.append(arrow.open_reader(paths[1], schema=tables[0].schema).read_all())
        return pa.concat_tables(tables)

    expected, feature = None, None
    try:
        expected = together()
    except pr.SchemaError as error:
        feature = error.feature
    if expected is None:
        with pytest.raises(pr.SchemaError) as caught:
            apart()
        assert caught.value.feature == feature
    elif len(first):  # else the first batch is that of the second file
        assert apart().schema == expected.schema
        assert repr(apart().to_pydict()) == repr(expected.to_pydict())


def test_a_feature_that_becomes_a_feature_list_later_is_an_error_and_not_null(tmp_path):
    records = [pr.encode_example({"a": 1}), pr.encode_sequence_example({}, {"a": [[1], [2]]})]
    paths = [written(tmp_path / str(i), [record]) for i, record in enumerate(records)]
    for order in (paths, paths[::-1]):
        with pytest.raises(pr.SchemaError, match="is a context feature and a feature list"):
            arrow.open_reader(order).read_all()


def test_a_schema_is_that_of_a_reader(tmp_path):
    path = written(tmp_path / "a.tfrecord", [pr.encode_example({"id": 1, "name": "x"})])
    schema = arrow.open_reader(path).schema
    ids = pa.schema([schema.field("id")])
    assert arrow.open_reader(path, columns=["id"], schema=ids).read_all().to_pydict() == {"id": [1]}
    with pytest.raises(pr.SchemaError, match="none of the first records has it"):
        arrow.open_reader(path, schema=ids).read_all()
    with pytest.raises(ValueError, match="give no features"):
        arrow.open_reader(path, {"id": "int64"}, schema=schema)
    with pytest.raises(ValueError, match="the schema has the columns"):
        arrow.open_reader(path, columns=["name"], schema=schema)
    with pytest.raises(TypeError, match="no reader gives values of int32"):
        arrow.open_reader(path, schema=pa.schema({"id": pa.int32()}))


def test_a_column_that_comes_later_is_given_by_features(tmp_path):
    paths = [
        written(tmp_path / name, [pr.encode_example(row)])
        for name, row in (("1", {"a": 1}), ("2", {"a": 1, "b": 2.5}))
    ]
    with pytest.raises(pr.SchemaError, match=r"'b': none of the first records has it, .*; give features"):
        arrow.open_reader(paths, columns=["a", "b"])
    with pytest.raises(pr.SchemaError, match=r"'b': record 0: none of the first records .* or give features"):
        arrow.open_reader(paths).read_all()
    features = {"a": "int64", "b": pr.FixedLenFeature([], np.float32, default_value=0)}
    assert arrow.open_reader(paths, features).read_all()["b"].to_pylist() == [0, 2.5]


def test_text_is_asked_for(tmp_path):
    path = written(tmp_path / "a.tfrecord", [pr.encode_example({"name": "cat"}), pr.encode_example({})])
    assert arrow.open_reader(path, text=True).read_all()["name"].to_pylist() == ["cat", None]
    with pytest.raises(pr.SchemaError, match="no record has it"):
        arrow.open_reader(path, text=["other"])


def test_files_are_read_as_the_batches_are_asked_for(tmp_path):
    paths = [written(tmp_path / name, [pr.encode_example({"id": i})]) for i, name in enumerate("abc")]
    reader = arrow.open_reader(paths)
    (tmp_path / "c").write_bytes(b"damaged, but not read yet")
    assert reader.read_next_batch().to_pydict() == {"id": [0]}
    assert reader.read_next_batch().to_pydict() == {"id": [1]}
    with pytest.raises(pr.CorruptionError):
        reader.read_next_batch()


def test_no_records_are_a_stream_without_batches(tmp_path):
    path = written(tmp_path / "a.tfrecord", [])
    assert arrow.open_reader(path).read_all().num_rows == 0
    specs = {"id": pr.FixedLenFeature([], np.int64)}
    assert arrow.open_reader(path, specs).schema.names == ["id"]


def test_whoever_knows_the_arrow_c_stream_takes_it(tmp_path):
    path = written(tmp_path / "a.tfrecord", [pr.encode_example({"id": i}) for i in range(5)])
    polars = interop("polars")
    assert polars.DataFrame(arrow.open_reader(path))["id"].to_list() == [0, 1, 2, 3, 4]
    duckdb = interop("duckdb")
    reader = arrow.open_reader(path)  # duckdb finds it by its name
    assert duckdb.sql("select sum(id) from reader").fetchall() == [(10,)]
    assert reader is not None
    with pr.TFRecordWriter(tmp_path / "b") as writer:
        writer.write_many([])
    arrow.write_table(arrow.open_reader(path), tmp_path / "b")
    assert arrow.read_table(tmp_path / "b").to_pydict() == {"id": [0, 1, 2, 3, 4]}


@given(
    records=example_batches() | sequence_batches(),
    cuts=st.lists(st.integers(0, 3000), max_size=3),
    asked=st.sampled_from([arrow.read_table, arrow.open_reader]),
)
def test_parts_of_a_file_have_the_rows_of_the_file(tmp_path_factory, records, cuts, asked):
    path = written(tmp_path_factory.mktemp("parts") / "a.tfrecord", records)
    edges = [0, *sorted(cuts), None]
    rows = 0
    for i in range(len(edges) - 1):
        part = edges[i], edges[i + 1]
        batches = list(pr.read_batches(path, byte_range=part))
        expected = written(path + f"-{i}", [record for batch in batches for record in batch])
        try:
            whole = arrow.read_table(expected)
        except pr.SchemaError:
            with pytest.raises(pr.SchemaError):
                asked(path, byte_range=part)
            continue
        found = asked(path, byte_range=part)
        table = found if isinstance(found, pa.Table) else found.read_all()
        assert repr(table.to_pydict()) == repr(whole.to_pydict())
        rows += table.num_rows
    assert rows <= len(records)
