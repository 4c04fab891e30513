"""Every test of the command line runs in a folder of its own, with files to work on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import CLEAN, EDGES
from tests.support.damage import cut, flip_byte, insert


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sound").write_bytes(CLEAN)
    Path("damaged").write_bytes(flip_byte(insert(CLEAN, EDGES[50], b"?" * 30), EDGES[7] + 15))
    Path("cut").write_bytes(cut(CLEAN, len(CLEAN) - 9))
    Path("page.html").write_bytes(b"<html><body>Not here</body></html>")
    return tmp_path
