"""``tf.app``: how programs for TensorFlow 1 began: ``tf.app.run()`` reads the options and calls ``main``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import flags
from ._missing import missing

__all__ = ["flags", "run"]


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """Calls ``main`` with what the options leave of the command line, and ends the program."""
    function = main or sys.modules["__main__"].main
    sys.exit(function(flags.FLAGS(sys.argv if argv is None else argv)))


__getattr__ = missing("app")
