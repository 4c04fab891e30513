"""Code blocks of the pages in docs/: run them, and compare what they print with the page."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
from typing import Any

from tests.support.places import ROOT


def same(expected: str, got: str) -> None:
    """Assert that ``got`` is ``expected``, in which ``...`` stands for anything."""
    if not doctest.OutputChecker().check_output(expected, got, doctest.ELLIPSIS):
        assert got == expected


def run_blocks(page: str, mark: str) -> int:
    """Run the ``python`` blocks with ``mark`` (a pattern) of a page; each ``text`` block is compared with the
    output before it. Returns how many blocks there are."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(rf"^```(python|text){mark}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    output = ""
    for language, code in blocks:
        if language == "text":
            same(code, output)
            continue
        stdout = io.StringIO()
        with contextlib.redirect_stdout(stdout):
            exec(compile(code, page, "exec"), namespace)
        output = stdout.getvalue()
    return len(blocks)
