"""``tf.app``: ``tf.app.run()`` of TensorFlow 1, which reads the flags and calls ``main``.

This module does not know tensors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import flags
from ._missing import missing

__all__ = ["flags", "run"]


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """Calls ``main`` with the command line without flags, and exits with its result."""
    function = main or sys.modules["__main__"].main
    sys.exit(function(flags.FLAGS(sys.argv if argv is None else argv)))


__getattr__ = missing("app")
