"""``tf.print``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from purerecord import tf

PRINTED: list[tuple[Any, str]] = [
    (("a", tf.constant("b")), 'a "b"\n'),
    ((tf.constant("alone"),), "alone\n"),
    ((tf.constant([1, 2]), 3), "[1 2] 3\n"),
    ((tf.constant([[1.5], [2.0]]),), "[[1.5]\n [2]]\n"),
    ((tf.range(10),), "[0 1 2 ... 7 8 9]\n"),
    (({"a": tf.constant(True)}, ["x"]), "{'a': 1} ['x']\n"),
]


@pytest.mark.parametrize(("values", "text"), PRINTED, ids=[text for _, text in PRINTED])
def test_values_are_printed_to_standard_error(values: Any, text: str, capsys: Any) -> None:
    tf.print(*values)
    assert capsys.readouterr() == ("", text)


def test_stream_separator_and_end_can_be_chosen(tmp_path: Path, capsys: Any) -> None:
    tf.print(1, 2, sep="-", end="!", output_stream=sys.stdout)
    assert capsys.readouterr().out == "1-2!"
    tf.print(tf.range(10), summarize=-1, output_stream=f"file://{tmp_path}/out")
    assert (tmp_path / "out").read_text() == "[0 1 2 3 4 5 6 7 8 9]\n"
