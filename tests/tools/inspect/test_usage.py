"""``du``: the bytes of each feature, of messages and of frames add up to the file."""

from __future__ import annotations

import json

import pytest

import purerecord as pr
from purerecord import tools
from tests.tools.inspect.test_ends import OPTIONS, written

PAYLOADS = [
    pr.encode_example({"image": bytes(1000 + n), "label": n, "name": f"{n}", "none": []}) for n in range(40)
]
SEQUENCES = [pr.encode_sequence_example({"id": n}, {"steps": [[n] * 3] * n}) for n in range(20)]


@pytest.mark.parametrize("payloads", [PAYLOADS, SEQUENCES, []], ids=["Examples", "SequenceExamples", "none"])
def test_all_adds_up_to_the_file(tmp_path, payloads):
    path = written(tmp_path / "file", payloads)
    found = tools.du(path)
    size = path.stat().st_size
    assert found.record_bytes + found.frame_bytes == found.size == size
    assert sum(feature.size for feature in found.features) + found.other_bytes == found.record_bytes
    assert 0 <= found.other_bytes <= 6 * len(payloads)


def test_the_largest_comes_first(tmp_path):
    found = tools.du(written(tmp_path / "file", PAYLOADS))
    assert [feature.name for feature in found.features] == ["image", "label", "name", "none"]
    assert found.features[0].size > 40_000


def test_a_feature_takes_what_leaving_it_out_saves(tmp_path):
    without = [pr.encode_example({"label": n, "name": f"{n}", "none": []}) for n in range(40)]
    saved = sum(map(len, PAYLOADS)) - sum(map(len, without))
    found = tools.du(written(tmp_path / "file", PAYLOADS))
    outer = 2 * 40  # the length of the message takes two bytes more
    assert abs(found.features[0].size - saved) <= outer


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_compression_changes_only_what_is_on_disk(tmp_path, options):
    plain = tools.du(written(tmp_path / "plain", PAYLOADS))
    other = tools.du(written(tmp_path / "other", PAYLOADS, options))
    assert other.features == plain.features
    assert other.size == (tmp_path / "other").stat().st_size


def test_text_has_bars_and_fits(tmp_path):
    found = tools.du(written(tmp_path / "file", PAYLOADS))
    for width in (60, 80, 120):
        lines = found.text(width).split("\n")
        assert max(map(len, lines)) <= width
        assert [line.split()[0] for line in lines] == [
            *("feature", "image", "label", "name", "none", "(messages)", "(frames)", "all", "40"),
        ]
        assert lines[1].endswith("█")
    assert str(found).endswith("40 records in 1 file, 44.0 kB on disk")


def test_json_reads_back(tmp_path):
    found = tools.du(written(tmp_path / "file", PAYLOADS), workers=2).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert sum(feature["share"] for feature in found["features"]) == pytest.approx(
        1 - found["other_bytes"] / found["record_bytes"]
    )


def test_no_name_controls_a_terminal(tmp_path):
    text = str(tools.du(written(tmp_path / "file", [pr.encode_example({"\x1b[31m\u202e": 1})])))
    assert not set(text) & set("\x1b\u202e")
