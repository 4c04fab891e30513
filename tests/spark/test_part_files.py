"""What tasks write, and the commit: each row once, the old files until the new ones are there."""

from __future__ import annotations

import decimal
import os
from typing import Any

import pytest

import purerecord as pr
from purerecord.errors import EncodeError
from tests.support.interop import interop

pa = interop("pyarrow")
from purerecord.spark.options import write_options  # noqa: E402
from purerecord.spark.part_files import FileWriter  # noqa: E402 - needs pyarrow

IDS = pa.schema([("id", pa.int64())])


def batch(*ids: int) -> Any:
    return pa.record_batch([pa.array(ids, pa.int64())], schema=IDS)


def job(path, schema: Any = IDS, *, overwrite: bool = False, **options: str) -> FileWriter:
    made = FileWriter(schema, write_options({"path": str(path), **options}), overwrite)
    made.begin()
    return made


def names(path) -> list[str]:
    return sorted(os.listdir(path))


def ids(path) -> list[int]:
    files = [str(path / name) for name in names(path) if name.startswith("part-")]
    return sorted(int(pr.decode_example(record)["id"][0]) for record in pr.read_records(files))


def saved(path, *batches: Any, **options: Any) -> None:
    write = job(path, **options)
    write.commit([file for number, one in enumerate(batches) for file in write.write(number, [one])])


def test_files_have_sparks_names_and_success_comes_last(tmp_path):
    write = job(tmp_path / "out", codec="gzip")
    files = write.write(0, [batch(1), batch(2)]) + write.write(3, [batch(3)]) + write.write(4, [])
    assert names(tmp_path / "out") == [write.hidden]
    assert write.hidden.startswith("_")
    write.commit(files)
    expected = [f"part-{number:05d}-{write.job}-c000.tfrecord.gz" for number in (0, 3)]
    assert names(tmp_path / "out") == ["_SUCCESS", *expected]
    assert ids(tmp_path / "out") == [1, 2, 3]


def test_a_task_that_ran_twice_leaves_one_copy(tmp_path):
    write = job(tmp_path / "out")
    first = write.write(0, [batch(1, 2)])
    again = write.write(0, [batch(1, 2)])
    assert [file.name for file in first] == [file.name for file in again]
    write.commit(again)
    assert ids(tmp_path / "out") == [1, 2]
    assert len(names(tmp_path / "out")) == 2


def test_a_task_that_fails_leaves_nothing(tmp_path):
    def failing():
        yield batch(1)
        raise RuntimeError("lost")

    write = job(tmp_path / "out", maxRecordsPerFile="1")
    with pytest.raises(RuntimeError, match="lost"):
        write.write(0, failing())
    assert names(tmp_path / "out" / write.hidden) == []
    write.abort()
    assert not (tmp_path / "out").exists()
    write.abort()


def test_a_task_that_runs_on_after_its_job_has_failed_makes_nothing(tmp_path):
    def failing():
        yield batch(1)
        write.abort()
        yield batch(2)

    write = job(tmp_path / "out", maxRecordsPerFile="1")
    with pytest.raises(FileNotFoundError):
        write.write(0, failing())
    assert not (tmp_path / "out").exists()


def test_files_have_at_most_so_many_records(tmp_path):
    saved(tmp_path / "out", batch(*range(25)), batch(), maxRecordsPerFile="10")
    found = [name for name in names(tmp_path / "out") if name.startswith("part-")]
    assert [name[-13:] for name in found] == [f"c{number:03d}.tfrecord" for number in range(3)]
    assert [sum(1 for _ in pr.read_records(str(tmp_path / "out" / name))) for name in found] == [10, 10, 5]
    assert ids(tmp_path / "out") == list(range(25))


# --- What is there already --------------------------------------------------------------------------


def test_append_keeps_and_overwrite_replaces_what_is_there(tmp_path):
    out = tmp_path / "out"
    saved(out, batch(1))
    saved(out, batch(2))
    assert ids(out) == [1, 2]
    (out / "old").mkdir()
    (out / "old" / "file").write_bytes(b"")
    (out / ".kept").write_bytes(b"")
    saved(out, batch(3), overwrite=True)
    assert ids(out) == [3]
    assert [name for name in names(out) if not name.startswith("part-")] == [".kept", "_SUCCESS"]


