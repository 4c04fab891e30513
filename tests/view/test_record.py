"""The page of a record."""

from __future__ import annotations

import numpy as np

import purerecord as pr
from tests.support.damage import flip_byte, frame, frames, starts
from tests.support.viewing import viewing

PAYLOADS = [
    pr.encode_example({"x": np.arange(3000), "text": "ä" * 20_000}),
    pr.encode_sequence_example({"id": "one"}, {"f": [[1.5], [2.5, 3.5]], "s": [b"a", b"b", b"c"]}),
    pr.encode_example({"t": pr.serialize_tensor(np.arange(6, dtype=np.float32).reshape(2, 3))}),
    pr.serialize_tensor(np.array([[True, False]])),
    b"some text",
]
EDGES = starts(PAYLOADS)


def asking(tmp_path, data=None):
    (tmp_path / "file").write_bytes(frames(PAYLOADS) if data is None else data)
    return viewing(str(tmp_path / "file"))


def test_a_record_has_its_values_and_says_what_is_cut_off(tmp_path):
    with asking(tmp_path) as ask:
        got = ask.json("api/record", row=0)
        numbers, text = sorted(got["features"], key=lambda one: one["kind"], reverse=True)
        assert (numbers["count"], len(numbers["values"]), numbers["cut"]) == (3000, 1000, True)
        assert (len(text["values"][0]["text"]), text["values"][0]["cut"]) == (10_000, True)
        assert (got["previous"], got["next"], got["kind"]) == (None, 1, "Example")


def test_a_record_can_be_asked_for_by_its_offset(tmp_path):
    with asking(tmp_path) as ask:
        assert ask.json("api/record", offset=EDGES[1]) == ask.json("api/record", row=1)
        assert ask.error("api/record", offset=EDGES[1] + 1) == (
            404,
            f"no record is known to begin at byte {EDGES[1] + 1:,}",
        )
        assert ask.error("api/record", row=99) == (404, "there is no record 99: the file has 5")


def test_steps_of_a_sequence_example_are_listed(tmp_path):
    with asking(tmp_path) as ask:
        got = ask.json("api/record", row=1)
        by_name = {one["name"]: one for one in got["features"]}
        assert got["kind"] == "SequenceExample"
        assert by_name["f"]["steps"] == [[1.5], [2.5, 3.5]]
        assert (by_name["f"]["step_count"], by_name["f"]["count"]) == (2, 3)
        assert [step[0]["text"] for step in by_name["s"]["steps"]] == ["a", "b", "c"]
        assert by_name["id"]["steps"] is None


def test_tensors_are_decoded_inside_a_feature_and_as_a_whole_record(tmp_path):
    with asking(tmp_path) as ask:
        (feature,) = ask.json("api/record", row=2)["features"]
        assert feature["values"][0]["tensor"] == {
            "dtype": "float32",
            "shape": [2, 3],
            "values": [0, 1, 2, 3, 4, 5],
            "cut": False,
        }
        got = ask.json("api/record", row=3)
        assert (got["tensor"]["shape"], got["tensor"]["values"]) == ([1, 2], [1, 0])


def test_a_payload_that_is_no_message_is_shown_as_text(tmp_path):
    with asking(tmp_path) as ask:
        got = ask.json("api/record", row=4)
        assert (got["kind"], got["text"], got["features"]) == ("other", "some text", [])


def test_the_bytes_of_the_frame_are_there_with_their_fields(tmp_path):
    with asking(tmp_path) as ask:
        got = ask.json("api/hex", row=4)
        assert bytes.fromhex(got["hex"]) == frame(b"some text")
        assert [(one["name"], one["begin"], one["end"], one["ok"]) for one in got["fields"]] == [
            ("length", 0, 8, True),
            ("length checksum", 8, 12, True),
            ("data", 12, 21, True),
            ("data checksum", 21, 25, True),
        ]
        assert got["fields"][0]["value"] == "9"
        got = ask.json("api/hex", row=0, begin=5000, size=10)
        assert bytes.fromhex(got["hex"]) == frame(PAYLOADS[0])[5000:5010]
        assert len(ask.json("api/hex", row=0, size=10**9)["hex"]) <= 2 * 65_536
        assert ask.json("api/hex", row=4, begin=10**9)["hex"] == ""


def test_a_damaged_record_shows_its_bytes_and_which_field_is_wrong(tmp_path):
    with asking(tmp_path, flip_byte(frames(PAYLOADS), EDGES[4] + 14)) as ask:
        got = ask.json("api/record", row=4)
        assert got["problem"] == "the data does not match its checksum"
        assert [one["ok"] for one in got["fields"]] == [True, True, False, False]
        assert len(ask.json("api/hex", row=4)["hex"]) == 50


def test_bytes_anywhere_in_the_file_can_be_seen(tmp_path):
    data = frames(PAYLOADS)
    with asking(tmp_path) as ask:
        got = ask.json("api/hex", file=0, offset=3, size=9)
        assert bytes.fromhex(got["hex"]) == data[3:12]
        assert ask.json("api/hex", file=0, offset=10**15)["hex"] == ""


def test_all_values_of_a_record_together_are_bounded(tmp_path):
    payloads = [
        pr.encode_example({f"f{n:03d}": [b""] * 1000 for n in range(50)}),
        pr.encode_sequence_example({}, {f"f{n:03d}": [[1] * 90] * 250 for n in range(20)}),
    ]
    (tmp_path / "file").write_bytes(frames(payloads))
    with viewing(str(tmp_path / "file")) as ask:
        got = ask.json("api/record", row=0)
        assert len(got["features"]) == 50
        assert sum(len(one["values"]) for one in got["features"]) == 20_000
        assert (got["features"][-1]["values"], got["features"][-1]["cut"]) == ([], True)
        got = ask.json("api/record", row=1)
        assert sum(len(step) for one in got["features"] for step in one["steps"]) <= 20_000
        assert all(one["cut"] for one in got["features"])
