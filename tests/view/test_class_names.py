"""The names of classes."""

from __future__ import annotations

import pytest

import purerecord as pr
from purerecord.view.class_names import class_names
from tests.support.damage import frames
from tests.support.viewing import viewing


def test_names_come_from_a_label_map_or_from_lines(tmp_path):
    (tmp_path / "map.pbtxt").write_text("item { id: 1 name: 'cat' } item { id: 5 name: 'dog' }")
    (tmp_path / "label.labels.txt").write_bytes("cat\r\ndög\n".encode())
    assert class_names(str(tmp_path / "map.pbtxt")) == {1: "cat", 5: "dog"}
    assert class_names(tmp_path / "label.labels.txt") == {0: "cat", 1: "dög"}
    assert class_names(None) == {}


def test_a_file_that_holds_no_names_is_an_error(tmp_path):
    (tmp_path / "x.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="it is no text"):
        class_names(str(tmp_path / "x.txt"))
    with pytest.raises(FileNotFoundError):
        class_names(str(tmp_path / "missing"))


def test_boxes_and_labels_that_have_only_numbers_get_their_names(tmp_path):
    (tmp_path / "names").write_text("zero\none\n")
    record = pr.encode_example(
        {"label": 1, "objects/bbox": [0.1, 0.1, 0.5, 0.5] * 2, "objects/label": [0, 7]}
    )
    (tmp_path / "file").write_bytes(frames([record]))
    with viewing(str(tmp_path / "file"), label_map=str(tmp_path / "names")) as asking:
        for overlay in (asking.rows(draw=1)[0]["overlay"], asking.json("api/record", row=0)["overlay"]):
            assert [box["text"] for box in overlay["boxes"]] == ["zero", None]
            assert overlay["labels"] == [{"text": "one", "label": 1}]
