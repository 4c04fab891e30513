"""Foreign libraries for interop tests: skipped where missing, but never skipped in CI."""

from __future__ import annotations

import importlib
import os
import re
from typing import Any

import pytest

from tests.support.places import ROOT


def interop(name: str) -> Any:
    """The module ``name``, or a skip; a failure instead where PURERECORD_REQUIRE_INTEROP is set."""
    if os.environ.get("PURERECORD_REQUIRE_INTEROP"):
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"needs {name}; pip install it to run the interop tests")


def run_page(page: str, mark: str) -> int:
    """Run the blocks of a page in docs/ that are plain ``python``, or marked so; how many are marked."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(rf"^```python( {mark})?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for _, code in blocks:
        exec(compile(code, page, "exec"), namespace)
    return sum(1 for marked, _ in blocks if marked)
