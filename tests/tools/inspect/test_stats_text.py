"""Statistics as text: what it says, that it fits, and that nothing in it controls a terminal."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pytest

import purerecord as pr
from purerecord import tools
from purerecord.tools.inspect.stats_text import bars, number_text, share_text, value_text
from tests.tools.inspect.test_ends import written


@pytest.fixture
def path(tmp_path):
    payloads = [
        pr.encode_example(
            {
                "label": n % 4,
                "score": np.float32(n / 7) if n % 9 else np.nan,
                "name": "x\x1b[31m\u202e" if n % 2 else f"{n}" * 20,
                "tags": ["a"] * (n % 3),
                "evil\x1b\n": 1,
                **({"seldom": [7, 8]} if n == 3 else {}),
            }
        )
        for n in range(90)
    ]
    return written(tmp_path / "file", payloads)


def test_each_feature_has_its_lines(path):
    text = str(tools.stats(path))
    blocks = dict(block.split("\n", 1) for block in text.split("\n\n")[1:])
    assert list(blocks) == [
        r"evil\x1b\n  int64, 1 value",
        "label  int64, 1 value",
        "name  bytes, 1 value",
        "score  float32, 1 value",
        "seldom  int64, 2 values",
        "tags  bytes, 1 to 2 values",
    ]
    assert blocks["label  int64, 1 value"].split("\n")[1:] == [
        "  numbers    0 to 3  ████, mean 1.47778, deviation 1.11781, 23 zeros",
        "  quantiles  1% 0, 5% 0, 25% 0, 50% 1, 75% 2, 95% 3, 99% 3",
        "  frequent   4 distinct values: 0 (23), 1 (23), 2 (22), 3 (22)",
    ]
    assert "10 NaN" in blocks["score  float32, 1 value"]
    assert "in 1 record, missing in 89 (98.9 %)" in blocks["seldom  int64, 2 values"]
    assert "without a list in 30" in blocks["tags  bytes, 1 to 2 values"]
    assert r'"x\u001b[31m\u202e" (45)' in blocks["name  bytes, 1 value"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit_and_control_nothing(path, width):
    lines = tools.stats(path, most_distinct=3).text(width).split("\n")
    assert max(map(len, lines)) <= width
    assert not any(unicodedata.category(letter).startswith("C") for line in lines for letter in line)


def test_damage_and_other_records_are_counted(tmp_path):
    path = written(tmp_path / "file", [b"junk", pr.encode_example({"a": 1})])
    path.write_bytes(path.read_bytes() + b"rest")
    text = str(tools.stats(path, on_error="skip"))
    assert text.split("\n")[2:4] == ["1 record no Examples, left out", "1 damaged place left out"]


def test_no_records_are_said(tmp_path):
    assert str(tools.stats(written(tmp_path / "file", []))) == "0 records in 1 file, 0 bytes"


def test_steps_of_feature_lists_are_told(tmp_path):
    payloads = [pr.encode_sequence_example({}, {"xs": [[1, 2]] * n}) for n in (1, 3)]
    text = str(tools.stats(written(tmp_path / "file", payloads)))
    assert "xs  int64, 2 values a step, 1 to 3 steps" in text
    assert re.search(r"  steps      1 to 3  █ █, mean 2", text)


def test_bars():
    assert bars([0, 1, 4, 8]) == " ▁▄█"
    assert bars([1, 1_000_000]) == "▁█"
    assert bars([]) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "?"), (1234567, "1,234,567"), (2.0, "2"), (1 / 3, "0.333333"), (1e30, "1e+30"), (-0.5, "-0.5")],
)
def test_numbers(value, text):
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0.0 %"), (1e-9, "< 0.1 %"), (0.5, "50.0 %"), (1 - 1e-9, "> 99.9 %"), (1.0, "100.0 %")],
)
def test_shares(share, text):
    assert share_text(share) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (np.float32(0.1).item(), "0.1"),
        (b"cat", '"cat"'),
        (b"x" * 99, '"' + "x" * 30 + '..."'),
        (b"\xff\x00", "<ff 00>"),
        (b"\xff" * 99, "<" + " ".join(["ff"] * 15) + " ...>"),
    ],
)
def test_values(value, text):
    assert value_text(value) == text
