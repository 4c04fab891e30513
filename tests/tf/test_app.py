"""``tf.app.run``; ``test_flags`` runs whole programs with it."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_main_gets_the_arguments_and_its_result_is_the_exit_status() -> None:
    seen: list[list[str]] = []

    def main(argv: list[str]) -> int:
        seen.append(argv)
        return 3

    with pytest.raises(SystemExit) as caught:
        tf.app.run(main, ["program", "file"])
    assert caught.value.code == 3
    assert seen == [["program", "file"]]


def test_flags_are_those_of_tf_flags() -> None:
    assert tf.app.flags is tf.flags
