"""Messages and rows against live TensorFlow: the same fields, the same bytes, in one process."""

from __future__ import annotations

import pickle
import subprocess
import sys
from random import Random
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError as ProtobufError
from hypothesis import given

from purerecord.errors import DecodeError
from purerecord.payload import proto
from purerecord.payload.example import (
    decode_example,
    decode_sequence_example,
    encode_example,
    encode_sequence_example,
)
from tests.support.interop import interop
from tests.support.places import ROOT
from tests.support.strategies import CAMPAIGN, any_example, any_sequence, feature_mappings, plain, sequences

tf = interop("tensorflow")
from tensorflow.core.example import example_pb2, feature_pb2  # noqa: E402 - needs the gate above
from tensorflow.core.framework import (  # noqa: E402
    resource_handle_pb2,
    summary_pb2,
    tensor_pb2,
    tensor_shape_pb2,
)
from tensorflow.core.util import event_pb2  # noqa: E402

MODULES = (
    *(example_pb2, feature_pb2, tensor_pb2, tensor_shape_pb2, resource_handle_pb2, summary_pb2, event_pb2),
)


def theirs(name: str) -> Any:
    return next(getattr(module, name) for module in MODULES if hasattr(module, name))


# --- The messages -----------------------------------------------------------------------------------


def describe(descriptor: Any) -> Any:
    """Everything about a message that bytes, text and JSON depend on."""
    return {
        field.number: (
            *(field.name, field.json_name, field.type, field.is_repeated, field.has_presence),
            *(field.is_packed, field.containing_oneof and field.containing_oneof.name),
            field.message_type and field.message_type.full_name,
            field.enum_type and field.enum_type.full_name,
        )
        for field in descriptor.fields
    }


TENSORS = ["TensorProto", "TensorShapeProto", "ResourceHandleProto", "VariantTensorDataProto"]
EVENTS = ["Event", "SourceMetadata", "LogMessage", "SessionLog", "TaggedRunMetadata"]
SUMMARIES = ["Summary", "SummaryMetadata", "HistogramProto"]
ALL = [*proto.MESSAGES, *TENSORS]


@pytest.mark.parametrize("name", [*ALL, *EVENTS, *SUMMARIES])
def test_messages_have_the_fields_that_tensorflow_gives_them(name: str) -> None:
    ours = proto._pool.FindMessageTypeByName(f"tensorflow.{name}")
    other = theirs(name).DESCRIPTOR
    assert describe(ours) == describe(other)
    nested = {inner.name: describe(inner) for inner in ours.nested_types}
    assert nested == {inner.name: describe(inner) for inner in other.nested_types}


def test_data_types_have_the_numbers_that_tensorflow_gives_them() -> None:
    ours = proto._pool.FindEnumTypeByName("tensorflow.DataType")
    numbers = {value.name: value.number for value in ours.values}
    other = {
        v.name: v.number for v in tensor_pb2.TensorProto.DESCRIPTOR.fields_by_name["dtype"].enum_type.values
    }
    assert numbers == {name: number for name, number in other.items() if not name.endswith("_REF")}


@pytest.mark.parametrize(
    "order",
    [
        "import tensorflow; import purerecord.payload.proto",
        "import purerecord.payload.proto; import tensorflow",
    ],
)
def test_both_live_in_one_process_in_either_order(order: str) -> None:
    code = (
        f"{order}\n"
        "import tensorflow as tf; from purerecord.payload import proto\n"
        "example = tf.train.Example(); example.features.feature['a'].int64_list.value.append(1)\n"
        "ours = proto.Example.FromString(example.SerializeToString())\n"
        "assert ours.features.feature['a'].int64_list.value == [1]\n"
        "assert tf.train.Example.FromString(ours.SerializeToString()) == example\n"
        "assert type(ours) is not type(example)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)


def test_a_pickled_message_stays_ours_where_tensorflow_is_imported() -> None:
    assert type(pickle.loads(pickle.dumps(proto.Example()))) is proto.Example


# --- Rows -------------------------------------------------------------------------------------------


@given(feature_mappings)
def test_tensorflow_reads_what_we_write_and_we_read_its_messages(features: dict[str, Any]) -> None:
    payload = encode_example(features)
    message = tf.train.Example.FromString(payload)
    assert plain(decode_example(message)) == plain(features)
    assert plain(decode_example(message.SerializeToString())) == plain(features)
    again = {name: message.features.feature[name] for name in message.features.feature}
    assert encode_example(again) == payload


@given(feature_mappings, sequences)
def test_the_same_for_sequences(context: dict[str, Any], sequence: dict[str, Any]) -> None:
    payload = encode_sequence_example(context, sequence)
    message = tf.train.SequenceExample.FromString(payload)
    assert plain(decode_sequence_example(message)) == plain((context, sequence))
    assert plain(decode_sequence_example(message.SerializeToString())) == plain((context, sequence))


def test_the_parser_of_tensorflow_reads_what_we_write() -> None:
    payload = encode_example({"i": [1, -1], "f": [0.5], "b": [b"x\0", "é"], "none": []})
    found = tf.io.parse_single_example(
        payload,
        {
            "i": tf.io.FixedLenFeature([2], tf.int64),
            "f": tf.io.FixedLenFeature([], tf.float32),
            "b": tf.io.FixedLenFeature([2], tf.string),
            "none": tf.io.FixedLenFeature([], tf.int64, default_value=7),
        },
    )
    assert found["i"].numpy().tolist() == [1, -1]
    assert found["f"].numpy() == 0.5
    assert found["b"].numpy().tolist() == [b"x\0", "é".encode()]
    assert found["none"].numpy() == 7


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.constant([[1, 2], [3, 4]]),
        lambda: tf.constant(1.5),
        lambda: tf.constant([True, False]),
        lambda: tf.constant(["a", "é", b"x\0"]),
        lambda: tf.constant(b"x\0"),
        lambda: tf.constant([1.5, 2], tf.bfloat16),
        lambda: tf.constant([[]], tf.string),
        lambda: tf.Variable([1, 2]),
    ],
)
def test_tensors_are_accepted_as_values(make: Any) -> None:
    tensor = make()
    found = decode_example(encode_example({"t": tensor}))["t"]
    assert found.tolist() == np.asarray(tensor).reshape(-1).tolist()
    _, sequence = decode_sequence_example(encode_sequence_example({}, {"t": tf.stack([tensor, tensor])}))
    assert [step.tolist() for step in sequence["t"]] == [found.tolist()] * 2


def outcome(decode: Any, payload: Any) -> Any:
    try:
        return plain(decode(payload))
    except DecodeError:
        return "an error"


def judged(decode: Any, message: Any, payload: bytes) -> Any:
    try:
        return plain(decode(message.FromString(payload)))
    except ProtobufError:
        return "an error"


@pytest.mark.parametrize("seed", range(100, 104))
def test_hostile_bytes_give_what_tensorflows_messages_give(seed: int) -> None:
    random = Random(seed)
    for _ in range(500 * CAMPAIGN):
        payload = any_example(random)
        judge = judged(decode_example, tf.train.Example, payload)
        assert outcome(decode_example, payload) == judge, payload.hex()
        payload = any_sequence(random)
        judge = judged(decode_sequence_example, tf.train.SequenceExample, payload)
        assert outcome(decode_sequence_example, payload) == judge, payload.hex()
