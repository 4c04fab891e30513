"""Ray's own arguments in our terms: the compression of a stream, and a schema of TensorFlow Metadata."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from tests.support.interop import interop

pa = interop("pyarrow")
ray_arguments = interop("purerecord.ray.ray_arguments")

BYTES, INT, FLOAT, STRUCT = 1, 2, 3, 4  # as schema.proto numbers them


class Feature(SimpleNamespace):
    """A Feature of a schema, as protobuf gives it; ``sizes`` are those of its shape, None without one."""

    def __init__(self, name: str, number: int, sizes: tuple[int, ...] | None = None) -> None:
        super().__init__(name=name, type=number, sizes=sizes)

    def HasField(self, field: str) -> bool:  # noqa: N802 - protobuf's name
        return field == "shape" and self.sizes is not None

    @property
    def shape(self) -> Any:
        return SimpleNamespace(dim=[SimpleNamespace(size=size) for size in self.sizes or ()])


def schema(*features: Feature) -> Any:
    return SimpleNamespace(feature=list(features))


def test_a_schema_gives_specs():
    found = ray_arguments.specs_of(
        schema(Feature("a", INT, ()), Feature("b", FLOAT, (2, 3)), Feature("c", BYTES))
    )
    assert found == {
        "a": pr.FixedLenFeature([], np.int64),
        "b": pr.FixedLenFeature([2, 3], np.float32),
        "c": pr.RaggedFeature(np.bytes_),
    }


def test_a_feature_of_another_type_is_named():
    with pytest.raises(ValueError, match=r"feature 'a\\n' of the schema is neither of bytes, int nor float"):
        ray_arguments.specs_of(schema(Feature("a\n", STRUCT)))


@pytest.mark.parametrize(
    ("name", "ours"), [(None, ""), ("detect", "auto"), ("gzip", "GZIP"), ("bz2", "BZ2"), ("zstd", "ZSTD")]
)
def test_the_compression_has_arrows_name(name, ours):
    assert ray_arguments.compression_of({"compression": name}) == ours


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"compression": "lz4"}, "the compression 'lz4' is not one of TFRecords"),
        ({"compression": "gzip", "buffer_size": 1}, "'buffer_size' is unknown here"),
    ],
)
def test_other_arguments_of_a_stream_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ray_arguments.compression_of(arguments)


COLUMNS = {
    "int": (pa.int8(), INT),
    "bool": (pa.bool_(), INT),
    "float": (pa.float64(), FLOAT),
    "text": (pa.large_string(), BYTES),
    "binary": (pa.binary(), BYTES),
    "list": (pa.list_(pa.float32()), FLOAT),
    "lists of lists": (pa.large_list(pa.list_(pa.int64(), 2)), INT),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), BYTES),
    "tensor": (pa.fixed_shape_tensor(pa.float32(), (2, 2)), FLOAT),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_must_be_of_the_type_in_the_schema(name):
    dtype, right = COLUMNS[name]
    columns = pa.schema([(name, dtype)])
    for number in (BYTES, INT, FLOAT, STRUCT):
        if number == right:
            ray_arguments.check_columns(columns, schema(Feature(name, number)))
            continue
        with pytest.raises(pr.EncodeError, match="where tf_schema says") as caught:
            ray_arguments.check_columns(columns, schema(Feature(name, number)))
        assert caught.value.feature == name


def test_a_column_of_nulls_may_be_of_any_type_and_a_feature_may_lack_its_column():
    ray_arguments.check_columns(pa.schema([("a", pa.null())]), schema(Feature("a", INT), Feature("b", INT)))


def test_a_column_that_the_schema_lacks_is_named():
    with pytest.raises(pr.EncodeError, match="tf_schema has no such feature; drop the column") as caught:
        ray_arguments.check_columns(pa.schema([("a", pa.int64())]), schema())
    assert caught.value.feature == "a"
