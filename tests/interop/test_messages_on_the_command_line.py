"""Events of a live TensorFlow, and .proto files compiled by grpcio-tools, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from purerecord import read_records
from purerecord.payload import proto
from tests.support.command_line import run
from tests.support.damage import frames
from tests.support.interop import interop
from tests.support.places import CORPUS

tf = interop("tensorflow")
interop("grpc_tools")

SOURCES = {
    "root/shapes/point.proto": 'syntax = "proto3"; package shapes; message Point { double x = 1; }',
    "root/shapes/scene.proto": """
        syntax = "proto3";
        package shapes;
        import "shapes/point.proto";
        import "google/protobuf/timestamp.proto";
        message Scene {
          string name = 1;
          repeated Point path_points = 2;
          google.protobuf.Timestamp at = 3;
        }""",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_grpcio_tools_compile_a_file_with_its_imports(capfd, monkeypatch):
    for name, text in SOURCES.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    Path("scenes").write_bytes(frames([b"\x0a\x01a\x12\x09\x09" + bytes(8) + b"\x1a\x02\x08\x05"]))
    monkeypatch.setenv("PATH", "")
    (path,) = (name for name in SOURCES if "scene" in name)
    code, out, err = run(capfd, "cat", "scenes", "--proto", path)
    shown = {"name": "a", "pathPoints": [{}], "at": "1970-01-01T00:00:05Z"}
    assert (code, err, json.loads(out)) == (0, "", shown)
    Path(path).write_text('syntax = "proto3"; message {')
    code, _, err = run(capfd, "cat", "scenes", "--proto", path)
    assert (code, "does not compile: " in err) == (1, True)


def test_events_mean_to_us_what_they_mean_to_tensorflow():
    for payload in read_records(CORPUS / "events.tfrecord"):
        ours, theirs = proto.Event.FromString(payload), tf.compat.v1.Event.FromString(payload)
        assert ours.SerializeToString(deterministic=True) == theirs.SerializeToString(deterministic=True)
        assert ours.WhichOneof("what") == theirs.WhichOneof("what")
        assert (ours.wall_time, ours.step) == (theirs.wall_time, theirs.step)


def test_what_a_live_writer_has_written_is_read(capfd):
    writer = tf.summary.create_file_writer("logs")
    with writer.as_default():
        for step in range(5):
            tf.summary.write("loss", tf.constant(step / 2), step=step)
    writer.close()
    (path,) = map(str, Path("logs").iterdir())
    code, out, err = run(capfd, "cat", path)
    assert (code, err) == (0, "")
    events: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    assert [(event["step"], event["values"][0]["value"]) for event in events[1:]] == [
        (step, step / 2) for step in range(5)
    ]
    _, out, _ = run(capfd, "info", path)
    assert "loss  scalar, 5 values, steps 0 to 4" in out
