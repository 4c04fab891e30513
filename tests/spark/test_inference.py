"""The schema that records have: the table of kinds and forms, and which records are seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purerecord as pr
from purerecord.errors import DecodeError, SchemaError
from tests.support.interop import interop

interop("pyarrow")
from purerecord.spark.inference import infer_schema  # noqa: E402 - needs pyarrow
from purerecord.spark.options import read_options  # noqa: E402


def array(inner: Any) -> dict[str, Any]:
    return {"type": "array", "elementType": inner, "containsNull": True}


def inferred(paths: list[str], **options: str) -> dict[str, Any]:
    schema = infer_schema(paths, read_options({"path": "unused", **options}))
    assert schema["type"] == "struct"
    assert all(field["nullable"] and field["metadata"] == {} for field in schema["fields"])
    return {field["name"]: field["type"] for field in schema["fields"]}


def written(tmp_path, *payloads: bytes, name: str = "a") -> str:
    path = str(tmp_path / name)
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(payloads)
    return path


def example(**features: Any) -> bytes:
    return pr.encode_example(features)


NO_INTS = pr.Feature(int64_list=pr.Int64List())


def with_features(**features: pr.Feature) -> bytes:
    return pr.Example(features=pr.Features(feature=features)).SerializeToString()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([example(x=1), example(x=2)], "long"),
        ([example(x=1), example()], "long"),
        ([example(x=1), example(x=[1, 2])], array("long")),
        ([example(x=1), with_features(x=NO_INTS)], array("long")),
        ([example(), example(x=0.5)], "float"),
        ([example(x=[0.5, 1.0])], array("float")),
        ([example(x="é"), example(x="")], "string"),
        ([example(x="é"), example(x=b"\xff")], "binary"),
        ([example(x=["a", "b"])], array("string")),
        ([example(x=["a", b"\xff"])], array("binary")),
        ([with_features(x=pr.Feature())], "string"),
        ([with_features(x=pr.Feature()), example(x=1)], "long"),
    ],
)
def test_type_of_a_feature(tmp_path, rows, expected):
    assert inferred([written(tmp_path, *rows)]) == {"x": expected}
    assert inferred([written(tmp_path, *rows)], recordType="Example", inferAll="true") == {"x": expected}


def test_types_of_sequence_examples(tmp_path):
    payload = pr.encode_sequence_example({"id": 1}, {"ints": [[1], [2]], "words": [["a"], []], "none": []})
    path = written(tmp_path, payload)
    for record_type in ("", "SequenceExample"):
        assert inferred([path], recordType=record_type) == {
            "id": "long",
            "ints": array(array("long")),
            "none": array(array("string")),
            "words": array(array("string")),
        }
    with pytest.raises(SchemaError, match="set recordType to SequenceExample"):
        inferred([path], recordType="Example")


def test_byte_arrays_need_no_look_at_the_files():
    assert inferred(["missing"], recordType="ByteArray") == {"byteArray": "binary"}


def test_columns_choose_and_order(tmp_path):
    path = written(tmp_path, example(a=1, b=2, c=3))
    assert list(inferred([path], columns="c,a")) == ["c", "a"]
    with pytest.raises(SchemaError, match="'d': none of the records seen has it"):
        inferred([path], columns="a,d")


def test_first_records_of_some_files_are_seen_or_all_records(tmp_path):
    paths = [written(tmp_path, example(x=number), name=str(number)) for number in range(20)]
    late = written(tmp_path, example(x=1), example(y=1), name="8")  # not among the eight that are seen
    assert late == paths[8]
    assert inferred(paths) == {"x": "long"}
    assert inferred(paths, inferAll="true") == {"x": "long", "y": "long"}


def test_files_without_records_tell_nothing(tmp_path):
    empty = [written(tmp_path, name=f"empty{number}") for number in range(20)]
    assert inferred([*empty[:15], written(tmp_path, example(x=1)), *empty[15:]]) == {"x": "long"}
    with pytest.raises(SchemaError, match=r"no record to infer a schema from; give one with schema\(...\)"):
        inferred(empty)


def test_kinds_that_cannot_be_one_column_are_an_error(tmp_path):
    first, second = written(tmp_path, example(x=1)), written(tmp_path, example(x="a"), name="b")
    with pytest.raises(SchemaError, match="holds a list of bytes where records before hold int64") as caught:
        inferred([first, second])
    assert (caught.value.path, caught.value.feature) == (second, "x")


@pytest.mark.parametrize("turned", [False, True])
def test_context_feature_and_feature_list_of_one_name_are_an_error(tmp_path, turned):
    paths = [
        written(tmp_path, pr.encode_sequence_example({}, {"x": [[1]]}), name="a"),
        written(tmp_path, pr.encode_sequence_example({"x": 1}, {"y": [[1]]}), name="b"),
    ]
    with pytest.raises(SchemaError, match="there is one column of that name"):
        inferred(paths[::-1] if turned else paths)


def test_records_that_are_no_examples_say_what_to_do(tmp_path):
    with pytest.raises(DecodeError, match="set recordType"):
        inferred([written(tmp_path, b"\xff\xff\xff")])
    with pytest.raises(SchemaError, match="no features; give a schema, or set recordType to ByteArray"):
        inferred([written(tmp_path, b"")])


def test_damage_is_met_as_the_read_meets_it(tmp_path):
    path = written(tmp_path, example(x=np.arange(3)), example(x=1), example(y=1))
    data = bytearray((tmp_path / "a").read_bytes())
    data[20] ^= 1
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(pr.ChecksumError):
        inferred([path])
    assert inferred([path], on_error="skip") == {"x": "long", "y": "long"}
