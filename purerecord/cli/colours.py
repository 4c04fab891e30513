"""Colours on a terminal: on stdout, and only if that is a terminal and NO_COLOR is not set.

This module must not know what is printed.
"""

from __future__ import annotations

import os
import sys


def coloured() -> bool:
    """Whether stdout shows colours."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or sys.stdout is None:
        return False
    return sys.stdout.isatty()


def bold(text: str) -> str:
    """``text``, bold if that can be."""
    return _styled("1", text)


def dim(text: str) -> str:
    """``text``, faint if that can be."""
    return _styled("2", text)


def cyan(text: str) -> str:
    """``text``, in cyan if that can be."""
    return _styled("36", text)


def _styled(code: str, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if text and coloured() else text
