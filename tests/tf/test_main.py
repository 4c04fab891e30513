"""``python -m purerecord.tf``: the list of names."""

from __future__ import annotations

from purerecord.tf.__main__ import updated
from tests.support.places import ROOT


def test_page_lists_what_is_there():
    page = (ROOT / "docs" / "tensorflow.md").read_text(encoding="utf-8")
    assert page == updated(page), "python -m purerecord.tf docs/tensorflow.md"
