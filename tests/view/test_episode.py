"""The steps of a record over time."""

from __future__ import annotations

import numpy as np
import pytest

import purerecord as pr
from purerecord.view.cells import Place
from purerecord.view.decoded import decoded
from purerecord.view.episode import MOST_STEPS, episode_of, is_episode
from tests.support.damage import frames
from tests.support.viewing import viewing
from tests.view.test_picture_size import png

RLDS = {
    "steps/observation/image": [png(4, n + 1) for n in range(3)],
    "steps/observation/state": np.arange(6, dtype=np.float32),
    "steps/action": np.arange(21, dtype=np.float32),
    "steps/reward": np.array([0, 0, 1], np.float32),
    "steps/is_first": [1, 0, 0],
    "steps/is_last": [0, 0, 1],
    "steps/language_instruction": ["pick up"] * 3,
    "episode_metadata/file_path": "x",
}


def shown(payload):
    found = decoded(payload)
    assert is_episode(found)
    return episode_of(found, Place(0, 5))


def test_an_rlds_episode_of_flat_features():
    got = shown(pr.encode_example(RLDS))
    assert (got["steps"], got["cut"]) == (3, False)
    (frame,) = got["frames"]
    assert (frame["count"], frame["by"], frame["content"], frame["width"]) == (3, "value", "PNG", 4)
    curves = {curve["name"]: (curve["dims"], curve["series"]) for curve in got["curves"]}
    assert curves["steps/reward"] == (1, [[0, 0, 1]])
    assert curves["steps/observation/state"] == (2, [[0, 2, 4], [1, 3, 5]])
    assert curves["steps/action"][0] == 7
    assert got["texts"] == [{"name": "steps/language_instruction", "values": ["pick up"], "constant": True}]
    assert {mark["name"]: mark["at"] for mark in got["marks"]} == {
        "steps/is_first": [0],
        "steps/is_last": [2],
    }
    assert [one["name"] for one in got["context"]] == ["episode_metadata/file_path"]


def test_a_sequence_example_has_its_lists_as_steps():
    lists = {
        "frame": [png(1, 1), png(2, 2)],
        "x": [[1.5, 2.5], [3.5, 4.5]],
        "words": ["a", "b"],
        "boxes": [[1], [2, 3]],
        "empty": [[], []],
    }
    got = shown(pr.encode_sequence_example({"id": 7}, lists))
    assert got["frames"][0]["by"] == "step"
    curves = {curve["name"]: curve["series"] for curve in got["curves"]}
    assert curves == {"x": [[1.5, 3.5], [2.5, 4.5]], "boxes (number of values)": [[1, 2]]}
    assert got["texts"] == [{"name": "words", "values": ["a", "b"], "constant": False}]


def test_long_and_wide_episodes_are_cut_and_say_so():
    got = shown(pr.encode_example({"steps/reward": np.zeros(5000), "steps/wide": np.zeros(5000 * 40)}))
    assert (got["steps"], got["cut"]) == (5000, True)
    by_name = {curve["name"]: curve for curve in got["curves"]}
    assert len(by_name["steps/reward"]["series"][0]) == MOST_STEPS
    assert (by_name["steps/wide"]["dims"], len(by_name["steps/wide"]["series"])) == (40, 32)


def test_without_a_feature_of_one_value_a_step_the_greatest_common_divisor_tells():
    got = shown(pr.encode_example({"steps/a": np.zeros(12), "steps/b": np.zeros(18)}))
    assert got["steps"] == 6
    assert {curve["name"]: curve["dims"] for curve in got["curves"]} == {"steps/a": 2, "steps/b": 3}


@pytest.mark.parametrize("payload", [pr.encode_example({"x": 1}), b"", b"\xff"])
def test_other_records_are_no_episodes(payload):
    assert not is_episode(decoded(payload))


def test_frames_are_asked_for_by_the_number_of_their_step(tmp_path):
    payloads = [
        pr.encode_example(RLDS),
        pr.encode_sequence_example({}, {"f": [png(1, 1), png(2, 2)]}),
        pr.encode_example({"x": 1}),
    ]
    (tmp_path / "file").write_bytes(frames(payloads))
    with viewing(str(tmp_path / "file")) as asking:
        for row, data in ((0, png(4, 2)), (1, png(2, 2))):
            assert asking.json("api/record", row=row)["episode"]
            (frame,) = asking.json("api/episode", row=row)["frames"]
            assert asking.at(f"{frame['media']}&{frame['by']}=1").body == data
        assert asking.error("api/episode", row=2) == (404, "the record has no steps")
