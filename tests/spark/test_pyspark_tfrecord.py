"""The module that Spark imports: cheap, without errors where Spark is missing, at the top of the wheel."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import purerecord
import purerecord.spark

PACKAGE = Path(purerecord.__file__).parent
MODULE = PACKAGE / "spark" / "pyspark_tfrecord.py"
PROGRAM = f"""
import runpy, sys
sys.modules["pyspark"] = None
found = runpy.run_path({str(MODULE)!r})
print("DefaultSource" in found, [name for name in ("pyarrow", "google.protobuf") if name in sys.modules])
"""


def test_import_never_fails_and_brings_in_little():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False []\n"


def test_without_spark_the_name_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql.datasource", None)
    monkeypatch.delitem(sys.modules, "purerecord.spark.source", raising=False)
    with pytest.raises(ImportError, match=r'pip install "purerecord\[spark\]"'):
        purerecord.spark.DefaultSource  # noqa: B018 - asking is the test
    with pytest.raises(AttributeError, match="no attribute 'OtherSource'"):
        purerecord.spark.OtherSource  # noqa: B018


def test_wheel_has_it_at_the_top():
    if sys.version_info < (3, 11):
        pytest.skip("the standard library reads TOML from 3.11 on")
    project = PACKAGE.parent / "pyproject.toml"
    settings = importlib.import_module("tomllib").loads(project.read_text())
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {
        MODULE.relative_to(PACKAGE.parent).as_posix(): "pyspark_tfrecord/__init__.py"
    }
