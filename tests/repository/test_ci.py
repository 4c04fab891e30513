"""The script that checks everything: no test is skipped in each of its environments."""

from __future__ import annotations

import re

import pytest

from tests.support.places import ROOT

SCRIPT = ROOT / ".ci" / "run"


@pytest.mark.skipif(not SCRIPT.exists(), reason="a source distribution does not have it")
def test_every_test_that_needs_a_foreign_library_runs_where_all_are_installed():
    step = SCRIPT.read_text().partition("    tensorflow)\n")[2].partition("\n      ;;")[0]
    folders = tuple(re.findall(r"(?<=[ ])tests/\w+(?=\s)", step))
    needy = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"\b(interop|importorskip)\(\"", path.read_text())
    }
    assert len(needy) > 20
    assert [path for path in needy if not path.startswith(folders)] == []
