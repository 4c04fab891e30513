"""``schema.pbtxt`` and TensorFlow Metadata itself: each reads what the other writes."""

from __future__ import annotations

import numpy as np

import purerecord as pr
from purerecord.payload.parse.schema_pbtxt import Occurrence
from tests.support.interop import interop

schema_pb2 = interop("tensorflow_metadata.proto.v0.schema_pb2")
text_format = interop("google.protobuf.text_format")

SPECS = {
    "label": pr.FixedLenFeature([], np.int64),
    "box ü": pr.FixedLenFeature([2, 2], np.float32),
    "tags": pr.RaggedFeature(bytes, row_splits_dtype=np.int64),
    "defaulted": pr.FixedLenFeature([], np.int64, 7),
}
STEPS = {"frames": pr.FixedLenSequenceFeature([3], np.float32), "words": SPECS["tags"]}


def test_tensorflow_metadata_reads_what_is_written():
    text = pr.schema_to_pbtxt((SPECS, STEPS), {"tags": Occurrence(always=False, fewest=0, most=3)})
    schema = text_format.Parse(text, schema_pb2.Schema())  # refuses unknown fields
    features = {feature.name: feature for feature in schema.feature}
    assert list(features) == [*SPECS, "##SEQUENCE##"]
    assert features["label"].type == schema_pb2.INT
    assert features["label"].presence.min_fraction == 1
    assert features["label"].WhichOneof("shape_type") == "shape"
    assert [dim.size for dim in features["box ü"].shape.dim] == [2, 2]
    assert (features["tags"].value_count.min, features["tags"].value_count.max) == (0, 3)
    assert features["tags"].presence.min_count == 1
    steps = {feature.name: feature for feature in features["##SEQUENCE##"].struct_domain.feature}
    assert list(steps) == list(STEPS)


def test_what_tensorflow_metadata_writes_is_read():
    schema = schema_pb2.Schema()
    one = schema.feature.add(name="label", type=schema_pb2.INT)
    one.presence.min_fraction = one.presence.min_count = 1
    one.value_count.min = one.value_count.max = 1
    one.int_domain.max = 9
    box = schema.feature.add(name="box", type=schema_pb2.FLOAT, lifecycle_stage=schema_pb2.PRODUCTION)
    box.presence.min_fraction = 1
    box.shape.dim.add(size=4)
    schema.feature.add(name="old", type=schema_pb2.BYTES, lifecycle_stage=schema_pb2.DEPRECATED)
    schema.feature.add(name="tags", type=schema_pb2.BYTES).value_counts.value_count.add(min=1)
    schema.string_domain.add(name="words", value=["a"])
    schema.tensor_representation_group[""].tensor_representation[
        "x"
    ].varlen_sparse_tensor.column_name = "tags"
    assert pr.schema_from_pbtxt(text_format.MessageToString(schema)) == {
        "label": pr.FixedLenFeature([], np.int64),
        "box": pr.FixedLenFeature([4], np.float32),
        "tags": SPECS["tags"],
    }


def test_both_messages_live_in_one_process():
    assert pr.schema_from_pbtxt(pr.schema_to_pbtxt({"a": SPECS["label"]})) == {"a": SPECS["label"]}
    assert schema_pb2.Schema(feature=[schema_pb2.Feature(name="a")]).feature[0].name == "a"
