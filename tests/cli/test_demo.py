"""The tour that ``purerecord demo`` gives: it runs, and leaves its files where it was told to."""

from __future__ import annotations

import os

from purerecord import validate
from purerecord.cli import demo
from tests.support.command_line import run
from tests.support.other_systems import sync_as_windows


def test_demo_writes_damages_and_repairs(capfd, monkeypatch):
    monkeypatch.setattr(demo, "RECORDS", 2000)
    code, out, err = run(capfd, "demo", "tour")
    assert (code, err) == (0, "")
    assert "to be salvaged or made again: tour/damaged.tfrecord" in out
    assert out.splitlines()[-1].endswith("records into a clean file")
    assert validate("tour/repaired.tfrecord").ok
    assert not validate("tour/damaged.tfrecord").ok


def test_demo_without_a_folder_leaves_nothing(capfd, monkeypatch):
    monkeypatch.setattr(demo, "RECORDS", 2000)
    before = sorted(os.listdir())
    assert run(capfd, "demo")[0] == 0
    assert sorted(os.listdir()) == before


def test_demo_runs_where_windows_syncs_only_what_is_open_for_writing(capfd, monkeypatch):
    monkeypatch.setattr(demo, "RECORDS", 2000)
    sync_as_windows(monkeypatch)
    assert run(capfd, "demo")[0] == 0
