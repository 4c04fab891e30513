"""Events and lists of Examples, as TensorFlow wrote them, on the command line."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from purerecord import encode_example, read_records
from purerecord.cli.known_messages import read_event, time_in_words
from purerecord.payload.proto import Event
from purerecord.payload.wire import delimited
from tests.support.command_line import run
from tests.support.damage import frames
from tests.support.places import CORPUS

EVENTS = str(CORPUS / "events.tfrecord")
LISTS = str(CORPUS / "example-lists.tfrecord")
IMAGE = {"height": 3, "width": 4}

# What cat shows of each tag of the golden file.
TAGS: dict[str, tuple[int, str, Any]] = {
    "weights": (2, "histogram", {"buckets": [[0.0, 3.0, 3.0], [3.0, 9.0, 7.0]]}),
    "picture": (2, "image", {**IMAGE, "images": [{"format": "PNG", "bytes": 77}]}),
    "note": (2, "text", "as\x1b[1m told"),
    "vector": (2, "tensor", {"dtype": "int32", "shape": [3], "values": [1, 2, 3]}),
    "accuracy": (7, "scalar", 0.75),
    "old_picture/image/0": (7, "image", {**IMAGE, "format": "PNG", "bytes": 77}),
}


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    shown = [read_event(payload) for payload in read_records(EVENTS)]
    return [event for event in shown if event is not None]


def test_cat_prints_events_one_per_line(capfd, events):
    code, out, err = run(capfd, "cat", EVENTS)
    assert (code, err) == (0, "")
    assert [json.loads(line) for line in out.splitlines()] == events
    assert len(events) == 15
    assert "\x1b" not in out
    assert events[0]["file_version"] == "brain.Event:2"
    assert events[9]["graph_def"].keys() == {"bytes"}
    assert events[14]["session_log"]["status"] == "START"


@pytest.mark.parametrize("tag", TAGS)
def test_a_value_is_shown_by_what_it_is(events, tag):
    step, kind, shown = TAGS[tag]
    ((event, value),) = [(e, v) for e in events for v in e.get("values", ()) if v["tag"] == tag]
    assert (event["step"], value["kind"], value["value"]) == (step, kind, shown)


def test_scalars_have_step_and_wall_time_and_the_shortest_number(events):
    found = [
        (event["step"], event["wall_time"] - 1.7e9, event["values"][0]["value"]) for event in events[1:4]
    ]
    assert found == [(0, 0.25, 0.5), (1, 0.5, 0.25), (2, 0.75, 0.16666667)]


def test_an_old_histogram_has_its_numbers_and_buckets(events):
    (shown,) = (v["value"] for e in events for v in e.get("values", ()) if v["tag"] == "activations")
    assert [shown[name] for name in ("min", "max", "num", "sum", "sum_squares")] == [1, 2, 3, 4, 6]
    assert (len(shown["bucket"]), sum(shown["bucket"])) == (len(shown["bucket_limit"]), 3)


def test_cat_prints_events_as_text_and_selects_tags(capfd):
    _, out, _ = run(capfd, "cat", "--format", "text", "--skip", "5", "-n", "2", EVENTS)
    assert out.splitlines() == [
        "record 5: 131 bytes",
        "  step 2, 2023-11-14 22:13:21 UTC",
        '  picture: image {"height": 3, "width": 4, "images": [{"format": "PNG", "bytes": 77}]}',
        "record 6: 50 bytes",
        "  step 2, 2023-11-14 22:13:21 UTC",
        '  note: "as\\u001b[1m told"',
    ]
    _, out, _ = run(capfd, "cat", "--features", "loss", "-n", "2", EVENTS)
    assert [json.loads(line).get("values") for line in out.splitlines()] == [
        None,
        [{"tag": "loss", "plugin": "scalars", "kind": "scalar", "value": 0.5}],
    ]
    code, _, err = run(capfd, "cat", "--features", "los", EVENTS)
    assert (code, err) == (1, "purerecord: no record has a feature 'los'; there is 'loss'\n")


def test_info_counts_tags_and_steps(capfd):
    code, out, _ = run(capfd, "info", EVENTS)
    assert code == 0
    assert out.splitlines()[5:] == [
        "  events       15 in the first 15 records",
        "    accuracy             scalar, 1 value, step 7",
        "    activations          histogram, 1 value, step 7",
        "    loss                 scalar, 3 values, steps 0 to 2",
        "    note                 text, 1 value, step 2",
        "    old_picture/image/0  image, 1 value, step 7",
        "    picture              image, 1 value, step 2",
        "    vector               tensor, 1 value, step 2",
        "    weights              histogram, 1 value, step 2",
    ]
    _, out, _ = run(capfd, "info", EVENTS, EVENTS)
    assert "  loss                 scalar, 6 values, steps 0 to 2" in out
    _, out, _ = run(capfd, "info", "--json", EVENTS)
    (facts,) = json.loads(out)
    assert (facts["events"], facts["undecodable"]) == (15, 0)
    assert facts["tags"]["loss"] == {"kind": "scalar", "values": 3, "first_step": 0, "last_step": 2}


def test_lists_of_examples_are_shown_as_examples(capfd):
    code, out, err = run(capfd, "cat", "--skip", "1", "-n", "2", LISTS)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        '{"context": {"query": ["é"]}, "examples": [{"age": [1, 2]}]}',
        '{"context": {"query": ["éé"]}, "examples": [{"age": [1, 2]}, {"age": [2, 4]}]}',
    ]
    _, out, _ = run(capfd, "cat", "--format", "text", "--features", "age", "--skip", "1", "-n", "1", LISTS)
    assert out.splitlines() == ["record 1: 40 bytes", "  context", "  example 0", "    age: [1, 2]"]
    _, out, _ = run(capfd, "info", LISTS)
    assert out.splitlines()[5:] == [
        "  features     in the first 4 records",
        "    context/query  bytes, 1 value",
        "    examples/age   int64, 1 to 3 steps, missing in 1",
    ]


def test_lists_whose_bytes_are_text_are_not_taken_for_examples(capfd):
    Path("a").write_bytes(frames([delimited(1, encode_example({"a": "b"}))]))
    assert run(capfd, "cat", "a")[1] == '{"context": {}, "examples": [{"a": ["b"]}]}\n'


@pytest.mark.parametrize("path", [EVENTS, LISTS])
def test_validate_decode_says_that_they_are_no_examples(capfd, path):
    code, out, _ = run(capfd, "validate", "--decode", path)
    assert (code, "not an Example" in out) == (3, True)


WALL_TIME = b"\x09" + struct.pack("<d", 1.7e9)
BROKEN = [
    delimited(3, b"brain.Event:\xff"),
    delimited(5, delimited(1, delimited(1, b"\xff") + b"\x15" + bytes(4))),
    delimited(5, delimited(1, delimited(8, b"\x08\x01\x12\x0b\x12\x09\x08" + b"\xff" * 7 + b"\x7f"))),
    delimited(5, delimited(1, delimited(8, b"\x08\x63"))),
]


@pytest.mark.parametrize("content", BROKEN)
@pytest.mark.parametrize("form", ["json", "text"])
def test_an_event_that_does_not_decode_is_shown_as_any_other_message(capfd, content, form):
    Path("a").write_bytes(frames([WALL_TIME + content]))
    code, out, _ = run(capfd, "cat", "--format", form, "a")
    assert code == 0
    assert out.startswith('{"base64": ' if form == "json" else "record 0: ")
    code, out, _ = run(capfd, "info", "a")
    assert (code, "1 no Examples" in out) == (0, True)


def test_odd_values_have_a_place_in_json(capfd):
    event = Event(wall_time=float("nan"), step=-1)
    for number in (float("nan"), float("inf"), 0.1):
        event.summary.value.add(tag="x", simple_value=number)
    event.summary.value.add(tag="old", obsolete_old_style_histogram=b"x")
    event.summary.value.add(tag="sound").audio.encoded_audio_string = b"RIFF...."
    event.summary.value.add(tag="none")
    Path("a").write_bytes(frames([event.SerializeToString()]))
    code, out, _ = run(capfd, "cat", "a")
    shown = json.loads(out)
    assert (code, shown["wall_time"], shown["step"]) == (0, {"float": "nan"}, -1)
    assert [value["value"] for value in shown["values"][:3]] == [{"float": "nan"}, {"float": "inf"}, 0.1]
    assert shown["values"][4]["value"]["format"] == "WAV"
    _, out, _ = run(capfd, "cat", "--format", "text", "a")
    assert out.splitlines()[1] == "  step -1, wall time {'float': 'nan'}"


def test_time_in_words():
    assert time_in_words(1.7e9) == "2023-11-14 22:13:20 UTC"
    assert time_in_words(1e300) == "wall time 1e+300"
