"""Worker processes start by fork, forkserver and spawn alike; the chosen way never changes a result.

Each start method runs in a program of its own, because a program can choose only once. What the programs do
is in tests/support/start_methods.py.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

import purerecord as pr
from purerecord.processes import start
from tests.support.places import ROOT

METHODS = multiprocessing.get_all_start_methods()  # fork, forkserver, spawn; on Windows spawn alone


UNGUARDED = {
    "validate": "pr.validate(['f0', 'f1', 'f2'], workers=2)",
    "map": "list(Dataset.range(6).map(operator.neg, 2, processes=True))",
    "parallel": "list(TFRecordDataset(['f0', 'f1', 'f2']).parallel(2))",
}


def run_program(function: str, folder: Path, method: str) -> list[str]:
    program = (
        f"from tests.support.start_methods import {function}\n"
        f"if __name__ == '__main__':\n"
        f"    {function}({str(folder)!r}, {method!r})\n"
    )
    script = folder / "program.py"
    script.write_text(program)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.light(2)
@pytest.mark.parametrize("method", METHODS)
def test_every_start_method_gives_the_same(method, tmp_path):
    assert run_program("run_everything", tmp_path, method) == [
        "18",
        "[0, 1, 4, 9, 16, 25]",
        "[5, 9, 4]",
    ]


@pytest.mark.skipif("forkserver" not in METHODS, reason="this system has no fork")
def test_forked_process_does_not_use_the_fork_server_of_its_parent(tmp_path):
    lines = run_program("run_in_a_forked_process", tmp_path, "forkserver")
    assert lines == ["14", "14", "[0, 1, 4, 9, 16, 25]"]


def run_script(folder: Path, script: str) -> str:
    """The last line that a script which fails has printed on stderr."""
    for number in range(3):
        with pr.TFRecordWriter(folder / f"f{number}") as writer:
            writer.write_many([b"x"] * 10)
    (folder / "script.py").write_text(
        f"import multiprocessing, operator\n"
        f"import purerecord as pr\n"
        f"from purerecord.dataset import Dataset, TFRecordDataset\n"
        f"{script}\n"
    )
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    (error,) = (line for line in done.stderr.splitlines() if line.startswith("RuntimeError: worker "))
    return error


@pytest.mark.light(2)
@pytest.mark.parametrize("call", UNGUARDED)
@pytest.mark.parametrize("method", [method for method in METHODS if method != "fork"])
def test_script_without_a_main_guard_is_one_error_that_names_it(method, call, tmp_path):
    error = run_script(
        tmp_path, f"multiprocessing.set_start_method({method!r}, force=True)\nprint({UNGUARDED[call]})"
    )
    assert 'main guard, if __name__ == "__main__":' in error


@pytest.mark.skipif("forkserver" not in METHODS, reason="this system has no fork")
@pytest.mark.light(1)
@pytest.mark.parametrize("call", UNGUARDED)
def test_fork_server_that_cannot_start_is_the_same_error(call, tmp_path):
    # From Python 3.14 on the fork server itself imports the main script, and so ends.
    (tmp_path / "unguarded.py").write_text("raise RuntimeError")
    error = run_script(
        tmp_path,
        f"if __name__ == '__main__':\n"
        f"    multiprocessing.set_start_method('forkserver')\n"
        f"    multiprocessing.set_forkserver_preload(['unguarded'])\n"
        f"    print({UNGUARDED[call]})",
    )
    assert "main guard" in error


def test_processes_are_spawned_beside_jax_and_as_the_program_says_elsewhere(monkeypatch):
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    assert start.start_context().get_start_method() == multiprocessing.get_start_method()
    monkeypatch.setitem(sys.modules, "jax", types.ModuleType("jax"))
    assert start.start_context().get_start_method() == "spawn"


def test_worker_process_may_not_start_others(monkeypatch):
    start.refuse_in_worker()
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    with pytest.raises(RuntimeError, match="may not start further ones"):
        start.refuse_in_worker()
