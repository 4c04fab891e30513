"""purerecord.payload.proto: real messages, in a pool of their own."""

from __future__ import annotations

import base64
import copy
import pickle
import runpy
import subprocess
import sys
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, json_format, text_format

import purerecord
from purerecord.payload import proto
from purerecord.payload._descriptors import FILE_DESCRIPTOR_SET
from purerecord.tf import train
from tests.support.interop import interop
from tests.support.places import ROOT


def run(code: str) -> str:
    """What ``code`` prints, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def example() -> Any:
    return proto.Example(
        features=proto.Features(
            feature={
                "ints": proto.Feature(int64_list=proto.Int64List(value=[1, -2])),
                "floats": proto.Feature(float_list=proto.FloatList(value=[0.5])),
                "strings": proto.Feature(bytes_list=proto.BytesList(value=[b"x\0"])),
                "nothing": proto.Feature(),
            }
        )
    )


@pytest.fixture
def sequence() -> Any:
    steps = proto.FeatureList(feature=[proto.Feature(int64_list=proto.Int64List(value=[1]))])
    return proto.SequenceExample(
        context=proto.Features(feature={"a": proto.Feature()}),
        feature_lists=proto.FeatureLists(feature_list={"s": steps}),
    )


@pytest.fixture
def tensor() -> Any:
    shape = proto.TensorShapeProto(dim=[proto.TensorShapeProto.Dim(size=2)])
    return proto.TensorProto(dtype=1, tensor_shape=shape, float_val=[1, 2])


@pytest.fixture(params=["example", "sequence", "tensor"])
def message(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("name", [*proto.MESSAGES, "TensorProto", "TensorShapeProto"])
def test_classes_have_the_full_names_of_tensorflow(name: str) -> None:
    message = getattr(proto, name)
    assert message.__name__ == name
    assert message.DESCRIPTOR.full_name == f"tensorflow.{name}"
    assert message() == message.FromString(b"")


def test_inner_messages_are_of_the_same_classes(example: Any, sequence: Any, tensor: Any) -> None:
    assert type(example.features) is proto.Features
    assert type(example.features.feature["ints"]) is proto.Feature
    assert type(sequence.feature_lists.feature_list["s"]) is proto.FeatureList
    assert type(tensor.tensor_shape) is proto.TensorShapeProto


def test_bytes_text_and_json_come_back(message: Any) -> None:
    kind = type(message)
    assert kind.FromString(message.SerializeToString()) == message
    assert text_format.Parse(text_format.MessageToString(message), kind()) == message
    assert json_format.Parse(json_format.MessageToJson(message), kind()) == message


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_messages_can_be_pickled_and_copied(message: Any, protocol: int) -> None:
    found = pickle.loads(pickle.dumps(message, protocol))
    assert type(found) is type(message)
    assert found == message == copy.deepcopy(message) == copy.copy(message)


def test_nested_messages_can_be_pickled(tensor: Any) -> None:
    dim = tensor.tensor_shape.dim[0]
    assert pickle.loads(pickle.dumps(dim)) == dim


def test_a_pickled_message_can_be_read_in_another_process(example: Any) -> None:
    payload = pickle.dumps(example)
    code = f"import pickle; m = pickle.loads({payload!r}); print(type(m).__module__, len(m.features.feature))"
    assert run(code) == "purerecord 4"


@pytest.mark.parametrize("name", proto.MESSAGES)
def test_pickles_of_public_messages_name_no_private_module(name: str) -> None:
    kind = getattr(proto, name)
    assert b"payload" not in pickle.dumps(kind())
    assert getattr(purerecord, name) is kind


def test_messages_are_those_that_the_package_and_tf_train_export() -> None:
    assert set(proto.MESSAGES) == set(train.__all__)
    assert set(proto.MESSAGES) <= set(purerecord.__all__)


# What TensorFlow does when it is imported: it puts the same messages into the default pool.
RIVAL = """
import base64
from google.protobuf import descriptor_pb2, descriptor_pool
from purerecord.payload._descriptors import FILE_DESCRIPTOR_SET
for file in descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(FILE_DESCRIPTOR_SET)).file:
    descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
descriptor_pool.Default().FindMessageTypeByName("tensorflow.Example")
"""
OURS = "from purerecord.payload import proto; proto.Example(features=proto.Features())"


@pytest.mark.parametrize("code", [RIVAL + OURS, OURS + RIVAL], ids=["rival first", "ours first"])
def test_the_same_names_in_the_default_pool_do_not_matter(code: str) -> None:
    run(code)


def test_codecs_do_without_protobuf() -> None:
    code = (
        "import sys; from purerecord.payload import example, tensor, wire; "
        "example.decode_example(example.encode_example({'a': 1})); tensor.serialize_tensor(1); "
        "print([name for name in sys.modules if name.startswith('google')])"
    )
    assert run(code) == "[]"


def test_the_descriptors_are_those_of_the_proto_files() -> None:
    interop("grpc_tools")
    generate = runpy.run_path(str(ROOT / "proto" / "generate.py"))
    fresh = descriptor_pb2.FileDescriptorSet.FromString(generate["compile_protos"]())
    assert fresh == descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(FILE_DESCRIPTOR_SET))
    source = (ROOT / "purerecord" / "payload" / "_descriptors.py").read_text()
    assert source == generate["source"](base64.b64decode(FILE_DESCRIPTOR_SET))
