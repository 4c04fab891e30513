"""Foreign libraries for interop tests: skipped where missing, but never skipped in CI."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest


def interop(name: str) -> Any:
    """The module ``name``, or a skip; a failure instead where PURERECORD_REQUIRE_INTEROP is set."""
    if os.environ.get("PURERECORD_REQUIRE_INTEROP"):
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"needs {name}; pip install it to run the interop tests")
