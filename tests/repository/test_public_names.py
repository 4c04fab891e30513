"""The public names: type checkers and Python see the same ones."""

from __future__ import annotations

import ast
from pathlib import Path

import purerecord


def test_type_checkers_see_the_names_that_python_exports():
    tree = ast.parse(Path(purerecord.__file__).read_text())
    imports = {
        alias.asname: f"{node.module}.{alias.name}"
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imports == {name: f"{module}.{name}" for name, module in purerecord._HOME.items()}


def test_names_for_annotations_are_public():
    for name in ("DatasetIterator", "RecordReader", "SalvageReport"):
        assert name in purerecord.__all__
        assert name in dir(purerecord)