def test_overwrite_keeps_the_old_files_until_all_new_ones_have_their_names(tmp_path, monkeypatch):
    out = tmp_path / "out"
    saved(out, batch(1))
    before = names(out)
    write = job(out, overwrite=True)
    files = write.write(0, [batch(2)]) + write.write(1, [batch(3)])
    replace, moves = os.replace, []

    def breaks(source, target):
        if moves:
            raise OSError(28, "No space left on device")
        moves.append(target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", breaks)
    with pytest.raises(OSError, match="No space left"):
        write.commit(files)
    write.abort()
    assert len(moves) == 1
    assert names(out) == before
    assert ids(out) == [1]


def test_hidden_folder_that_cannot_be_removed_does_not_undo_a_complete_write(tmp_path, monkeypatch):
    def refuses(*_: object) -> None:
        raise PermissionError(13, "no")

    write = job(tmp_path / "out")
    files = write.write(0, [batch(1)])
    monkeypatch.setattr("shutil.rmtree", refuses)
    write.commit(files)
    assert ids(tmp_path / "out") == [1]
    assert "_SUCCESS" in names(tmp_path / "out")


def test_error_and_ignore_for_a_path_that_exists(tmp_path):
    out = tmp_path / "out"
    for mode in ("errorifexists", "ignore"):
        saved(out / mode, batch(1), saveMode=mode)
        assert ids(out / mode) == [1]
    with pytest.raises(FileExistsError, match="set saveMode to append or ignore"):
        job(out / "ignore", saveMode="errorifexists")
    saved(out / "ignore", batch(2), saveMode="ignore")
    assert ids(out / "ignore") == [1]
    saved(out / "ignore", batch(3), overwrite=True, saveMode="errorifexists")
    assert ids(out / "ignore") == [3]


def test_file_in_place_of_the_folder_is_an_error_before_any_task(tmp_path):
    (tmp_path / "out").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        job(tmp_path / "out", overwrite=True)


# --- Rows -------------------------------------------------------------------------------------------


def payloads(path, schema: Any, rows: list[dict[str, Any]], **options: str) -> list[bytes]:
    write = job(path, schema, **options)
    write.commit(write.write(0, [pa.RecordBatch.from_pylist(rows, schema)]))
    return list(pr.read_records([str(path / name) for name in names(path) if name.startswith("part-")]))


def test_rows_of_examples(tmp_path):
    schema = pa.schema(
        [
            ("d", pa.decimal128(5, 2)),
            ("ds", pa.list_(pa.decimal128(5, 2))),
            ("flag", pa.bool_()),
            ("words", pa.list_(pa.string())),
            ("none", pa.null()),
        ]
    )
    half = decimal.Decimal("0.50")
    rows = [
        {"d": half, "ds": [half], "flag": True, "words": ["é", ""], "none": None},
        {"d": None, "ds": None, "flag": None, "words": [], "none": None},
    ]
    first, second = map(pr.Example.FromString, payloads(tmp_path / "out", schema, rows))
    assert sorted(first.features.feature) == ["d", "ds", "flag", "words"]
    assert first.features.feature["d"].float_list.value == [0.5]
    assert first.features.feature["flag"].int64_list.value == [1]
    assert first.features.feature["words"].bytes_list.value == ["é".encode(), b""]
    assert sorted(second.features.feature) == ["words"]
    assert second.features.feature["words"].WhichOneof("kind") == "bytes_list"


def test_arrays_of_arrays_are_feature_lists(tmp_path):
    schema = pa.schema([("id", pa.int64()), ("steps", pa.list_(pa.list_(pa.float32())))])
    rows = [{"id": 1, "steps": [[0.5], []]}, {"id": None, "steps": None}]
    first, second = map(pr.SequenceExample.FromString, payloads(tmp_path / "out", schema, rows))
    assert [list(step.float_list.value) for step in first.feature_lists.feature_list["steps"].feature] == [
        [0.5],
        [],
    ]
    assert not second.feature_lists.feature_list
    assert not second.context.feature


@pytest.mark.parametrize("dtype", [pa.binary(), pa.string(), pa.large_binary()])
def test_byte_arrays_are_written_as_they_are(tmp_path, dtype):
    schema = pa.schema([("byteArray", dtype)])
    rows = [{"byteArray": value} for value in (b"a", b"", b"long" * 99)]
    values = (
        [dict(row, byteArray=row["byteArray"].decode()) for row in rows] if dtype == pa.string() else rows
    )
    assert payloads(tmp_path / "out", schema, values, recordType="ByteArray") == [b"a", b"", b"long" * 99]
    with pytest.raises(EncodeError, match="record 1: a null is no record"):
        payloads(tmp_path / "null", schema, [values[0], {"byteArray": None}], recordType="ByteArray")


@pytest.mark.parametrize(
    ("fields", "options", "message"),
    [
        ([("t", pa.timestamp("us"))], {}, "cannot be stored in an Example"),
        ([("s", pa.struct([("x", pa.int64())]))], {}, "flatten the table first"),
        ([("x", pa.list_(pa.list_(pa.int64())))], {"recordType": "Example"}, "set recordType to it"),
        ([("x", pa.list_(pa.list_(pa.list_(pa.int64()))))], {}, "more than two levels"),
        ([("a", pa.int64()), ("a", pa.int64())], {}, "the name of several columns"),
        ([], {}, "no columns"),
        ([("a", pa.int64())], {"recordType": "ByteArray"}, "takes one column, of binary or string"),
        ([("a", pa.binary()), ("b", pa.binary())], {"recordType": "ByteArray"}, "takes one column"),
    ],
)
def test_columns_that_no_record_holds_are_an_error_before_any_task(tmp_path, fields, options, message):
    with pytest.raises(EncodeError, match=message):
        job(tmp_path / "out", pa.schema(fields), **options)
    assert not (tmp_path / "out").exists()


def test_null_in_an_array_is_an_error(tmp_path):
    schema = pa.schema([("x", pa.list_(pa.int64()))])
    with pytest.raises(EncodeError, match=r"'x'.*a null in a list cannot be stored"):
        payloads(tmp_path / "out", schema, [{"x": [1, None]}])


def test_remote_folder():
    store = interop("fsspec").filesystem("memory")
    try:
        for numbers in ([1, 2], [3]):
            write = job("memory://spark-files/out", overwrite=True)
            write.commit(write.write(0, [batch(*numbers)]))
        found = sorted(name.rsplit("/", 1)[1] for name in store.find("/spark-files"))
        assert [name[:6] for name in found] == ["_SUCCE", "part-0"]
        assert sum(1 for _ in pr.read_records(f"memory://spark-files/out/{found[1]}")) == 1
    finally:
        store.rm("/spark-files", recursive=True)
