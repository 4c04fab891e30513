"""The files that a command line names."""

from __future__ import annotations

import io
import sys
from argparse import Namespace
from pathlib import Path

from purerecord.cli.exit_status import Outcome
from purerecord.cli.inputs import files_of, name_of, size_of

NO_OPTIONS = Namespace(storage_option=[])


def test_patterns_are_expanded_and_indexes_left_out():
    Path("sound.index").write_bytes(b"")
    outcome = Outcome()
    assert files_of(["so*", "missing"], NO_OPTIONS, outcome) == ["sound", "missing"]
    assert outcome.code == 0


def test_a_pattern_without_a_file_is_a_failure_and_others_follow(capfd):
    outcome = Outcome()
    assert files_of(["no*", "cut"], NO_OPTIONS, outcome) == ["cut"]
    assert (outcome.code, capfd.readouterr().err.count("\n")) == (1, 1)


def test_a_closed_stdin_is_a_failure(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    outcome = Outcome()
    assert files_of(["-"], NO_OPTIONS, outcome) == []
    assert outcome.code == 1


def test_names_and_sizes():
    assert (name_of("cut"), size_of("cut")) == ("cut", Path("cut").stat().st_size)
    assert (name_of(io.BytesIO()), size_of(io.BytesIO()), size_of("missing")) == ("stdin", 0, 0)
