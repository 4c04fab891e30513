"""The bounds of a viewer."""

from __future__ import annotations

from dataclasses import asdict

from purerecord.view.limits import DEFAULT


def test_all_bounds_are_positive_numbers():
    assert all(value > 0 for value in asdict(DEFAULT).values())
    assert DEFAULT.page_bytes + DEFAULT.record_bytes < 1 << 30
