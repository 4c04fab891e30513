"""``--proto`` and ``--message``: records that are any message."""

from __future__ import annotations

import json
import os
import sys
from itertools import permutations
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2, timestamp_pb2

from purerecord.cli import message_type
from purerecord.payload.wire import delimited
from tests.support.command_line import run
from tests.support.damage import frames

FIELD = descriptor_pb2.FieldDescriptorProto
POINT = b"\x09" + bytes(6) + b"\xf8\x3f"  # x = 1.5
SCENE = delimited(1, "Zoë\x1b\u202e".encode()) + delimited(2, POINT) * 2 + delimited(3, b"\x08\x05")
LINE = {"name": "Zoë\x1b\u202e", "pathPoints": [{"x": 1.5}, {"x": 1.5}], "at": "1970-01-01T00:00:05Z"}


def descriptors(*, with_imports: bool = True) -> bytes:
    """A FileDescriptorSet of two files, in the wrong order; timestamp.proto comes from protobuf."""
    point = descriptor_pb2.FileDescriptorProto(name="shapes/point.proto", package="shapes", syntax="proto3")
    point.message_type.add(name="Point").field.add(
        name="x", number=1, type=FIELD.TYPE_DOUBLE, label=FIELD.LABEL_OPTIONAL
    )
    scene = descriptor_pb2.FileDescriptorProto(name="scene.proto", package="shapes", syntax="proto3")
    scene.dependency.extend([point.name, "google/protobuf/timestamp.proto"])
    message = scene.message_type.add(name="Scene")
    one, many, kind = FIELD.LABEL_OPTIONAL, FIELD.LABEL_REPEATED, FIELD.TYPE_MESSAGE
    message.field.add(name="name", number=1, type=FIELD.TYPE_STRING, label=one)
    message.field.add(name="path_points", number=2, type=kind, label=many, type_name=".shapes.Point")
    message.field.add(name="at", number=3, type=kind, label=one, type_name=".google.protobuf.Timestamp")
    message.field.add(name="zero", number=4, type=FIELD.TYPE_INT32, label=one)
    files = [scene, point] if with_imports else [scene]
    return descriptor_pb2.FileDescriptorSet(file=files).SerializeToString()


@pytest.fixture(autouse=True)
def files(folder):
    Path("scenes").write_bytes(frames([SCENE, b"", b"\x20\x00"]))
    Path("scene.desc").write_bytes(descriptors())


def test_cat_decodes_a_message_as_protobuf_shows_it(capfd):
    code, out, err = run(capfd, "cat", "scenes", "--proto", "scene.desc")
    assert (code, err) == (0, "")
    assert [json.loads(line) for line in out.splitlines()] == [LINE, {}, {}]
    assert not {"\x1b", "\u202e"} & set(out)
    _, out, _ = run(capfd, "cat", "scenes", "--proto", "scene.desc", "-n", "1", "--features", "at")
    assert json.loads(out) == {"at": LINE["at"]}


def test_files_may_come_in_any_order(capfd):
    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors())
    timestamp_pb2.DESCRIPTOR.CopyToProto(files.file.add())
    for order in permutations(files.file):
        Path("any.desc").write_bytes(descriptor_pb2.FileDescriptorSet(file=order).SerializeToString())
        code, out, err = run(capfd, "cat", "scenes", "--proto", "any.desc", "-n", "1")
        assert (code, err, json.loads(out)) == (0, "", LINE)


def test_cat_prints_a_message_as_text(capfd):
    _, out, _ = run(capfd, "cat", "scenes", "--proto", "scene.desc", "-n", "1", "--format", "text")
    lines = out.splitlines()
    assert lines[0] == f"record 0: {len(SCENE)} bytes"
    assert lines[1].startswith('  name: "Zoë\\')
    assert lines[2:5] == ["  path_points {", "    x: 1.5", "  }"]
    assert not {"\x1b", "\u202e"} & set(out)


def test_info_names_the_fields(capfd):
    code, out, _ = run(capfd, "info", "scenes", "--proto", "scene.desc")
    assert code == 0
    assert out.splitlines()[5:] == [
        "  fields       in the first 3 records of shapes.Scene",
        "    at           google.protobuf.Timestamp, 1 value, missing in 2",
        "    name         string, 1 value, missing in 2",
        "    path_points  shapes.Point, 2 values, missing in 2",
    ]
    _, out, _ = run(capfd, "info", "--json", "scenes", "--proto", "scene.desc")
    assert json.loads(out)[0]["message"] == "shapes.Scene"


@pytest.mark.parametrize("name", ["shapes.Scene", ".shapes.Scene", "shapes.Point"])
def test_a_message_of_any_file_can_be_named(capfd, name):
    Path("one").write_bytes(frames([b""]))
    assert run(capfd, "cat", "one", "--proto", "scene.desc", "--message", name) == (0, "{}\n", "")


WRONG = [b"\xff", b"\x28\x01", delimited(1, b"\xff"), delimited(2, b"\x09")]


