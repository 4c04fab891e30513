"""``purerecord.arrow`` where pyarrow is missing, and the form in which it hands columns to the encoder."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from purerecord.payload.encode.cells import Cells, as_cells
from purerecord.payload.encode.examples import encode_examples
from purerecord.payload.example import decode_example
from purerecord.payload.wire import ABSENT, INT64
from tests.support.places import ROOT


def test_without_pyarrow_the_error_says_what_to_install():
    program = """
import sys
sys.modules["pyarrow"] = None
for module in ["arrow", "arrow.to_arrow", "arrow.from_arrow", "arrow.growing_column"]:
    try:
        __import__("purerecord." + module)
    except ImportError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.count('pip install "purerecord[arrow]"') == 4


def test_cells_are_encoded_as_they_are():
    kinds = np.array([INT64, ABSENT, INT64], np.int8)
    cells = Cells(INT64, np.array([5, 6, 7]), np.array([1, 0, 2]), kinds)
    assert as_cells("x", cells) is cells
    rows = [decode_example(payload) for payload in encode_examples({"x": cells})]
    assert [{name: value.tolist() for name, value in row.items()} for row in rows] == [
        {"x": [5]},
        {},
        {"x": [6, 7]},
    ]
