"""Records that would cost too much to decode."""

from __future__ import annotations

from dataclasses import replace

import pytest

import purerecord as pr
from purerecord.view.fetch import has_more_parts
from purerecord.view.limits import DEFAULT
from tests.support.damage import frames
from tests.support.viewing import viewing

MANY = 3000


@pytest.mark.parametrize(
    ("payload", "parts"),
    [
        (pr.encode_example({"strings": [b""] * MANY}), MANY + 1),
        (pr.encode_example({f"f{n}": n for n in range(MANY)}), MANY),
        (pr.encode_sequence_example({}, {"steps": [[b"x"]] * MANY}), 2 * MANY + 1),
        (pr.encode_sequence_example({"a": [b""] * MANY}, {}), MANY + 1),
        (pr.encode_example({"text": b"\n" * MANY}), None),
        (pr.encode_example({"numbers": [10] * MANY}), None),
        (b"\n" * MANY, None),
    ],
)
def test_features_steps_and_strings_are_counted_as_far_as_needed(payload, parts):
    if parts is None:
        assert not has_more_parts(payload, 100)
    else:
        assert has_more_parts(payload, parts - 1)
        assert not has_more_parts(payload, parts)


def test_a_record_of_too_many_parts_is_shown_as_bytes_and_left_out_of_searches(tmp_path):
    payloads = [pr.encode_example({"x": [b"a"] * count, "n": 1}) for count in (3, 500, 5)]
    (tmp_path / "file").write_bytes(frames(payloads))
    with viewing(str(tmp_path / "file"), limits=replace(DEFAULT, record_parts=100)) as asking:
        reason = (
            "the record has more than 100 features and strings; the viewer decodes records of up to so many"
        )
        assert [row["problem"] for row in asking.rows()] == [None, reason, None]
        assert not any(row["damaged"] for row in asking.rows())
        assert [row["row"] for row in asking.rows(where="n == 1")] == [0, 2]
        assert asking.json("api/record", row=1)["problem"] == reason
        assert asking.json("api/hex", row=1)["total"] == len(payloads[1]) + 16
        while (summary := asking.json("api/summary"))["running"]:
            pass
        assert (summary["records"], summary["note"]) == (2, "all 2 records that can be read")