@pytest.mark.parametrize("payload", WRONG)
def test_a_payload_that_does_not_decode_is_named_and_the_others_follow(capfd, payload):
    Path("wrong").write_bytes(frames([SCENE, payload, SCENE]))
    code, out, err = run(capfd, "cat", "wrong", "--proto", "scene.desc")
    assert (code, len(out.splitlines())) == (3, 2)
    assert err.startswith("purerecord: wrong: record 1: not a shapes.Scene: ")
    code, out, err = run(capfd, "info", "wrong", "--proto", "scene.desc")
    assert (code, "of the first 3 records, 1 no shapes.Scene" in out) == (3, True)
    assert err.startswith("purerecord: wrong: record 1: not a shapes.Scene: ")


def many() -> bytes:
    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors())
    files.file[0].message_type.add(name="Another")
    return files.SerializeToString()


REFUSED = [
    (descriptors(with_imports=False), [], "lacks shapes/point.proto, which it imports"),
    (descriptors(), ["--message", "Scene"], "it has no message 'Scene'; there is shapes.Scene"),
    (many(), [], "name one of its messages with --message: shapes.Another, shapes.Scene"),
    (many(), ["--message", "no"], "it has no message 'no'; there is shapes.Another, shapes.Scene"),
]


@pytest.mark.parametrize("command", ["cat", "info"])
@pytest.mark.parametrize(("data", "arguments", "reason"), REFUSED)
def test_a_descriptor_file_that_does_not_do_is_one_error(capfd, command, data, arguments, reason):
    Path("bad.desc").write_bytes(data)
    code, out, err = run(capfd, command, "scenes", "--proto", "bad.desc", *arguments)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("purerecord: bad.desc: ")
    assert reason in err


def test_files_that_import_each_other_are_refused(capfd):
    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors())
    files.file[1].dependency.append("scene.proto")
    Path("bad.desc").write_bytes(files.SerializeToString())
    code, _, err = run(capfd, "cat", "scenes", "--proto", "bad.desc", "--message", "shapes.Scene")
    assert (code, "imports itself" in err) == (1, True)


def test_a_missing_descriptor_file_is_named(capfd):
    code, _, err = run(capfd, "cat", "scenes", "--proto", "nothing.proto")
    assert (code, err) == (1, "purerecord: nothing.proto: No such file or directory\n")


USAGE = [
    ["cat", "scenes", "--message", "a.B"],
    ["info", "scenes", "--message", "a.B"],
    ["cat", "scenes", "--proto", "scene.desc", "--format", "raw"],
    ["info", "scenes", "--proto", "scene.desc", "--schema"],
]


@pytest.mark.parametrize("arguments", USAGE)
def test_options_that_do_not_go_together_are_wrong_usage(capfd, arguments):
    assert run(capfd, *arguments)[0] == 2


# Compilers


@pytest.fixture
def sources(folder):
    Path("scene.proto").write_text('syntax = "proto3";')
    return "scene.proto"


def test_without_a_compiler_the_error_says_what_to_install(capfd, sources, monkeypatch):
    monkeypatch.setattr(message_type, "_compiler", lambda: None)
    code, out, err = run(capfd, "cat", "scenes", "--proto", sources)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "install protoc or run `pip install grpcio-tools`" in err


@pytest.mark.skipif(os.name == "nt", reason="the compiler is a shell script")
def test_protoc_on_the_path_compiles(capfd, sources, monkeypatch):
    Path("bin").mkdir()
    script = Path("bin/protoc")
    script.write_text(
        f"#!{sys.executable}\nimport sys, pathlib\n"
        "options = dict(a.split('=', 1) for a in sys.argv if '=' in a)\n"
        f"pathlib.Path(options['--descriptor_set_out']).write_bytes({descriptors()!r})\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(Path("bin").resolve()))
    code, out, err = run(capfd, "cat", "scenes", "--proto", sources, "-n", "1")
    assert (code, err, json.loads(out)) == (0, "", LINE)
    script.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('other.proto:3:1: \\x1b odd')\n")
    code, out, err = run(capfd, "cat", "scenes", "--proto", sources)
    assert (code, out) == (1, "")
    assert err == f"purerecord: {sources}: does not compile: other.proto:3:1: \\x1b odd\n"


def test_a_timestamp_of_its_own_is_shown_too(capfd):
    files = descriptor_pb2.FileDescriptorSet()
    timestamp_pb2.DESCRIPTOR.CopyToProto(files.file.add())
    Path("time.desc").write_bytes(files.SerializeToString())
    Path("times").write_bytes(frames([b"\x08\x05", b"\x08" + b"\xff" * 8 + b"\x7f"]))
    code, out, err = run(capfd, "cat", "times", "--proto", "time.desc")
    assert (code, out) == (3, '{"value": "1970-01-01T00:00:05Z"}\n')
    assert "record 1: not a google.protobuf.Timestamp that JSON can show" in err
