"""The whole package without what Windows lacks. Single differences are tested where the code is."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.places import ROOT


def test_everything_works_without_what_python_lacks_on_windows(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.support.tour", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("done\n")
    left = {name.split(".")[0].split("-")[0] for name in os.listdir(tmp_path)}
    assert left == {"one", "many", "cache", "saved", "bad"}
