"""``tf.flags`` and ``tf.app``: what programs for TensorFlow 1 did at their top and at their bottom."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from purerecord import tf
from tests.support.places import ROOT

PROGRAM = """
{imports}
flags = tf.app.flags
flags.DEFINE_string("output_path", "", "Path to output TFRecord, 100%")
flags.DEFINE_integer("num_shards", 2, "shards")
flags.DEFINE_float("split", 0.5, "part")
flags.DEFINE_boolean("shuffle", False, "in any order")
flags.DEFINE_bool("verbose", True, "say more")
flags.DEFINE_enum("kind", "train", ["train", "test"], "which")
flags.DEFINE_list("classes", "cat,dog", "names")
FLAGS = flags.FLAGS

def main(argv):
    print([FLAGS.output_path, FLAGS.num_shards, FLAGS.split, FLAGS.shuffle, FLAGS.verbose, FLAGS.kind])
    print(FLAGS.classes, argv[1:])
    FLAGS.num_shards = 7
    print(FLAGS.num_shards, "split" in FLAGS, "nothing" in FLAGS)

if __name__ == "__main__":
    tf.app.run()
"""
LINES: list[tuple[list[str], list[Any], list[str], list[str]]] = [
    ([], ["", 2, 0.5, False, True, "train"], ["cat", "dog"], []),
    (
        ["--output_path=o", "--num_shards", "3", "--split=0.25", "--shuffle", "--noverbose", "--kind=test"],
        ["o", 3, 0.25, True, False, "test"],
        ["cat", "dog"],
        [],
    ),
    (
        ["-output_path", "o", "--shuffle=true", "--classes=a, b", "rest"],
        ["o", 2, 0.5, True, True, "train"],
        ["a", "b"],
        ["rest"],
    ),
]


def run_program(tmp_path: Path, imports: str, line: list[str]) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(imports=imports))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.run(
        [sys.executable, str(script), *line], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.light(2)
@pytest.mark.parametrize(("line", "values", "classes", "rest"), LINES)
def test_options_are_those_of_the_command_line(
    tmp_path: Path, line: list[str], values: list[Any], classes: list[str], rest: list[str]
) -> None:
    done = run_program(tmp_path, "import purerecord.tf as tf", line)
    assert done.stdout == f"{values}\n{classes} {rest}\n7 True False\n", done.stderr
    assert done.returncode == 0


@pytest.mark.light(2)
@pytest.mark.parametrize("line", [["--num_shards=x"], ["--no_such_thing=1"], ["--kind=other"], ["--split"]])
def test_wrong_options_end_the_program_with_a_word(tmp_path: Path, line: list[str]) -> None:
    done = run_program(tmp_path, "import purerecord.tf.compat.v1 as tf", line)
    assert done.returncode != 0
    assert line[0].lstrip("-").partition("=")[0] in done.stderr
    assert not done.stdout


def test_unknown_option_is_no_attribute() -> None:
    with pytest.raises(AttributeError):
        tf.flags.FLAGS.no_such_thing  # noqa: B018 - asking is the test


def test_required_option_must_have_a_value() -> None:
    tf.flags.DEFINE_string("needed_in_test", None, "needed")
    tf.flags.mark_flag_as_required("needed_in_test")
    with pytest.raises(SystemExit):
        tf.flags.FLAGS(["program"])
    assert tf.flags.FLAGS(["program", "--needed_in_test=x", "y"]) == ["program", "y"]
    assert tf.flags.FLAGS.needed_in_test == "x"
    assert tf.flags.FLAGS.flag_values_dict()["needed_in_test"] == "x"
