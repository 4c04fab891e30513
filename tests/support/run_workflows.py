"""Runs the workflows in ``examples`` as separate programs, with purerecord or with TensorFlow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.places import ROOT

EXAMPLES = ROOT / "examples"
WORKFLOWS = ("cats_and_dogs", "landmarks", "tutorial", "faces", "single_image")


class Run:
    """A running workflow. ``finish`` waits for its end and sets ``output`` and ``errors``."""

    def __init__(self, workflow: str, out: Path, *options: str, modules: Path | None = None) -> None:
        self.out = out
        paths = [str(path) for path in (modules, EXAMPLES.parent) if path]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONUTF8": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        warnings = [] if options else ["-W", "error"]  # TensorFlow itself raises warnings
        command = [sys.executable, *warnings, str(EXAMPLES / f"{workflow}.py"), "--out", str(out), *options]
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment,
        )

    def finish(self) -> Run:
        try:
            self.output, self.errors = self._process.communicate(timeout=120)
        finally:
            self._process.kill()
        assert self._process.returncode == 0, self.errors
        return self
