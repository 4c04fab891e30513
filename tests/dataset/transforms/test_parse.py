"""parse in a chain: small batches are parsed together, and nobody can tell."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset
from tests.support.damage import HEADER, frames, starts
from tests.support.dataset_properties import check, elements
from tests.support.exact import exact, outcome

SPEC = {
    "id": pr.FixedLenFeature([], np.int64),
    "x": pr.FixedLenFeature([2], np.float32),
    "tags": pr.RaggedFeature(np.int64),
    "name": pr.FixedLenFeature([], bytes),
}
SEQUENCE = {"tags": pr.FixedLenSequenceFeature([], np.int64, allow_missing=True)}
SPARSE = {"tags": pr.VarLenFeature(np.int64), "id": SPEC["id"]}


def records(count: int) -> list[bytes]:
    return [
        pr.encode_example({"id": n, "x": [n / 2, -n / 2], "tags": list(range(n % 4)), "name": b"n%d" % n})
        for n in range(count)
    ]


@pytest.fixture
def path(tmp_path):
    name = str(tmp_path / "examples")
    with pr.TFRecordWriter(name) as writer:
        writer.write_many(records(50))
    return name


def one_by_one(path: str, size: int, spec: dict) -> list:
    payloads = list(pr.read_records(path))
    batches = [payloads[begin : begin + size] for begin in range(0, len(payloads), size)]
    return [comparable(pr.parse_example(batch, spec)) for batch in batches]


def comparable(batch: dict) -> dict:
    return {
        name: column.to_list()
        if isinstance(column, pr.Ragged)
        else column.to_dense().tolist()
        if isinstance(column, pr.Sparse)
        else column.tolist()
        for name, column in batch.items()
    }


@pytest.mark.light(8)
@pytest.mark.parametrize("spec", [SPEC, SEQUENCE, SPARSE], ids=["together", "padded", "sparse"])
@pytest.mark.parametrize("size", [1, 3, 7, 50, 64])
def test_batches_are_what_parse_example_gives(spec, size, path):
    dataset = TFRecordDataset(path).batch(size).parse(spec).map(comparable)
    assert check(dataset, every=11) == one_by_one(path, size, spec)


def test_remainder_is_dropped(path):
    dataset = TFRecordDataset(path).shuffle(9).batch(7, drop_remainder=True).parse(SPEC).map(comparable)
    assert [len(batch["id"]) for batch in check(dataset)] == [7] * 7


def test_batches_before_a_bad_record_come_first(path, tmp_path):
    payloads = records(50)
    payloads[31] = pr.encode_example({"id": 31, "x": [1.0], "tags": [1], "name": b"short x"})
    other = str(tmp_path / "other")
    with pr.TFRecordWriter(other) as writer:
        writer.write_many(payloads)
    iterator = iter(TFRecordDataset(other).batch(4).parse(SPEC))
    assert sum(len(batch["id"]) for _, batch in zip(range(7), iterator, strict=False)) == 28
    with pytest.raises(pr.SchemaError, match=r"'x'.*31"):
        elements(iterator)


def test_single_examples_and_lists_of_bytes_are_parsed_too(path):
    ids = [int(row["id"]) for row in TFRecordDataset(path).parse({"id": SPEC["id"]})]
    assert ids == list(range(50))
    batches = Dataset.from_tensor_slices([records(3), records(2)]).parse({"id": SPEC["id"]})
    assert [batch["id"].tolist() for batch in batches] == [[0, 1, 2], [0, 1]]


def test_rows_of_batches_do_not_share_their_numbers(path):
    first, second = list(TFRecordDataset(path).batch(25).parse(SPEC))
    first["x"][:] = -1
    assert second["x"].min() > -50
    assert first["id"].flags.writeable == second["id"].flags.writeable


@pytest.mark.parametrize("shuffled", [False, True])
def test_error_in_a_batch_of_several_files_names_file_and_record(shuffled, tmp_path):
    paths = [str(tmp_path / name) for name in ("first", "second")]
    for path in paths:
        payloads = records(20)
        if path == paths[1]:
            payloads[13] = pr.encode_example({"id": "thirteen"})
        with pr.TFRecordWriter(path) as writer:
            writer.write_many(payloads)
    dataset = TFRecordDataset(paths)
    if shuffled:
        dataset = dataset.global_shuffle(seed=3)
    with pytest.raises(pr.SchemaError) as caught:
        list(dataset.batch(7).parse({"id": SPEC["id"]}))
    assert (caught.value.path, caught.value.record) == (paths[1], 13)


@pytest.mark.parametrize("size", [1, 2, 10, 20])
@pytest.mark.parametrize("prefetch", [False, True])
def test_batches_before_damage_come_before_its_error(size, prefetch, tmp_path):
    payloads = records(50)
    data = bytearray(frames(payloads))
    data[starts(payloads)[31] + HEADER + 2] ^= 1
    path = tmp_path / "damaged"
    path.write_bytes(data)
    dataset = TFRecordDataset(path).batch(size).parse({"id": SPEC["id"]})
    batches = iter(dataset.prefetch(2) if prefetch else dataset)
    for number in range(31 // size):
        assert next(batches)["id"].tolist() == list(range(number * size, (number + 1) * size))
    with pytest.raises(pr.ChecksumError, match="record 31"):
        next(batches)


COLUMN_SPEC = {"id": pr.FixedLenFeature([], np.int64), "x": pr.FixedLenFeature([2], np.float32)}


def test_parse_after_batch_gives_columns_and_before_it_gives_the_same(tmp_path):
    path = str(tmp_path / "examples")
    columns = {"id": np.arange(10), "x": np.arange(20, dtype=np.float32).reshape(10, 2)}
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(pr.encode_examples(columns))
    whole = check(TFRecordDataset(path).shuffle(4).batch(3).parse(COLUMN_SPEC))
    assert check(TFRecordDataset(path).shuffle(4).parse(COLUMN_SPEC).batch(3)) == whole
    assert check(TFRecordDataset(path).shuffle(4).batch(5).parse(COLUMN_SPEC).unbatch().batch(3)) == whole
    batch = next(iter(TFRecordDataset(path).batch(10).parse(COLUMN_SPEC)))
    assert batch["id"].tolist() == columns["id"].tolist()
    assert batch["x"].dtype == np.float32
    assert batch["x"].shape == (10, 2)


@pytest.mark.parametrize("spec", [SPEC, SPARSE])
def test_of_a_pair_of_path_and_record_the_record_is_parsed(path, spec):
    pairs = TFRecordDataset(path, with_path=True)
    batches = list(pairs.batch(8).parse(spec))
    assert [comparable(columns) for _, columns in batches] == one_by_one(path, 8, spec)
    assert [set(paths) for paths, _ in batches] == [{path}] * 7
    single = list(pairs.parse(spec))
    assert ({name for name, _ in single}, [values["id"] for _, values in single]) == ({path}, list(range(50)))
    check(pairs.shuffle(9).batch(8).parse({"id": SPEC["id"]}))


def test_the_name_of_a_dtype_is_short_for_one_value(path):
    short, long = {"id": "int64", "name": "bytes"}, {"id": SPEC["id"], "name": SPEC["name"]}
    for batched in (TFRecordDataset(path), TFRecordDataset(path).batch(7)):
        assert elements(batched.parse(short)) == elements(batched.parse(long))
    with pytest.raises(pr.SchemaError, match="'x'"):
        list(TFRecordDataset(path).parse({"x": "float32"}))  # two values, not one
    with pytest.raises((TypeError, ValueError), match=r"'id'.*int63"):
        TFRecordDataset(path).parse({"id": "int63"})


def test_without_specs_they_are_inferred_from_the_records(path):
    schema = pr.infer_schema(records(50))
    for dataset in (
        TFRecordDataset(path).batch(7),
        TFRecordDataset(path).shuffle(9).take(40).batch(7).prefetch(1),
        TFRecordDataset(path).filter(len).repeat(2).batch(7),
    ):
        inferred = pickle.loads(pickle.dumps(dataset.parse()))
        assert elements(inferred.map(comparable)) == elements(dataset.parse(schema).map(comparable))
    (row, *_) = TFRecordDataset(path, with_path=True).parse()
    assert row[0] == path
    assert set(row[1]) == set(SPEC)


def test_specs_are_not_inferred_where_no_records_of_files_come(path, tmp_path):
    for dataset in (
        Dataset.from_tensor_slices(records(3)),
        TFRecordDataset(path).map(bytes.upper),
        TFRecordDataset(path).batch(2).parse(SPEC),
    ):
        with pytest.raises(ValueError, match="give the specs"):
            dataset.parse()
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(ValueError, match="has none; give the specs"):
        TFRecordDataset(empty).parse()
    assert len(list(TFRecordDataset([empty, path]).parse())) == 50


def test_specs_of_sequence_examples_are_not_inferred_because_their_feature_lists_would_be_lost(tmp_path):
    path = tmp_path / "clips.tfrecord"
    with pr.TFRecordWriter(path) as writer:
        writer.write(pr.encode_sequence_example({"label": 1}, {}))
        writer.write(pr.encode_sequence_example({"label": 1}, {"frames": [[0.5]]}))
    with pytest.raises(ValueError, match=r"clips\.tfrecord.*SequenceExamples.*feature lists would be lost"):
        TFRecordDataset(path).parse()


def test_a_record_that_does_not_fit_the_inferred_specs_is_an_error(tmp_path):
    path = str(tmp_path / "late")
    with pr.TFRecordWriter(path) as writer:
        writer.write_many([pr.encode_example({"a": 1})] * 1000 + [pr.encode_example({"a": [1, 2]})])
    with pytest.raises(pr.SchemaError, match="'a'") as caught:
        list(TFRecordDataset(path).batch(100).parse())
    assert caught.value.record == 1000


def test_a_path_names_a_schema_in_json(path, tmp_path):
    file = tmp_path / "schema.json"
    file.write_text(pr.schema_to_json(SPEC))
    dataset = TFRecordDataset(path).batch(7)
    expected = elements(dataset.parse(SPEC).map(comparable))
    for name in (file, str(file)):
        assert elements(dataset.parse(name).map(comparable)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"schema\.json: "),
        ('{"label": "int64"}', r"schema\.json: not a schema"),
        (pr.schema_to_json(({"a": SPEC["id"]}, {})), r"schema\.json: .*SequenceExamples"),
    ],
)
def test_the_error_of_a_wrong_schema_names_its_file(text, message, path, tmp_path):
    file = Path(tmp_path / "schema.json")
    file.write_text(text)
    with pytest.raises(ValueError, match=message):
        TFRecordDataset(path).parse(file)


def test_bytes_columns_are_those_of_parse_example_in_small_batches_too(path):
    dataset = TFRecordDataset(path).batch(7)
    for chosen in (True, ["name"], ("name",)):
        batches = list(dataset.parse(SPEC, bytes_columns=chosen))
        assert all(isinstance(batch["name"], pr.BytesColumn) for batch in batches)
        assert [comparable(batch) for batch in batches] == one_by_one(path, 7, SPEC)
    names = [row["name"] for row in dataset.parse(SPEC, bytes_columns=True).unbatch()]
    assert names == [b"n%d" % number for number in range(50)]
    (first, *_) = TFRecordDataset(path).parse(SPEC, bytes_columns=True)
    assert first["name"] == b"n0"
    with pytest.raises(ValueError, match="'id', which is asked for as FixedLenFeature"):
        dataset.parse(SPEC, bytes_columns=["id"])
    with pytest.raises(TypeError, match="bytes_columns must be True"):
        dataset.parse(SPEC, bytes_columns="name")


def test_bytes_columns_pass_through_processes(path):
    dataset = TFRecordDataset([path, path]).batch(7).parse(SPEC, bytes_columns=True).parallel(2)
    batches = list(dataset)
    assert all(isinstance(batch["name"], pr.BytesColumn) for batch in batches)
    assert sorted(name for batch in batches for name in batch["name"]) == sorted(
        b"n%d" % number for number in [*range(50)] * 2
    )


# --- Records that are parsed one by one -------------------------------------------------------------

ONE_BY_ONE = (SPEC, SEQUENCE, SPARSE, COLUMN_SPEC)


def alone(payload: bytes, spec: dict) -> dict:
    """Parsed as a single record is: a bytearray is none of the objects that a chain hands out."""
    return pr.parse_single_example(bytearray(payload), spec)


@pytest.mark.parametrize("spec", ONE_BY_ONE)
def test_records_one_by_one_are_what_parse_single_example_gives(spec, path):
    expected = [exact(alone(payload, spec)) for payload in records(50)]
    whole = [exact(row) for row in TFRecordDataset(path).parse(spec)]
    assert whole == expected
    assert [
        exact(row) for row in TFRecordDataset(path).map(partial(pr.parse_single_example, features=spec))
    ] == (expected)
    assert check(TFRecordDataset(path).parse(spec).map(exact), every=13) == expected


@pytest.mark.parametrize("spec", ONE_BY_ONE)
@pytest.mark.parametrize("shuffled", [False, True])
def test_batches_of_them_are_what_stacking_gives(spec, shuffled, path):
    dataset = TFRecordDataset(path).shuffle(20, seed=1) if shuffled else TFRecordDataset(path)
    expected = outcome(lambda: list(dataset.map(partial(alone, spec=spec)).batch(12)))
    if expected[0] == "error":  # rows of several lengths make no batch
        with pytest.raises(ValueError, match=r"elements\['\w+'\] have different shapes"):
            list(dataset.parse(spec).batch(12))
        return
    assert outcome(lambda: list(dataset.parse(spec).batch(12))) == expected
    parse = partial(pr.parse_single_example, features=spec)
    assert outcome(lambda: list(dataset.map(parse).batch(12))) == expected
    assert outcome(lambda: list(dataset.parse(spec).shuffle(9, seed=2).batch(12))) == outcome(
        lambda: list(dataset.map(partial(alone, spec=spec)).shuffle(9, seed=2).batch(12))
    )


def test_one_bad_record_is_one_error_with_its_place(tmp_path):
    path = str(tmp_path / "bad")
    payloads = records(40)
    payloads[17], payloads[29] = pr.encode_example({"id": "seventeen"}), b"\xff"
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(payloads)
    for dataset in (
        TFRecordDataset(path).parse(COLUMN_SPEC),
        TFRecordDataset(path).map(partial(pr.parse_single_example, features=COLUMN_SPEC)),
    ):
        iterator = iter(dataset)
        assert [int(next(iterator)["id"]) for _ in range(17)] == list(range(17))
        with pytest.raises(pr.SchemaError) as caught:
            next(iterator)
        if caught.value.path is not None:
            assert (caught.value.path, caught.value.record) == (path, 17)
        else:
            assert "record 17" in caught.value.__notes__[0]
        assert [int(next(iterator)["id"]) for _ in range(11)] == list(range(18, 29))
        with pytest.raises(pr.DecodeError):
            next(iterator)
        assert [int(row["id"]) for row in iterator] == list(range(30, 40))


def test_records_of_others_are_not_parsed(path):
    dataset = TFRecordDataset(path).parse(COLUMN_SPEC)
    parts = [[int(row["id"]) for row in dataset.iterator(rank=rank, world_size=3)] for rank in range(3)]
    assert parts == [list(range(rank, 50, 3)) for rank in range(3)]


def test_a_kept_row_does_not_keep_the_others(path):
    row = next(iter(TFRecordDataset(path).parse(SPEC)))
    assert row["x"].base is None
    assert row["tags"].base is None
    (batch, *_) = TFRecordDataset(path).parse(COLUMN_SPEC).batch(5)
    assert batch["x"].base is None
