"""Arguments of Ray in our terms: schemas of TensorFlow Metadata, and the names of compressions."""

from __future__ import annotations

import numpy as np
import pytest

import purerecord as pr
from tests.support.interop import interop

pa = interop("pyarrow")
schema_pb2 = interop("tensorflow_metadata.proto.v0.schema_pb2")
from purerecord.ray.ray_arguments import check_columns, compression_of, specs_of  # noqa: E402 - needs pyarrow


def schema(**features):
    made = schema_pb2.Schema()
    for name, (kind, shape) in features.items():
        feature = made.feature.add(name=name, type=getattr(schema_pb2, kind))
        if shape is not None:
            feature.shape.dim.extend(schema_pb2.FixedShape.Dim(size=size) for size in shape)
    return made


def test_a_feature_of_a_fixed_shape_is_dense_and_any_other_ragged():
    assert specs_of(schema(a=("INT", []), b=("FLOAT", [2, 3]), c=("BYTES", None))) == {
        "a": pr.FixedLenFeature([], np.int64),
        "b": pr.FixedLenFeature([2, 3], np.float32),
        "c": pr.RaggedFeature(np.bytes_),
    }
    with pytest.raises(ValueError, match="neither of bytes, int nor float"):
        specs_of(schema(a=("STRUCT", None)))


def test_a_compression_has_the_name_that_arrow_gives_it():
    assert [compression_of({"compression": name}) for name in (None, "detect", "gzip")] == [
        "",
        "auto",
        "GZIP",
    ]
    for wrong in ({"compression": "lz4"}, {"buffer_size": 1}, {"compression": "gzip", "buffer_size": 1}):
        with pytest.raises(ValueError, match="arrow_open_stream_args"):
            compression_of(wrong)


TYPES = {
    "INT": (pa.int8(), pa.bool_(), pa.list_(pa.uint64()), pa.dictionary(pa.int32(), pa.int16())),
    "FLOAT": (pa.float16(), pa.list_(pa.list_(pa.float64(), 2), 3)),
    "BYTES": (pa.string(), pa.large_binary(), pa.dictionary(pa.int32(), pa.string()), pa.binary(3)),
}


def test_columns_must_be_of_the_types_of_the_schema():
    for kind, types in TYPES.items():
        for dtype in (*types, pa.null()):
            check_columns(pa.schema([("a", dtype)]), schema(a=(kind, None), b=(kind, None)))
            for other in TYPES.keys() - {kind} if dtype != pa.null() else ():
                with pytest.raises(pr.EncodeError, match=f"'a'.* where tf_schema says {other.lower()}"):
                    check_columns(pa.schema([("a", dtype)]), schema(a=(other, None)))
    with pytest.raises(pr.EncodeError, match=r"'b'.*no such feature"):
        check_columns(pa.schema([("b", pa.int64())]), schema(a=("INT", None)))
