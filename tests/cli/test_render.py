"""Records as JSON lines and as text, and the summary of a file."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from purerecord import encode_example, encode_sequence_example
from tests.support.command_line import run
from tests.support.damage import frames

# Records


ODD = [
    ("Zoë".encode(), '"Zoë"'),
    (b"\xff\x00", '{"base64": "/wA="}'),
    (encode_example({"b": [b"\xfe", "é"]}), '{"b": [{"base64": "/g=="}, "é"]}'),
    (encode_example({"f": [np.nan, np.inf, 0.1]}), '{"f": [{"float": "nan"}, {"float": "inf"}, 0.1]}'),
    (encode_example({"e": []}), '{"e": []}'),
    (encode_example({}), "{}"),
    (
        encode_sequence_example({"id": 1}, {"s": [[1, 2], [3]]}),
        '{"context": {"id": [1]}, "sequence": {"s": [[1, 2], [3]]}}',
    ),
]


@pytest.mark.parametrize(("payload", "line"), ODD)
def test_cat_prints_what_json_lacks(capfd, payload, line):
    Path("odd").write_bytes(frames([payload]))
    assert run(capfd, "cat", "odd") == (0, line + "\n", "")


def test_cat_prints_text(capfd):
    payloads = [
        encode_example({"image": b"\xff\xd8\xff\xe0" + bytes(90), "ids": list(range(20)), "word": "x" * 100}),
        encode_sequence_example({}, {"steps": [[1], []]}),
        b"\xff\xff",
    ]
    Path("a").write_bytes(frames(payloads))
    _, out, _ = run(capfd, "cat", "--format", "text", "a")
    assert out.splitlines() == [
        f"record 0: {len(payloads[0])} bytes",
        "  ids: [0, 1, 2, 3, 4, 5, 6, 7, ... (20 values)]",
        "  image: <94 bytes, a JPEG image>",
        f'  word: "{"x" * 60}..."',
        f"record 1: {len(payloads[1])} bytes",
        "  steps: 2 steps",
        "    1",
        "    []",
        "record 2: 2 bytes",
        "  no Example; <2 bytes>",
    ]


def test_unknown_feature_is_named_with_those_that_are_like_it(capfd):
    code, out, err = run(capfd, "cat", "sound", "--features", "lable,score", "--limit", "2")
    assert code == 1
    assert [json.loads(line) for line in out.splitlines()] == [{"score": [0.0]}, {"score": [0.1]}]
    assert err == "purerecord: no record has a feature 'lable'; there is 'label'\n"
    _, _, err = run(capfd, "cat", "sound", "--features", "nope")
    assert err == "purerecord: no record has a feature 'nope'; there is 'label', 'name', 'score'\n"


def test_nothing_is_printed_if_no_record_has_the_feature(capfd):
    Path("a").write_bytes(frames([encode_example({name: [] for name in "gfedcba"})] * 3))
    code, out, err = run(capfd, "cat", "a", "--features", "nope", "--limit", "1")
    assert (code, out) == (1, "")
    there = ", ".join(map(repr, "abcdefg"))
    assert err == f"purerecord: no record has a feature 'nope'; there is {there}\n"


def test_records_held_back_until_a_feature_comes_are_few(capfd, monkeypatch):
    monkeypatch.setattr("purerecord.cli.record_printer._MOST_HELD", 2)
    Path("a").write_bytes(frames([encode_example({"x": 1})] * 4))
    code, out, _ = run(capfd, "cat", "a", "--features", "y")
    assert (code, out) == (1, "{}\n" * 3)


def test_feature_that_only_some_records_have_is_none_to_complain_of(capfd):
    Path("a").write_bytes(frames([encode_example({"x": 1}), encode_example({"y": 2})]))
    assert run(capfd, "cat", "a", "--features", "y") == (0, '{}\n{"y": [2]}\n', "")


# Files


def test_info_says_what_is_in_a_file(capfd):
    code, out, err = run(capfd, "info", "sound")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "sound",
        "  size         7.3 kB",
        "  compression  none",
        "  records      100",
        "  record size  56 bytes to 57 bytes, 57 bytes on average",
        "  features     in the first 100 records",
        "    label  int64, 1 value",
        "    name   bytes, 1 value",
        "    score  float32, 1 value",
    ]


def test_info_of_ragged_and_missing_features(capfd):
    Path("a").write_bytes(frames([encode_example({"x": [1, 2]}), encode_example({"x": [], "y": 2.5})]))
    _, out, _ = run(capfd, "info", "a")
    assert "x  empty/int64, 0 to 2 values" in out
    assert "y  float32, 1 value, missing in 1" in out


def test_info_of_a_feature_list_without_steps(capfd):
    Path("a").write_bytes(frames([encode_sequence_example({"n": 1}, {"x": []})]))
    _, out, _ = run(capfd, "info", "a")
    assert "x  empty, 0 steps" in out


def test_one_is_no_plural(capfd):
    Path("a").write_bytes(frames([b"\xff"]))
    _, out, _ = run(capfd, "info", "a")
    assert "1 byte to 1 byte, 1 byte on average" in out
    assert "1 of the first 1 record are" not in out
    assert run(capfd, "cat", "--format", "text", "a")[1] == "record 0: 1 byte\n  no Example; <1 byte>\n"
    assert run(capfd, "index", "a")[1] == "a.index: 1 record\n"


def test_info_of_an_empty_file(capfd):
    Path("empty").write_bytes(b"")
    code, out, _ = run(capfd, "info", "empty")
    assert code == 0
    assert "records      0" in out


# Other messages

OTHER = b"\x19" + bytes(6) + b"\xf8\x3f\x22\x05hello"  # the fields 3 and 4
FIELDS = "another message, with the fields 3 (fixed64), 4 (length-delimited)"


def test_cat_does_not_show_another_message_as_an_empty_example(capfd):
    Path("messages").write_bytes(frames([encode_example({"x": 1}), OTHER, OTHER, b""]))
    code, out, err = run(capfd, "cat", "messages")
    encoded = json.dumps({"base64": base64.b64encode(OTHER).decode()})
    assert (code, out.splitlines()) == (0, ['{"x": [1]}', encoded, encoded, "{}"])
    assert err == f"purerecord: messages: record 1: no Example, but {FIELDS}; --proto FILE decodes it\n"
    _, out, err = run(capfd, "cat", "--skip", "1", "-n", "1", "--format", "text", "messages")
    assert (out.splitlines(), err) == ([f"record 1: {len(OTHER)} bytes", f"  no Example; {FIELDS}"], "")


def test_info_says_that_records_are_another_message(capfd):
    Path("messages").write_bytes(frames([b"", OTHER, OTHER]))
    code, out, _ = run(capfd, "info", "messages")
    assert code == 0
    assert out.splitlines()[5:] == [
        "  content      of the first 3 records, 2 no Examples",
        f"               the first of these: {FIELDS}",
    ]
    _, out, _ = run(capfd, "info", "--json", "messages")
    assert json.loads(out)[0]["other_message"] == FIELDS
    code, _, err = run(capfd, "info", "--schema", "messages")
    assert (code, err) == (1, f"purerecord: messages: record 1: no Example, but {FIELDS}\n")


def test_validate_decode_does_not_take_another_message_for_an_example(capfd):
    Path("messages").write_bytes(frames([b"", OTHER, OTHER]))
    assert run(capfd, "validate", "-q", "messages") == (0, "", "")
    code, out, _ = run(capfd, "validate", "--decode", "messages")
    assert code == 3
    assert "not an Example" in out
