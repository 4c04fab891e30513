"""The workflows in ``examples`` have the same output and files with purerecord and with TensorFlow."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import purerecord as pr
from tests.support.interop import interop
from tests.support.run_workflows import WORKFLOWS, Run

Image = interop("PIL.Image")
if find_spec("tensorflow") is None:  # importing it takes seconds, and only the subprocesses need it
    interop("tensorflow")


def pixels(path: Path) -> tuple[str, np.ndarray]:
    with Image.open(path) as picture:
        return picture.mode, np.array(picture)


def files(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_outputs_are_equal(workflow: str, tmp_path: Path) -> None:
    started = [Run(workflow, tmp_path / "purerecord"), Run(workflow, tmp_path / "tensorflow", "--tensorflow")]
    mine, theirs = (run.finish() for run in started)
    assert mine.output == theirs.output
    names = files(mine.out)
    assert names == files(theirs.out)
    records = 0
    for name in names:
        if name.suffix == ".png":  # TensorFlow compresses PNGs in another way
            (mode, image), (other_mode, other) = pixels(mine.out / name), pixels(theirs.out / name)
            assert mode == other_mode
            assert np.array_equal(image, other), name
        else:
            assert (mine.out / name).read_bytes() == (theirs.out / name).read_bytes(), name
        if ".tfrecord" in name.suffixes:
            records += sum(1 for _ in pr.read_records(theirs.out / name))
    assert records > 0
