"""examples/image_folder.py: every loader that is installed goes through all pictures, each once."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

import purerecord as pr
from tests.support.interop import interop
from tests.support.places import ROOT

interop("PIL.Image")


def test_all_loaders_give_the_same_pictures(tmp_path):
    script = ROOT / "examples" / "image_folder.py"
    done = subprocess.run(
        [sys.executable, str(script), "--out", str(tmp_path), "--pictures", "10"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=True,
    )
    head, *lines = done.stdout.splitlines()
    assert head.split() == ["loader", "pictures", "dogs", "light", "pictures/s"]
    ran = {line[:22].strip(): line[22:].split() for line in lines if "not installed" not in line}
    assert len(lines) == 4
    assert {"folder, Pillow", "TFRecord, purerecord"} <= ran.keys()
    light = float(ran["folder, Pillow"][2])
    for count, dogs, mean, _ in ran.values():
        assert (count, dogs) == ("10", "5")
        assert abs(float(mean) - light) < 1  # scaling while decoding gives slightly other pixels
    stored = [
        pr.decode_example(record)["image"][0] for record in pr.read_records(f"{tmp_path}/pictures@4.tfrecord")
    ]
    files = [path.read_bytes() for path in (tmp_path / "folder").glob("*/*.jpg")]
    assert sorted(stored) == sorted(files)
    assert len(np.unique([len(file) for file in files])) > 5
