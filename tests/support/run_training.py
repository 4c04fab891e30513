"""Runs the training examples as a user does, kills them in the middle, and reads what they print."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.support.places import ROOT


class Example:
    """One of the scripts in ``examples``, with a folder for each run."""

    def __init__(self, script: str, folder: Path) -> None:
        self._script = str(ROOT / "examples" / script)
        self._folder = folder

    def start(self, run: str, *options: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-W", "ignore", self._script, str(self._folder / run), *options]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    def finish(self, run: str, *options: str) -> str:
        """Everything a run printed that came to its end."""
        process = self.start(run, *options)
        try:
            output, errors = process.communicate(timeout=120)
        finally:
            process.kill()
        assert process.returncode == 0, errors
        return output

    def use_data_of(self, other: str, run: str) -> None:
        """Spare a run the drawing of pictures."""
        shutil.copytree(
            self._folder / other, self._folder / run, ignore=shutil.ignore_patterns("*.pt", "*.npz")
        )

    def check_killed_by_itself(self, run: str, *options: str) -> None:
        process = self.start(run, *options)
        process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL

    def check_killed_from_outside(self, run: str, line: str, *options: str) -> None:
        """Start a run and kill it when it prints ``line``."""
        process = self.start(run, *options)
        assert process.stdout is not None
        assert any(said.startswith(line) for said in process.stdout)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL


def losses(output: str) -> dict[tuple[int, int], str]:
    """The loss of each step."""
    found = re.findall(r"^epoch (\d+) step (\d+) loss (\S+)$", output, re.MULTILINE)
    return {(int(epoch), int(step)): loss for epoch, step, loss in found}


def check_learning(output: str, epochs: int, steps: int) -> None:
    """The loss falls, and the model is mostly right about pictures that it has not seen."""
    by_step = losses(output)
    assert list(by_step) == [(epoch, step) for epoch in range(epochs) for step in range(1, steps + 1)]
    values = [float(loss) for loss in by_step.values()]
    assert np.mean(values[-20:]) < np.mean(values[:20]) / 2
    accuracy = re.search(r"^accuracy (\S+)$", output, re.MULTILINE)
    assert accuracy is not None
    assert float(accuracy[1]) > 0.75


def check_went_on(output: str, whole: str, killed: tuple[int, int]) -> None:
    """A run went on at the last checkpoint before it was killed, and did the rest of the whole run.

    Between the line that made us kill it and its end it may have come further.
    """
    going_on = re.match(r"resuming in epoch (\d+) after step (\d+)\n", output)
    assert going_on is not None
    place = int(going_on[1]), int(going_on[2])
    assert place >= killed
    rest = {step: loss for step, loss in losses(whole).items() if step > place}
    assert rest
    assert losses(output) == rest
    assert output.splitlines()[-1] == whole.splitlines()[-1]
